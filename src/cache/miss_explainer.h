// Why a prompt missed the prefix cache: holds it against the prompts that were seen lately.
//
// A miss is only a surprise if something alike came before. So the last prompts are remembered (by
// scope, within hard caps) and a new one is held against its likeliest predecessor; the part of the
// prompt in which the two differ first names the cause:
//
//   earlier  | system .................. | tools ... | messages ........... |
//   new      | system ..... 12:04 ...... | tools ... | messages ................. |
//            |<-- found -->|^ position: system_changed
//                           |<------------ missed_tokens ------------>|
//
// Likeliest is, in this order: the prompt with the longest common beginning, if it came under the
// same affinity key; the last one of that key; the longest common beginning; a prompt whose system
// prompt or tools end alike. Parts count as alike when their common beginning and end make up half
// of the longer one, or the affinity key is the same. Then
//
//   evicted           an earlier prompt has kMissTokensMin tokens more in common than were found
//   system_changed    and tools_changed: the first difference lies in that part, and it is alike
//   messages_changed  the first difference lies behind, and the new prompt goes on like the earlier
//                     one (its last tokens come again), or the affinity key is the same
//   other_tenant      none of these, but another scope's prompt has kOtherScopeTokensMin more in
//                     common
//   none              system prompt and tools are known as a whole: all that can be shared was
//                     found
//   cold              nothing like it
//
// Not thread-safe; the engine thread owns it. Pure: no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/cache_miss.h"
#include "core/tenant.h"
#include "core/token.h"

namespace zerohop {

/// Fewer tokens than this are not worth a cause.
inline constexpr std::uint32_t kMissTokensMin = 16;
inline constexpr std::uint32_t kOtherScopeTokensMin = 64;

struct SeenPrompt {
  TokenSpan tokens;
  PromptSections sections;
  ScopeId scope = kPublicScope;
  std::uint64_t affinity = 0;
};

struct MissExplainerOptions {
  std::size_t prompts_max = 256;      ///< the oldest are forgotten
  std::size_t tokens_max = 1u << 20;  ///< of all prompts together; 4 bytes each
};

class MissExplainer {
 public:
  explicit MissExplainer(const MissExplainerOptions& options = {});
  ~MissExplainer();

  /// The cause for `prompt`, of which `tokens_found` were found in the cache; `cap` is what made
  /// the cache drop things last, kNone if it never dropped anything: then nothing was evicted, and
  /// what is missing was never computed. Remembers the prompt. The model is always the same, so
  /// kModelChanged is no answer. 5 µs with 256 prompts of 2,000 tokens.
  CacheMiss explain(const SeenPrompt& prompt, std::int32_t tokens_found, CacheCap cap);

  std::size_t prompts() const;
  /// Of all remembered prompts.
  std::size_t tokens() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace zerohop
