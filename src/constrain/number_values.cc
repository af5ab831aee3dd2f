#include "constrain/number_values.h"

#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "constrain/schema_document.h"

namespace zerohop {

namespace {

constexpr std::string_view kNumberBytes = "0123456789-+.eE";
// A search that has looked at so many beginnings of numbers gives up: the taken values would have
// to fill them nearly all.
constexpr std::size_t kBeginningsMax = 20'000;  // some 10 ms

struct Beginning {
  std::size_t bytes = 0;  // with the shortest rest
  std::string rest;       // beyond the place's text
  std::uint32_t state = 0;
};

struct Longer {
  bool operator()(const Beginning& a, const Beginning& b) const {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.rest > b.rest;
  }
};

}  // namespace

TextId number_value(KnownTexts& texts, std::string_view number) {
  const Result<Decimal> value = parse_decimal(number);
  if (!value.ok()) return kNoText;
  std::string text = "#";
  if (value->digits.empty()) return texts.of_ascii(text + "0");
  if (value->negative) text += '-';
  text += value->digits + "e" + std::to_string(value->exponent);
  return texts.of_ascii(text);
}

std::optional<std::string> OtherNumbers::shortest(const NumberPlace& place, TextSetId taken) {
  TextId text = texts_.of_ascii(place.text);
  const Key key{place.language, place.state, text, taken};
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  std::optional<std::string> found = search(place, taken);
  known_.emplace(key, found);
  std::uint32_t state = place.state;
  for (std::size_t i = 0; found && i < found->size(); ++i) {
    const auto byte = static_cast<unsigned char>((*found)[i]);
    state = place.language->step(state, byte);
    text = texts_.longer(text, byte);
    known_.emplace(Key{place.language, state, text, taken}, found->substr(i + 1));
  }
  return found;
}

// Beginnings are tried in the order of the shortest number each can become. Those that stand at the
// same state and whose shortest number has the same value differ only in zeros; if digits that
// matter can follow, as many of them as there are taken values and one more have a free one among
// their continuations, so more need no look.
std::optional<std::string> OtherNumbers::search(const NumberPlace& place, TextSetId taken) {
  const NumberLanguage& language = *place.language;
  std::priority_queue<Beginning, std::vector<Beginning>, Longer> open;
  const auto add = [&](std::string rest, std::uint32_t state) {
    const std::size_t bytes = rest.size() + language.shortest_end_bytes(state);
    open.push({bytes, std::move(rest), state});
  };
  add("", place.state);
  const std::size_t looks_max = texts_.size(taken) + 1;
  std::map<std::pair<std::uint32_t, TextId>, std::size_t> looks;
  for (std::size_t i = 0; i < kBeginningsMax && !open.empty(); ++i) {
    const Beginning beginning = open.top();
    open.pop();
    ++looked_at_;
    std::string whole = beginning.rest + language.shortest_end(beginning.state);
    const TextId value = number_value(texts_, place.text + whole);
    if (value == kNoText) continue;
    if (!texts_.contains(taken, value)) return whole;
    if (++looks[{beginning.state, value}] > looks_max) continue;
    for (const char byte : kNumberBytes) {
      const std::uint32_t next = language.step(beginning.state, static_cast<unsigned char>(byte));
      if (next != NumberLanguage::kNoState) add(beginning.rest + byte, next);
    }
  }
  return std::nullopt;
}

}  // namespace zerohop
