#include "constrain/mask_walk.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "constrain/content_walk.h"
#include "constrain/regex_algebra.h"

namespace zerohop {
namespace {

// With fewer bytes that loop, leaving their tokens out of the walk saves nothing.
constexpr std::size_t kLoopBytesMin = 16;

// How walk_trie() goes on in places of content.
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
  constexpr std::size_t kScalarValueCount = 0x110000 - 0x800;
  const std::uint32_t most = automaton.characters_max(0);
  if (most == ContentAutomaton::kUnbounded || most == 0 || automaton.states() != 1) return false;
  // From here one character may still come: the words are these, and perhaps the empty one.
  return automaton.count_words(0, most - 1, kScalarValueCount + 2) >= kScalarValueCount;
}

}  // namespace

MaskWalk::MaskWalk(const TokenTrie& tokens, MaskStore& store)
    : tokens_(tokens), summary_(tokens.trie()), store_(store) {
  RegexPool pool;
  auto made = ContentAutomaton::make(pool, pool.any(), {}, {});
  ZH_CHECK(made.ok());
  anything_ = std::move(made).value();
  // What nearly every schema asks for, so that no request waits for it.
  constexpr TextCoding kUsual = TextCoding::kJsonCanonical;
  any_content(kUsual);
  split_at('"', escapes_of(kUsual) == Escapes::kBackslash);
}

TokenMask MaskWalk::find(ConstraintMachine& machine, std::uint64_t machine_id, MachineState state) {
  ZH_CHECK(state != kDeadState);
  budget_.begin(machine);
  MaskBuilder mask(tokens_.width());
  add({machine, machine_id, state}, mask);
  if (machine.accepting(state)) {
    for (const Token token : tokens_.end_tokens()) mask.add(token);
  }
  if (budget_.spent()) add_way_on(machine, state, mask);
  return mask.take();
}

// A walk may end before it has found anything: the tokens that begin the shortest end are always
// there, and where the vocabulary cannot write that, one of another beginning.
void MaskWalk::add_way_on(ConstraintMachine& machine, MachineState state, MaskBuilder& mask) const {
  const ByteTrie& trie = tokens_.trie();
  const auto add_legal = [&](std::uint32_t node) {
    for (const std::uint32_t token : trie.values(node)) {
      if (step_all(machine, state, tokens_.bytes(static_cast<Token>(token))) == kDeadState) return;
      mask.add(static_cast<Token>(token));
    }
  };
  trie.follow(machine.shortest_end(state), add_legal);
  for (unsigned byte = 0; byte < 256 && mask.empty(); ++byte) {
    const std::uint32_t child = trie.first_child(static_cast<unsigned char>(byte));
    if (child != ByteTrie::kNoNode) add_legal(child);
  }
}

void MaskWalk::add(const Place& place, MaskBuilder& mask) {
  const std::optional<ContentRun> run = place.machine.content(place.state);
  if (run && run->leaving) {
    add_content(*run, mask);
    return leave(place, *run, mask);
  }
  const std::vector<MachineState> parts = place.machine.parts(place.state);
  if (parts.empty()) return walk_loops(place, mask);
  add_parts(place, parts, mask);
}

void MaskWalk::add_parts(const Place& place, std::span<const MachineState> parts,
                         MaskBuilder& mask) {
  std::optional<TextCoding> anything;  // content in this coding has been added, whatever it is
  std::vector<std::pair<MachineState, ContentRun>> runs;
  for (const MachineState part : parts) {
    if (budget_.take_node(place.machine)) return;
    std::optional<ContentRun> run = place.machine.content(part);
    if (!run || !run->leaving) {
      add({place.machine, place.machine_id, part}, mask);
      continue;
    }
    if (!anything && run->automaton->open(run->state)) {
      anything = run->coding;
      add_content(*run, mask);
    }
    runs.emplace_back(part, *std::move(run));
  }
  for (const auto& [part, run] : runs) {
    if (budget_.take_node(place.machine)) return;
    if (anything != run.coding) add_content(run, mask);
    leave({place.machine, place.machine_id, part}, run, mask);
  }
}

MaskWalk::Home MaskWalk::home_of(ConstraintMachine& machine, MachineState state) {
  Home home{.bytes = machine.first_bytes(state), .leads_home = {}, .loops = {}};
  if (home.bytes.count() < kLoopBytesMin) return home;
  std::vector<std::pair<MachineState, unsigned>> targets;
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (!home.bytes[byte]) continue;
    if (budget_.take_node(machine)) return home;
    const MachineState next = machine.step(state, static_cast<unsigned char>(byte));
    home.bytes[byte] = next != kDeadState;
    if (next != kDeadState) targets.emplace_back(next, byte);
  }
  std::sort(targets.begin(), targets.end());
  MachineState most = kDeadState;
  std::size_t most_count = kLoopBytesMin - 1;
  for (auto first = targets.begin(); first != targets.end();) {
    const auto last = std::find_if(
        first, targets.end(), [&](const auto& target) { return target.first != first->first; });
    if (static_cast<std::size_t>(last - first) > most_count) {
      most = first->first;
      most_count = static_cast<std::size_t>(last - first);
    }
    first = last;
  }
  // Content knows its tokens better.
  if (most == kDeadState || machine.content(most)) return home;
  for (const auto& [target, byte] : targets) home.leads_home[byte] = target == most;
  const std::bitset<256> bytes = machine.first_bytes(most);
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (!bytes[byte]) continue;
    if (budget_.take_node(machine)) return home;
    home.loops[byte] = machine.step(most, static_cast<unsigned char>(byte)) == most;
  }
  return home;
}

void MaskWalk::walk_loops(const Place& place, MaskBuilder& mask) {
  const ByteTrie& trie = tokens_.trie();
  const auto found = [&](std::span<const std::uint32_t> tokens) { mask.add(tokens); };
  const Home home = home_of(place.machine, place.state);
  if (home.loops.count() < kLoopBytesMin) {
    return walk_.follow(place.machine, place.state, {trie, home.bytes}, found);
  }
  const std::shared_ptr<const KeptMask> kept = loop_tokens(home.loops);
  MaskBuilder looping(tokens_.width());  // what other parts allow is not to be removed
  looping.add(kept->mask);
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::uint32_t child = trie.first_child(static_cast<unsigned char>(byte));
    if (home.leads_home[byte] || child == ByteTrie::kNoNode) continue;
    for (const std::uint32_t token : trie.values_below(child)) {
      looping.remove(static_cast<Token>(token));
    }
  }
  mask.add(looping);
  walk_.follow(place.machine, place.state, {trie, home.bytes & ~home.leads_home}, found);
  walk_.follow(place.machine, place.state, {kept->others, home.leads_home}, found);
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

// The tokens that the run can go on with without leaving it.
void MaskWalk::add_content(const ContentRun& run, MaskBuilder& mask) {
  const ContentAutomaton& automaton = *run.automaton;
  if (automaton.open(run.state) || only_bounded(automaton)) {
    add_up_to(run.characters_max, any_content(run.coding).kept, mask);
  } else {
    mask.add(content_tokens(run)->mask);
  }
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

const MaskWalk::AnyContent& MaskWalk::any_content(TextCoding coding) {
  std::unique_ptr<const AnyContent>& known = any_content_[static_cast<std::size_t>(coding)];
  if (!known) known = std::make_unique<const AnyContent>(find_any_content(coding));
  return *known;
}

MaskWalk::AnyContent MaskWalk::find_any_content(TextCoding coding) {
  const ByteTrie& trie = tokens_.trie();
  const ContentDecoder decoder(*anything_, coding);
  MaskBuilder mask(tokens_.width());
  AnyContent made;
  made.characters.assign(trie.all_values().size(), ContentVocabulary::kNever);
  walk_trie(trie, decoder.start(), places_, stepper(decoder),
            [&](std::span<const std::uint32_t> found, const ContentPlace& at) {
              mask.add(found);
              const std::uint32_t begun = at.count + (decoder.at_character_border(at) ? 0 : 1);
              for (const std::uint32_t& token : found) {
                made.kept.needs.push_back({begun, static_cast<Token>(token)});
                made.characters[static_cast<std::size_t>(&token - trie.all_values().data())] =
                    static_cast<std::uint16_t>(begun);
              }
            });
  std::stable_sort(made.kept.needs.begin(), made.kept.needs.end(),
                   [](const auto& a, const auto& b) { return a.characters > b.characters; });
  made.kept.mask = mask.take();
  return made;
}

std::shared_ptr<const KeptMask> MaskWalk::content_tokens(const ContentRun& run) {
  // A bound that no token comes near to makes no difference.
  const ContentAutomaton& automaton = *run.automaton;
  const bool bounded = run.characters_max != ContentAutomaton::kUnbounded;
  const bool near =
      bounded && run.characters_max < tokens_.longest_token() + automaton.nearest_end_max();
  const MaskKey key{.owner = automaton.identity(),
                    .state = run.state,
                    .characters = near ? run.characters_max : ContentAutomaton::kUnbounded,
                    .coding = static_cast<std::uint16_t>(run.coding),
                    .kind = MaskKey::Kind::kContent};
  if (auto kept = store_.find(key)) return kept;
  // Lower bounds make no difference here, so without an upper one any large count will do.
  constexpr std::uint32_t kFar = 1u << 30;
  ContentRun shared = run;
  shared.count = bounded ? automaton.characters_max(0) - run.characters_max : kFar;
  shared.characters_max = key.characters;
  const AnyContent& any = any_content(run.coding);
  const ContentVocabulary vocabulary{.trie = tokens_.trie(),
                                     .summary = summary_,
                                     .anything = any.kept.mask,
                                     .characters = any.characters};
  MaskBuilder mask(tokens_.width());
  ContentWalk walk(shared, vocabulary, tables_of(run));
  walk.add_to(mask);
  budget_.take_nodes(walk.looked_at() + WalkBudget::kNodesOfContent);
  trim_tables();
  KeptMask made;
  made.mask = mask.take();
  return store_.keep(key, std::move(made));
}

ContentTables& MaskWalk::tables_of(const ContentRun& run) {
  const std::uint64_t automaton = run.automaton->identity();
  const auto known = std::ranges::find_if(tables_, [&](const KeptTables& kept) {
    return kept.automaton == automaton && kept.coding == run.coding &&
           kept.tables.states() == run.automaton->states();  // or an equal hash reads elsewhere
  });
  if (known != tables_.end()) {
    tables_.splice(tables_.begin(), tables_, known);
  } else {
    tables_.push_front({automaton, run.coding, ContentTables(*run.automaton, run.coding)});
  }
  return tables_.front().tables;
}

// After each walk: the tables of the last one may have grown.
void MaskWalk::trim_tables() {
  tables_bytes_ = 0;
  for (auto kept = tables_.begin(); kept != tables_.end();) {
    const std::size_t bytes = kept->tables.memory_bytes();
    const bool fits = tables_bytes_ + bytes <= kTablesBytesMax;
    if (fits) tables_bytes_ += bytes;
    kept = fits ? std::next(kept) : tables_.erase(kept);
  }
}

void MaskWalk::leave(const Place& place, const ContentRun& run, MaskBuilder& mask) {
  const Split& split = split_of(run);
  const ContentDecoder decoder = decoder_of(run);
  const ContentPlace start{.state = run.state, .count = run.count};
  std::vector<std::uint32_t> ended;
  walk_trie(split.prefixes, start, places_, stepper(decoder),
            [&](std::span<const std::uint32_t> groups, const ContentPlace& at) {
              if (decoder.accepts(at)) ended.push_back(groups.front());
            });
  Suffixes last;
  for (const std::uint32_t group : ended) {
    if (budget_.take_node(place.machine)) return;
    add_group(place, run, group, last, mask);
  }
}

// The tokens with this prefix: those whose suffix may follow behind it.
void MaskWalk::add_group(const Place& place, const ContentRun& run, std::uint32_t group,
                         Suffixes& last, MaskBuilder& mask) {
  const Split& split = split_of(run);
  const std::string& prefix = split.group_texts[group];
  const MachineState behind = behind_word(place.machine, place.state, run, prefix, false);
  if (behind == kDeadState) return;
  if (behind != last.behind) {
    last = {behind, suffixes_behind({place.machine, place.machine_id, behind}, run)};
  }
  const bool forgotten = run.forgets && behind == run.behind;
  for (const Split::Rest& rest : split.groups[group]) {
    const bool allowed = forgotten && rest.deep ? step_all(place.machine, place.state,
                                                           tokens_.bytes(rest.token)) != kDeadState
                                                : last.kept->allowed[rest.suffix] != 0;
    if (allowed) mask.add(rest.token);
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
  const Split& split = split_of(run);
  KeptMask made;
  made.allowed.assign(split.suffix_count, 0);
  walk_.follow(behind.machine, behind.state,
               {split.suffixes, behind.machine.first_bytes(behind.state)},
               [&](std::span<const std::uint32_t> suffixes) {
                 for (const std::uint32_t suffix : suffixes) made.allowed[suffix] = 1;
               });
  if (budget_.spent()) return std::make_shared<const KeptMask>(std::move(made));  // not all
  return store_.keep(key, std::move(made));
}

const MaskWalk::Split& MaskWalk::split_of(const ContentRun& run) {
  return split_at(*run.leaving, escapes_of(run.coding) == Escapes::kBackslash);
}

const MaskWalk::Split& MaskWalk::split_at(unsigned char leaving, bool escaped) {
  const std::pair key{leaving, escaped};
  const auto known = splits_.find(key);
  if (known != splits_.end()) return known->second;
  Split split;
  std::map<std::string_view, std::uint32_t> groups;
  std::map<std::string_view, std::uint32_t> suffixes;
  for (std::size_t i = 0; i < tokens_.tokens(); ++i) {
    const auto token = static_cast<Token>(i);
    const std::string_view text = tokens_.bytes(token);
    const std::size_t at =
        find_leaving(text, leaving, escaped ? Escapes::kBackslash : Escapes::kNone);
    if (at == std::string_view::npos) continue;
    const auto number = [](auto& map, std::string_view part) {
      return map.try_emplace(part, static_cast<std::uint32_t>(map.size())).first->second;
    };
    const std::uint32_t group = number(groups, text.substr(0, at));
    const std::uint32_t suffix = number(suffixes, text.substr(at + 1));
    if (group == split.groups.size()) {
      split.groups.emplace_back();
      split.group_texts.emplace_back(text.substr(0, at));
    }
    const auto again = std::count(text.begin() + static_cast<std::ptrdiff_t>(at) + 1, text.end(),
                                  static_cast<char>(leaving));
    split.groups[group].push_back({suffix, token, again > 1});
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
  std::size_t bytes = walk_.memory_bytes() + places_.capacity() * sizeof(ContentPlace);
  for (const auto& [key, split] : splits_) {
    bytes += split.prefixes.memory_bytes() + split.suffixes.memory_bytes();
    for (const auto& group : split.groups) bytes += group.capacity() * sizeof(Split::Rest);
    bytes += split.group_texts.size() * sizeof(std::string);
  }
  for (const auto& known : any_content_) {
    if (!known) continue;
    bytes += known->kept.memory_bytes() + known->characters.capacity() * sizeof(std::uint16_t);
  }
  return bytes + tables_bytes_ + summary_.memory_bytes();
}

}  // namespace zerohop
