// What following a constraint costs: from its text to the first mask, a mask at every place of a
// text, and the check of each token.
//
// Each schema is new to the process, as in a server that sees it for the first time; what depends
// on the vocabulary alone has been made before, and masks are shared between schemas as they are in
// the server. Two passes, each with a machine that has no states at first:
//
//   masks    compile, the first mask, then all masks along the valid texts
//   checks   all texts token by token without any mask, until one is refused
//
// One thread; processor time, except for single checks, which are shorter than that clock's step
// and are timed on the steady clock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "constrain/live_machine.h"
#include "constrain/mask_cache.h"
#include "constrain/token_trie.h"
#include "corpus.h"

namespace zerohop::bench {

struct CaseResult {
  std::string refusal;  ///< empty: it compiled
  std::int64_t compile_ns = 0;
  std::int64_t first_mask_ns = 0;  ///< from the text of the schema; compilation included
  std::vector<std::int64_t> masks_ns;
  std::vector<std::int64_t> built_ns;   ///< those of the masks that were not in the cache
  std::vector<std::int64_t> checks_ns;  ///< steady clock
  std::int64_t checks_cpu_ns = 0;       ///< of all checks together
  std::size_t right = 0;
  std::size_t wrongly_accepted = 0;
  std::size_t wrongly_rejected = 0;
  std::size_t disagreements = 0;  ///< places where mask and check differ; never any
  std::size_t machine_bytes = 0;  ///< behind both passes, the larger one
  std::string slowest;            ///< the text in front of the slowest mask
};

class ConstraintMeter {
 public:
  explicit ConstraintMeter(std::shared_ptr<const TokenTrie> tokens);

  CaseResult measure(const CorpusCase& subject);
  std::size_t mask_bytes() const { return masks_.memory_bytes(); }
  std::int64_t check_clock_ns() const { return steady_cost_; }

 private:
  void follow_masks(const CorpusCase& subject, const std::shared_ptr<LiveMachine>& live,
                    CaseResult& result);
  void follow_checks(const CorpusCase& subject, const ConstraintMachine& model, CaseResult& result);
  std::int64_t cpu_since(std::int64_t begin) const;

  std::shared_ptr<const TokenTrie> tokens_;
  MaskCache masks_;
  std::uint64_t next_id_ = 1;
  std::int64_t cpu_cost_;
  std::int64_t steady_cost_;
};

/// The machine of a case, or why there is none.
Result<std::unique_ptr<ConstraintMachine>> machine_of(const CorpusCase& subject);

}  // namespace zerohop::bench
