#include "constrain/mask_walk.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "constrain/regex_algebra.h"

namespace zerohop {
namespace {

// With fewer bytes that loop, leaving their tokens out of the walk saves nothing.
constexpr std::size_t kLoopBytesMin = 16;

// How walk_trie() goes on in a machine's states, and in places of content.
auto stepper(ConstraintMachine& machine) {
  return [&machine](MachineState& state, std::uint8_t byte) {
    state = machine.step(state, byte);
    return state != kDeadState;
  };
}
auto stepper(const ContentDecoder& decoder) {
  return [&decoder](ContentPlace& place, std::uint8_t byte) { return decoder.step(place, byte); };
}

ContentDecoder decoder_of(const ContentRun& run) { return {*run.automaton, run.coding}; }

enum class Escapes : bool { kNone, kBackslash };

Escapes escapes_of(TextCoding coding) {
  return coding == TextCoding::kUtf8 ? Escapes::kNone : Escapes::kBackslash;
}

// Where content that begins with `text` ends; npos: not inside of it.
std::size_t find_leaving(std::string_view text, unsigned char leaving, Escapes escapes) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (escapes == Escapes::kBackslash && text[i] == '\\') {
      ++i;
    } else if (static_cast<unsigned char>(text[i]) == leaving) {
      return i;
    }
  }
  return std::string_view::npos;
}

// Whether an automaton allows all characters, and bounds only their number.
bool only_bounded(const ContentAutomaton& automaton) {
  constexpr std::size_t kScalarValues = 0x110000 - 0x800;
  const std::uint32_t most = automaton.characters_max(0);
  if (most == ContentAutomaton::kUnbounded || most == 0 || automaton.states() != 1) return false;
  // From here one character may still come: the words are these, and perhaps the empty one.
  return automaton.count_words(0, most - 1, kScalarValues + 2) >= kScalarValues;
}

}  // namespace

MaskWalk::MaskWalk(const TokenTrie& tokens, MaskStore& store) : tokens_(tokens), store_(store) {
  RegexPool pool;
  auto made = ContentAutomaton::make(pool, pool.any(), {}, {});
  ZH_CHECK(made.ok());
  anything_ = std::move(made).value();
}

TokenMask MaskWalk::find(ConstraintMachine& machine, std::uint64_t machine_id, MachineState state) {
  ZH_CHECK(state != kDeadState);
  MaskBuilder mask(tokens_.width());
  const Place place{machine, machine_id, state};
  const std::optional<ContentRun> run = machine.content(state);
  if (run && run->leaving) {
    walk_content(place, *run, mask);
  } else {
    walk_loops(place, mask);
  }
  if (machine.accepting(state)) {
    for (const Token token : tokens_.end_tokens()) mask.add(token);
  }
  return mask.take();
}

void MaskWalk::walk(ConstraintMachine& machine, MachineState state, const ByteTrie& trie,
                    MaskBuilder& mask) {
  walk_trie(trie, state, states_, stepper(machine),
            [&](std::span<const std::uint32_t> found, MachineState) { mask.add(found); });
}

void MaskWalk::walk_loops(const Place& place, MaskBuilder& mask) {
  std::bitset<256> loops;
  for (unsigned byte = 0; byte < 256; ++byte) {
    loops[byte] = place.machine.step(place.state, static_cast<unsigned char>(byte)) == place.state;
  }
  if (loops.count() < kLoopBytesMin) {
    walk(place.machine, place.state, tokens_.trie(), mask);
    return;
  }
  const std::shared_ptr<const KeptMask> kept = loop_tokens(loops);
  mask.add(kept->mask);
  walk(place.machine, place.state, kept->others, mask);
}

std::shared_ptr<const KeptMask> MaskWalk::loop_tokens(const std::bitset<256>& bytes) {
  const MaskKey key{.owner = std::hash<std::bitset<256>>()(bytes), .kind = MaskKey::Kind::kLoop};
  if (auto kept = store_.find(key); kept && kept->bytes == bytes) return kept;
  MaskBuilder inside(tokens_.width());
  std::vector<ByteTrie::Entry> others;
  const ByteTrie& trie = tokens_.trie();
  for (std::size_t i = 0; i < trie.size(); ++i) {
    for (const std::uint32_t token : trie.values(i)) {
      const std::string_view text = tokens_.bytes(static_cast<Token>(token));
      const bool pure = std::all_of(text.begin(), text.end(), [&](char byte) {
        return bytes[static_cast<unsigned char>(byte)];
      });
      if (pure) {
        inside.add(static_cast<Token>(token));
      } else {
        others.push_back({text, token});
      }
    }
  }
  KeptMask made;
  made.mask = inside.take();
  made.bytes = bytes;
  made.others = ByteTrie(std::move(others));
  return store_.keep(key, std::move(made));
}

void MaskWalk::walk_content(const Place& place, const ContentRun& run, MaskBuilder& mask) {
  if (only_bounded(*run.automaton)) {
    const ContentRun all{.automaton = anything_.get(),
                         .state = anything_->start(),
                         .characters_max = ContentAutomaton::kUnbounded,
                         .coding = run.coding};
    add_up_to(run.characters_max, *content_tokens(all), mask);
  } else {
    mask.add(content_tokens(run)->mask);
  }
  leave(place, run, mask);
}

// The tokens that begin at most so many characters.
void MaskWalk::add_up_to(std::uint32_t characters, const KeptMask& all, MaskBuilder& mask) const {
  const auto first = std::partition_point(
      all.needs.begin(), all.needs.end(),
      [&](const KeptMask::Need& need) { return need.characters > characters; });
  if (first - all.needs.begin() > all.needs.end() - first) {
    for (auto need = first; need != all.needs.end(); ++need) mask.add(need->token);
    return;
  }
  mask.add(all.mask);
  for (auto need = all.needs.begin(); need != first; ++need) mask.remove(need->token);
}

std::shared_ptr<const KeptMask> MaskWalk::content_tokens(const ContentRun& run) {
  // A bound that no token comes near to makes no difference: behind the longest token, every state
  // still has a way to a word with fewer characters than there are states.
  const ContentAutomaton& automaton = *run.automaton;
  const bool bounded = run.characters_max != ContentAutomaton::kUnbounded;
  const bool near = bounded && run.characters_max < tokens_.longest_token() + automaton.states();
  const MaskKey key{.owner = automaton.identity(),
                    .state = run.state,
                    .characters = near ? run.characters_max : ContentAutomaton::kUnbounded,
                    .coding = static_cast<std::uint16_t>(run.coding),
                    .kind = MaskKey::Kind::kContent};
  if (auto kept = store_.find(key)) return kept;
  // Lower bounds make no difference here, so without an upper one any large count will do.
  constexpr std::uint32_t kFar = 1u << 30;
  const std::uint32_t count = bounded ? automaton.characters_max(0) - run.characters_max : kFar;
  ContentDecoder decoder = decoder_of(run);
  MaskBuilder mask(tokens_.width());
  KeptMask made;
  const bool counted = automaton.identity() == anything_->identity();
  const ContentPlace start{.state = run.state, .count = count};
  walk_trie(tokens_.trie(), start, places_, stepper(decoder),
            [&](std::span<const std::uint32_t> found, const ContentPlace& at) {
              mask.add(found);
              if (!counted) return;
              const std::uint32_t begun = decoder.at_character_border(at) ? 0 : 1;
              for (const std::uint32_t token : found) {
                made.needs.push_back({at.count - count + begun, static_cast<Token>(token)});
              }
            });
  std::stable_sort(made.needs.begin(), made.needs.end(),
                   [](const auto& a, const auto& b) { return a.characters > b.characters; });
  made.mask = mask.take();
  return store_.keep(key, std::move(made));
}

void MaskWalk::leave(const Place& place, const ContentRun& run, MaskBuilder& mask) {
  const Split& split = split_at(run);
  if (run.behind != kDeadState) {
    const auto suffixes = suffixes_behind({place.machine, place.machine_id, run.behind}, run);
    ContentDecoder decoder = decoder_of(run);
    const ContentPlace start{.state = run.state, .count = run.count};
    walk_trie(split.prefixes, start, places_, stepper(decoder),
              [&](std::span<const std::uint32_t> groups, const ContentPlace& at) {
                if (decoder.accepts(at)) add_group(split, groups.front(), *suffixes, mask);
              });
    return;
  }
  std::vector<std::pair<std::uint32_t, MachineState>> ends;  // group, state behind the byte
  walk_trie(split.prefixes, place.state, states_, stepper(place.machine),
            [&](std::span<const std::uint32_t> groups, MachineState at) {
              const MachineState behind = place.machine.step(at, *run.leaving);
              if (behind != kDeadState) ends.emplace_back(groups.front(), behind);
            });
  for (const auto& [group, behind] : ends) {
    const auto suffixes = suffixes_behind({place.machine, place.machine_id, behind}, run);
    add_group(split, group, *suffixes, mask);
  }
}

void MaskWalk::add_group(const Split& split, std::uint32_t group, const KeptMask& suffixes,
                         MaskBuilder& mask) const {
  for (const Split::Rest& rest : split.groups[group]) {
    if (suffixes.allowed[rest.suffix] != 0) mask.add(rest.token);
  }
}

std::shared_ptr<const KeptMask> MaskWalk::suffixes_behind(const Place& behind,
                                                          const ContentRun& run) {
  const MaskKey key{.owner = behind.machine_id,
                    .state = behind.state,
                    .characters = *run.leaving,
                    .coding = static_cast<std::uint16_t>(escapes_of(run.coding)),
                    .kind = MaskKey::Kind::kSuffix};
  if (auto kept = store_.find(key)) return kept;
  const Split& split = split_at(run);
  KeptMask made;
  made.allowed.assign(split.suffix_count, 0);
  walk_trie(split.suffixes, behind.state, states_, stepper(behind.machine),
            [&](std::span<const std::uint32_t> suffixes, MachineState) {
              for (const std::uint32_t suffix : suffixes) made.allowed[suffix] = 1;
            });
  return store_.keep(key, std::move(made));
}

const MaskWalk::Split& MaskWalk::split_at(const ContentRun& run) {
  const Escapes escapes = escapes_of(run.coding);
  const std::pair key{*run.leaving, escapes == Escapes::kBackslash};
  const auto known = splits_.find(key);
  if (known != splits_.end()) return known->second;
  Split split;
  std::map<std::string_view, std::uint32_t> groups;
  std::map<std::string_view, std::uint32_t> suffixes;
  for (std::size_t i = 0; i < tokens_.tokens(); ++i) {
    const auto token = static_cast<Token>(i);
    const std::string_view text = tokens_.bytes(token);
    const std::size_t at = find_leaving(text, *run.leaving, escapes);
    if (at == std::string_view::npos) continue;
    const auto number = [](auto& map, std::string_view part) {
      return map.try_emplace(part, static_cast<std::uint32_t>(map.size())).first->second;
    };
    const std::uint32_t group = number(groups, text.substr(0, at));
    const std::uint32_t suffix = number(suffixes, text.substr(at + 1));
    if (group == split.groups.size()) split.groups.emplace_back();
    split.groups[group].push_back({suffix, token});
  }
  split.suffix_count = suffixes.size();
  const auto trie_of = [](const auto& map) {
    std::vector<ByteTrie::Entry> entries;
    for (const auto& [text, value] : map) entries.push_back({text, value});
    return ByteTrie(std::move(entries));
  };
  split.prefixes = trie_of(groups);
  split.suffixes = trie_of(suffixes);
  return splits_.emplace(key, std::move(split)).first->second;
}

std::size_t MaskWalk::memory_bytes() const {
  std::size_t bytes =
      states_.capacity() * sizeof(MachineState) + places_.capacity() * sizeof(ContentPlace);
  for (const auto& [key, split] : splits_) {
    bytes += split.prefixes.memory_bytes() + split.suffixes.memory_bytes();
    for (const auto& group : split.groups) bytes += group.capacity() * sizeof(Split::Rest);
  }
  return bytes;
}

}  // namespace zerohop
