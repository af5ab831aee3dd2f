#include "engine/ngram_index.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "base/random.h"

namespace zerohop {
namespace {

// Entries of each table in the beginning: a short chat fits without growing.
constexpr std::int32_t kFirstEntries = 512;

// Links that are followed for one question, those to other tokens of the same hash included.
constexpr int kLinksMax = 4 * NgramIndex::kPlacesMax;

// Tokens before `first` and `second` that are the same, those two included.
std::int32_t agreeing(TokenSpan text, std::int32_t first, std::int32_t second) {
  const std::int32_t most = std::min(NgramIndex::kAgreeingMax, std::min(first, second) + 1);
  std::int32_t count = 0;
  while (count < most && text[static_cast<std::size_t>(first - count)] ==
                             text[static_cast<std::size_t>(second - count)]) {
    ++count;
  }
  return count;
}

}  // namespace

void NgramIndex::Chains::make(std::size_t entries) {
  latest.assign(entries, kNowhere);
  previous.assign(entries, kNowhere);
}

std::size_t NgramIndex::Chains::entry_of(TokenSpan text, std::int32_t last) const {
  std::uint64_t key = 0;
  for (std::int32_t i = 0; i < order; ++i) {
    const auto token = static_cast<std::uint32_t>(text[static_cast<std::size_t>(last - i)]);
    key = mix64(key ^ token);
  }
  return static_cast<std::size_t>(key) & (latest.size() - 1);
}

void NgramIndex::Chains::add(TokenSpan text, std::int32_t last) {
  if (last + 1 < order) return;
  std::int32_t& entry = latest[entry_of(text, last)];
  previous[static_cast<std::size_t>(last) & (previous.size() - 1)] = entry;
  entry = last;
}

// The last token is added with the one behind it: a place without a next token is of no use.
void NgramIndex::follow(TokenSpan text) {
  const std::int32_t end = static_cast<std::int32_t>(text.size()) - 1;
  if (end <= added_) return;
  const auto entries = static_cast<std::int32_t>(pairs_.latest.size());
  if (end > entries && entries < kWindow) {
    // Room for half as many again, so that it grows seldom.
    const auto wanted = static_cast<std::uint32_t>(std::max(end + end / 2, kFirstEntries));
    const std::size_t made = std::min(std::bit_ceil(wanted), static_cast<std::uint32_t>(kWindow));
    pairs_.make(made);
    triples_.make(made);
    added_ = 0;
  }
  for (added_ = std::max(added_, end - kWindow); added_ < end; ++added_) {
    pairs_.add(text, added_);
    triples_.add(text, added_);
  }
}

// Of the latest `places_max` places where the last tokens of `text` stand, the best; no agreeing
// tokens: there are none.
NgramIndex::Match NgramIndex::best_of(const Chains& chains, TokenSpan text, int places_max) const {
  const std::int32_t last = static_cast<std::int32_t>(text.size()) - 1;
  const auto entries = static_cast<std::int32_t>(chains.previous.size());
  Match best;
  std::int32_t place = chains.latest[chains.entry_of(text, last)];
  int places = 0;
  for (int links = 0; links < kLinksMax && places < places_max; ++links) {
    if (place == kNowhere || place + entries < added_) break;  // or the ring has lost its link
    const std::int32_t count = agreeing(text, place, last);
    if (count >= chains.order) ++places;
    if (count >= chains.order && count > best.agreeing) best = {place + 1, count};
    if (count == kAgreeingMax) break;
    place = chains.previous[static_cast<std::size_t>(place) & (chains.previous.size() - 1)];
  }
  return best;
}

std::optional<NgramIndex::Match> NgramIndex::find(TokenSpan text) const {
  ZH_DCHECK(added_ + 1 >= std::ssize(text));
  if (std::ssize(text) <= kAgreeingMin) return std::nullopt;
  Match best = best_of(triples_, text, kPlacesMax);
  if (best.agreeing == 0) best = best_of(pairs_, text, 1);
  if (best.agreeing == 0) return std::nullopt;
  return best;
}

void NgramIndex::copy(TokenSpan text, const Match& match, std::size_t most,
                      std::vector<Token>& out) {
  out.clear();
  const auto next = static_cast<std::size_t>(match.next);
  ZH_DCHECK(next < text.size());
  for (std::size_t i = next; out.size() < most; ++i) {
    out.push_back(i < text.size() ? text[i] : out[i - text.size()]);
  }
}

std::size_t NgramIndex::memory_bytes() const {
  std::size_t entries = 0;
  for (const Chains* chains : {&pairs_, &triples_}) {
    entries += chains->latest.capacity() + chains->previous.capacity();
  }
  return entries * sizeof(std::int32_t);
}

}  // namespace zerohop
