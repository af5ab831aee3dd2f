// The prompt stage: a typed conversation → the tokens that the model reads, and how to read what it
// writes behind them.
//
//   Conversation ─ shape ─→ messages ─ template ─→ text ─ tokenizer ─→ tokens
//                 (conversation_shape.h) (template_renderer.h) (guarded_tokenizer.h)
//
// One per model, made when it is loaded; any thread (workers share it). The model must outlive it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/cache_miss.h"
#include "core/error.h"
#include "core/request.h"
#include "core/token.h"
#include "model/model.h"
#include "prompt/guarded_tokenizer.h"
#include "prompt/output_plan.h"
#include "prompt/output_planner.h"
#include "prompt/prompt_measure.h"
#include "prompt/template_renderer.h"

namespace zerohop {

/// Whether the tokens are also counted by what they are.
enum class PromptDetail : std::uint8_t { kTokens, kBreakdown };

struct PreparedPrompt {
  /// The whole prompt, with the beginning-of-sequence token where the vocabulary wants one. Their
  /// number is what count_tokens answers and what usage reports.
  std::vector<Token> tokens;
  std::uint32_t marked_tokens = 0;        ///< up to Conversation::cache_mark; 0 without one
  std::chrono::seconds mark_lifetime{0};  ///< of the mark; 0 without one
  PromptSections sections;
  OutputPlan output;
  std::optional<PromptBreakdown> breakdown;  ///< with PromptDetail::kBreakdown
};

class PromptStage {
 public:
  /// Tries the model's chat template out and logs how prompts will be rendered: 70 ms for the
  /// default model.
  /// `default_system` is the system prompt of conversations that bring none; empty leaves it to the
  /// template.
  explicit PromptStage(const Model& model, std::string default_system = {});

  /// Errors: kInvalidRequest when the template refuses the conversation, or for a document that
  /// has no text yet. Costs the tokenising (about 305 µs per kB with libllama) of turns that were
  /// not seen lately and, unless the template must run (see splice_mode()), some 30 µs for a
  /// conversation of 6,000 tokens.
  Result<PreparedPrompt> prepare(const Conversation& conversation,
                                 PromptDetail detail = PromptDetail::kTokens) const;

  /// The same where all of it is remembered and it is plain text, without tools and forms: turns
  /// and their order have been seen lately. Nothing otherwise, also for what prepare() refuses.
  /// Some 10 µs for 4 kB; nothing is rendered, tokenised or compiled, so a thread that must not
  /// wait may call it.
  std::optional<PreparedPrompt> recall(const Conversation& conversation,
                                       PromptDetail detail = PromptDetail::kTokens) const;

  /// Control tokens of this model that have no bytes and whose text counts in an answer.
  const std::vector<std::pair<Token, std::string>>& marker_tokens() const {
    return planner_.marker_tokens();
  }
  SpliceMode splice_mode() const { return renderer_.mode(); }
  const TemplateTraits& template_traits() const { return renderer_.traits(); }

 private:
  struct Sources;
  PreparedPrompt assemble(Sources sources) const;
  void log_findings(const Model& model) const;

  const std::string default_system_;
  const std::optional<Token> begin_of_sequence_;
  const GuardedTokenizer tokenizer_;
  const TemplateRenderer renderer_;
  const OutputPlanner planner_;
};

}  // namespace zerohop
