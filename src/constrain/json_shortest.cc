#include "constrain/json_shortest.h"

#include <algorithm>
#include <utility>

#include "constrain/content_coding.h"

namespace zerohop {

namespace {

constexpr std::uint32_t kEndless = JsonShortest::kEndless;
constexpr std::uint32_t kNotKnown = UINT32_MAX;

std::uint32_t sum(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(a + b, kEndless));
}

}  // namespace

std::string json_quoted(std::u32string_view text) {
  return "\"" + encode_content(text, TextCoding::kJsonCanonical) + "\"";
}

JsonShortest::JsonShortest(const JsonWorld& world, Options options)
    : world_(world), options_(std::move(options)) {}

// Containers that may be opened inside of a root, an array or a keyed object.
std::uint32_t JsonShortest::room_of(ProgressId outer) {
  const Progress& progress = world_.progress[outer];
  if (progress.kind == Progress::Kind::kRoot) return depth_max();
  return world_.forms.room(progress.form);
}

// Outside of the entry are, for each of its links, what is behind the value there and what is
// outside of that. Levels are filled from the outermost unknown one, so that no depth of the
// document makes a deep recursion.
std::uint32_t JsonShortest::outside(StackId stack, std::uint32_t index) {
  JsonStacks& stacks = world_.stacks;
  outside_.resize(stacks.entry_count(), kNotKnown);
  std::vector<StackId> unknown;
  for (StackId at = stack; at != kNoStack && outside_[stacks.entry_number(at, 0)] == kNotKnown;
       at = stacks.outside(at)) {
    unknown.push_back(at);
  }
  while (!unknown.empty()) {
    const StackId at = unknown.back();
    unknown.pop_back();
    const StackId around = stacks.outside(at);
    const auto count = static_cast<std::uint32_t>(stacks.entries(at).size());
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint32_t best = around == kNoStack ? 0 : kEndless;
      if (around != kNoStack) {
        for (const StackLink& link : stacks.links(stacks.entry(at, i))) {
          best = std::min(best, behind_value(around, link.outer, link.hits, kNoText));
        }
      }
      outside_[stacks.entry_number(at, i)] = best;
    }
  }
  return outside_[stacks.entry_number(stack, index)];
}

std::uint32_t JsonShortest::behind_value(StackId stack, std::uint32_t index, std::uint32_t hits,
                                         TextId value) {
  const ProgressId outer = world_.stacks.entry(stack, index).progress;
  const TextId item = world_.progress.tracks_values(outer) ? value : kNoText;
  const ProgressId next = world_.progress.behind_value(outer, hits, item);
  if (next == kNoProgress) return kEndless;
  if (next == kDoneProgress) return 0;
  return sum(finish_bytes(next, Items::kSome), outside(stack, index));
}

JsonShortest::Value JsonShortest::best_value(StackId stack, std::uint32_t index) {
  const ProgressId outer = world_.stacks.entry(stack, index).progress;
  const bool tracks = world_.progress.tracks_values(outer);
  const std::uint32_t room = room_of(outer);
  Value best;
  for (const ValueChoice& choice : world_.progress.choices(outer)) {
    Value value{node_bytes(choice.node, room), choice.node, room, {}, kNoText};
    if (tracks) value = new_item(choice.node, world_.progress[outer].c);
    value.bytes = sum(value.bytes, behind_value(stack, index, choice.hits, value.item));
    if (value.bytes < best.bytes) best = std::move(value);
  }
  return best;
}

// From behind the colon until the object is closed.
std::uint32_t JsonShortest::keyed_bytes(ProgressId keyed) {
  std::uint32_t best = kEndless;
  const std::uint32_t room = room_of(keyed);
  for (const ValueChoice& choice : world_.progress.choices(keyed)) {
    const std::uint32_t value = node_bytes(choice.node, room);
    if (value >= best) continue;
    const ProgressId next = world_.progress.behind_value(keyed, choice.hits, kNoText);
    if (next == kNoProgress) continue;
    best = std::min(best, sum(value, finish_bytes(next, Items::kSome)));
  }
  return best;
}

std::string JsonShortest::value_text(const Value& value) {
  if (!value.text.empty()) return value.text;
  std::string text;
  append_node(value.node, value.room, text);
  return text;
}

std::size_t JsonShortest::memory_bytes() const {
  constexpr std::size_t kMapNode = 48;
  // A table has two numbers for each node.
  const std::size_t numbers = (1 + rooms_.size()) * 2 * free_.bytes.capacity() +
                              heights_.capacity() + needs_.capacity() + scalar_bytes_.capacity() +
                              outside_.capacity();
  return numbers * sizeof(std::uint32_t) + finish_.size() * kMapNode;
}

}  // namespace zerohop
