// How the mask of one state is found: the vocabulary's trie is walked together with the machine,
// and most of the vocabulary is left out of the walk.
//
// A plain walk costs one step of the machine for each node whose parent is alive. At a place of
// structure nearly everything dies at the first byte, and 256 steps are all. In a string or in free
// text nearly everything lives, and 300,000 steps take milliseconds. So:
//
// - Content (machine.content()): tokens without the byte that ends the run depend on the automaton
//   alone. They are found once per automaton, state and number of characters to come (as far as a
//   token can notice that), for all requests and schemas (content_walk.h). Of strings without a
//   pattern they are found once for all: how many characters each token begins is kept, so that a
//   bound on the length costs a copy and the removal of those that begin more.
// - Tokens with the leaving byte (some 1 % of a vocabulary) are split there: `a","b` is the prefix
//   `a`, the byte, and the suffix `,"b`. Prefixes make a trie of a few hundred nodes, suffixes
//   another; suffixes are walked once for each state behind the byte.
// - Loops: nearly all bytes lead to one state, and most of them from there back to it (free text:
//   all but the first ones of triggers). Tokens of only such bytes are allowed without a walk; the
//   others are a smaller trie. Both are kept by the set of bytes.
// - Unions (machine.parts()): the mask is that of all parts together. Where content of one part can
//   be anything, that of the others adds nothing: of names that two patterns tell apart there are
//   four kinds, and those that match both patterns may begin in any way.
//
// What is left is walked (trie_walk.h), as far as the budget of a mask reaches (walk_budget.h).
//
// One owner (mask_cache.h); not thread-safe.
#pragma once

#include <bitset>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "constrain/constraint_machine.h"
#include "constrain/content_coding.h"
#include "constrain/content_tables.h"
#include "constrain/mask_store.h"
#include "constrain/token_trie.h"
#include "constrain/trie_summary.h"
#include "constrain/trie_walk.h"
#include "constrain/walk_budget.h"

namespace zerohop {

class MaskWalk {
 public:
  MaskWalk(const TokenTrie& tokens, MaskStore& store);

  /// Tokens that keep `machine` alive behind `state`, end tokens included where it accepts; some of
  /// them where that would take too long (ended_early()), and then at least one.
  TokenMask find(ConstraintMachine& machine, std::uint64_t machine_id, MachineState state);
  /// Of the mask that was found last.
  bool ended_early() const { return budget_.spent(); }

  std::size_t memory_bytes() const;

 private:
  // Tokens in which content ends, split at the byte that ends it. In a JSON string that is the
  // first quote without a backslash.
  struct Split {
    struct Rest {
      std::uint32_t suffix = 0;
      Token token = 0;
      bool deep = false;  // the leaving byte comes more than once in the suffix
    };
    ByteTrie prefixes;                      // values: groups
    std::vector<std::vector<Rest>> groups;  // of the tokens with one prefix
    std::vector<std::string> group_texts;   // these prefixes
    ByteTrie suffixes;                      // values: numbers of suffixes
    std::size_t suffix_count = 0;
  };
  struct Place {
    ConstraintMachine& machine;
    std::uint64_t machine_id;
    MachineState state;
  };

  void add(const Place& place, MaskBuilder& mask);
  void add_parts(const Place& place, std::span<const MachineState> parts, MaskBuilder& mask);
  void add_way_on(ConstraintMachine& machine, MachineState state, MaskBuilder& mask) const;
  void walk_loops(const Place& place, MaskBuilder& mask);
  void add_content(const ContentRun& run, MaskBuilder& mask);
  void leave(const Place& place, const ContentRun& run, MaskBuilder& mask);

  // The state that most bytes lead to, if those that lead from there back to it are many.
  struct Home {
    std::bitset<256> bytes;  // that lead anywhere
    std::bitset<256> leads_home;
    std::bitset<256> loops;
  };
  Home home_of(ConstraintMachine& machine, MachineState state);
  std::shared_ptr<const KeptMask> loop_tokens(const std::bitset<256>& bytes);
  std::shared_ptr<const KeptMask> content_tokens(const ContentRun& run);
  // What is known of all texts in one coding.
  struct AnyContent {
    KeptMask kept;
    std::vector<std::uint16_t> characters;  // see ContentVocabulary
  };
  const AnyContent& any_content(TextCoding coding);
  AnyContent find_any_content(TextCoding coding);
  void add_up_to(std::uint32_t characters, const KeptMask& all, MaskBuilder& mask) const;
  std::shared_ptr<const KeptMask> suffixes_behind(const Place& behind, const ContentRun& run);
  // What may follow behind `behind`, which many words lead to.
  struct Suffixes {
    MachineState behind = kDeadState;
    std::shared_ptr<const KeptMask> kept = nullptr;
  };
  void add_group(const Place& place, const ContentRun& run, std::uint32_t group, Suffixes& last,
                 MaskBuilder& mask);
  ContentTables& tables_of(const ContentRun& run);
  void trim_tables();
  const Split& split_of(const ContentRun& run);
  const Split& split_at(unsigned char leaving, bool escaped);

  const TokenTrie& tokens_;
  const TrieSummary summary_;
  MaskStore& store_;
  std::map<std::pair<unsigned char, bool>, Split> splits_;  // by leaving byte and whether escaped
  std::shared_ptr<const ContentAutomaton> anything_;        // all words
  std::unique_ptr<const AnyContent> any_content_[3];        // by coding; made when first needed
  // Of the automata that were walked last.
  struct KeptTables {
    std::uint64_t automaton = 0;  // its identity
    TextCoding coding{};
    ContentTables tables;
  };
  static constexpr std::size_t kTablesBytesMax = std::size_t{4} << 20;
  std::list<KeptTables> tables_;  // last used first
  std::size_t tables_bytes_ = 0;
  WalkBudget budget_;  // of the mask that is being found
  TrieWalk walk_{budget_};
  std::vector<ContentPlace> places_;  // scratch
};

}  // namespace zerohop
