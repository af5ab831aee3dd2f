// The prompt stage: a typed conversation → the tokens that the model reads.
//
//   Conversation ─ shape ─→ messages ─ template ─→ text ─ tokenizer ─→ tokens
//                 (rules of conversation_shape.h)  (template_renderer.h)  (guarded_tokenizer.h)
//
// One per model, made when it is loaded; any thread (workers share it). The model must outlive it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/request.h"
#include "core/token.h"
#include "model/model.h"
#include "prompt/guarded_tokenizer.h"
#include "prompt/template_renderer.h"

namespace zerohop {

struct PreparedPrompt {
  /// The whole prompt, with the beginning-of-sequence token where the vocabulary wants one. Their
  /// number is what count_tokens answers and what usage reports.
  std::vector<Token> tokens;
};

class PromptStage {
 public:
  /// Tries the model's chat template out and logs how prompts will be rendered: 16 ms for the
  /// default model.
  /// `default_system` is the system prompt of conversations that bring none; empty leaves it to the
  /// template.
  explicit PromptStage(const Model& model, std::string default_system = {});

  /// Errors: kInvalidRequest when the template refuses the conversation. Costs the tokenising
  /// (about 305 µs per kB with libllama) and, unless every prompt is rendered (see splice_mode()),
  /// a few microseconds once the shape of the conversation is known.
  Result<PreparedPrompt> prepare(const Conversation& conversation) const;

  SpliceMode splice_mode() const { return renderer_.mode(); }
  const TemplateTraits& template_traits() const { return renderer_.traits(); }

 private:
  const std::string default_system_;
  const std::optional<Token> begin_of_sequence_;
  const GuardedTokenizer tokenizer_;
  const TemplateRenderer renderer_;
};

}  // namespace zerohop
