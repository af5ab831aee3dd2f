// Chat templates: a model's own Jinja template through llama-common, or a plain format for base
// models that ship none. Owned by the LlamaModel; immutable after construction, any thread.
//
// A rendered prompt must be the same tomorrow, or no cached prefix would match: the values `now`,
// `date_string` and `datetime` that templates may print are fixed when the model is loaded. (The
// function strftime_now() reads the library's own clock; a template that calls it prints the true
// day, which costs one cache miss a day.)
//
// A template's own habits are kept. The default model's inserts its default system text when a
// conversation has none.
//
// The library renders a template in two ways: with an analysis of its output format on every call
// (1.3 ms for two short messages) and without (0.3 ms). The analysis serves parsers
// that are not used here, but some templates get special treatment on that way only. So both are
// compared on small conversations at load time and the short way is taken where they agree.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "core/error.h"
#include "model/model.h"

struct llama_model;

namespace zerohop {

struct ChatTemplateOptions {
  /// Jinja text to use instead of the model's own; empty: the model's own, or the plain format.
  std::string source;
  /// What templates print as today, in UTC.
  WallTime today{};
};

/// The template for `model`, which must outlive the result. Errors: kModelUnavailable when the
/// Jinja text cannot be parsed.
Result<std::unique_ptr<ChatTemplate>> make_llama_chat_template(const llama_model* model,
                                                               const ChatTemplateOptions& options);

/// The format for models without a template. It knows no tools and no thoughts. Messages are lines
/// that begin with the speaker:
///
///   Be brief.            system messages, as they are, with an empty line after each
///
///   User: Hello
///   Assistant: Hi
///   User: Who are you?
///   Assistant:           where the answer begins; its first token usually begins with a space
class PlainChatTemplate final : public ChatTemplate {
 public:
  Result<std::string> render(const TemplateInput& input) const override;
  bool from_model() const override { return false; }
};

}  // namespace zerohop
