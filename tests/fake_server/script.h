// What the scripted model says: rules of a file, and from them the next token after any prompt.
//
//   [{"last": "weather in Oslo", "reply": "<tool_call>…</tool_call>"},
//    {"anywhere": "case:slow", "reply": "A long story…", "delay_ms": 20}]
//
//   last       must occur in what was said since the model's last turn
//   anywhere   must occur in the prompt; of both keys one may be left out
//   reply      the whole assistant turn as the model writes it: thinking, calls, text
//   repeat     the reply that many times over (1)
//   delay_ms   before each token, in real time (0)
//   fail_at    the model breaks down when it has said so many tokens
//   tokens     "pieces" (the tokenizer's, the default) or "bytes": one token a byte
//
// The first rule that fits answers; a prompt that none fits is answered with the words of
// kNoRuleReply. Where the prompt has begun the assistant's turn (a prefill, a forced call), that is
// a part of `reply`, or else `reply` comes behind it. A thought that the prompt has opened is
// closed at once when `reply` has none.
//
// A Script is immutable; a ScriptedModel belongs to the engine thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/token.h"
#include "model/fake_model.h"

namespace zerohop {

inline constexpr std::string_view kNoRuleReply = "No rule of the script fits this prompt.";

enum class ReplyTokens : std::uint8_t { kPieces, kBytes };

struct ScriptRule {
  std::string last;
  std::string anywhere;
  std::string reply;
  std::uint32_t delay_ms = 0;
  std::optional<std::uint32_t> fail_at;
  ReplyTokens tokens = ReplyTokens::kPieces;
};

using Script = std::vector<ScriptRule>;

/// Errors: kConfiguration, with the number of the rule and its key.
Result<Script> parse_script(std::string_view json);

/// What a prompt looks like from the model's side.
struct PromptView {
  std::string all;     ///< the text of every token in front of the answer
  std::string last;    ///< of these, what came behind the model's last turn
  std::string answer;  ///< the assistant's turn so far: begun by the prompt, then generated
};

/// `tokens` is a whole sequence that ends inside an assistant's turn of the fake model's template;
/// nothing if it does not.
std::optional<PromptView> view_prompt(const Model& model, TokenSpan tokens);

/// The first rule that fits; null when none does.
const ScriptRule* choose_rule(const Script& script, const PromptView& prompt);

/// The token that continues `answer` towards `reply`; the end of the turn behind it.
Token next_token(const Model& model, const ScriptRule& rule, std::string_view answer);

/// FakeModelOptions with the script and its breakdowns. Keeps `script`.
FakeModelOptions scripted_model(Script script, FakeModelOptions options);

}  // namespace zerohop
