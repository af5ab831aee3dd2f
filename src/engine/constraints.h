// What the engine needs to follow constraints: the vocabulary as a trie, masks, and the machines of
// all requests. Made when the first request with a constraint comes; an engine without any pays
// nothing.
//
//   any thread      prepare(): the trie, once, for all (some ten milliseconds for 50,000 tokens)
//   engine thread   everything else
//
// Sequences own their sessions; what these share is here and outlives them.
//
// Marks. A model may write the marks of tool calls and of thinking as control tokens, which have no
// bytes in the table. Their texts are given by set_marker_texts(), so that a constraint can ask for
// them; texts to be written are cut at marks first, because the tokenizer would take the text of a
// mark for plain text.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "constrain/constraint_session.h"
#include "constrain/live_machines.h"
#include "constrain/mask_cache.h"
#include "constrain/soft_bias.h"
#include "constrain/token_trie.h"
#include "core/error.h"
#include "core/snapshot.h"
#include "core/token_table.h"

namespace zerohop {

struct ConstraintsOptions {
  std::size_t mask_bytes_max = 0;     ///< of masks that are kept
  LiveMachinesOptions machines = {};  ///< of the machines
};

class Constraints {
 public:
  struct Parts {
    const TokenTable* table = nullptr;  ///< outlives this object, as `clock`
    const Clock* clock = nullptr;
    Tokenize tokenize;  ///< of the model, marks as plain text; any thread; may be empty
  };
  Constraints(Parts parts, ConstraintsOptions options);
  Constraints(const Constraints&) = delete;
  Constraints& operator=(const Constraints&) = delete;

  /// Control tokens and what they stand for. In front of the first prepare().
  void set_marker_texts(std::vector<std::pair<Token, std::string>> markers);

  /// Makes the trie if it is not there. Any thread. Errors: kInvalidRequest, for good: answers of
  /// this model cannot be constrained (TokenTrie::covers_bytes()).
  Result<void> prepare();

  /// A session for an answer of at most `tokens_max` tokens. prepare() has succeeded.
  std::unique_ptr<ConstraintSession> follow(const CompiledConstraint& constraint,
                                            std::size_t tokens_max);
  /// prepare() has been called, with whatever result.
  std::unique_ptr<SoftBias> favour(std::shared_ptr<const std::vector<SoftRule>> rules) const;

  /// Sessions have ended.
  void tidy();

  /// Fills in what is counted here; the rest of `counts` stays.
  void count(ConstraintCounts& counts) const;

 private:
  void make_trie();
  std::vector<Token> write(std::string_view text) const;
  // The first mark in `text` and where it begins; null and the size of the text: none.
  std::pair<const std::pair<Token, std::string>*, std::size_t> find_marker(
      std::string_view text) const;

  const Parts parts_;
  const ConstraintsOptions options_;
  TokenTexts markers_;

  // Any thread, behind the flag
  std::once_flag made_;
  std::shared_ptr<const TokenTrie> trie_;
  Result<void> able_;

  // Engine thread
  ConstraintStatistics statistics_;
  std::unique_ptr<MaskCache> masks_;  // with the first session
  std::unique_ptr<LiveMachines> machines_;
};

}  // namespace zerohop
