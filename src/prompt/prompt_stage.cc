#include "prompt/prompt_stage.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/log.h"
#include "prompt/conversation_shape.h"
#include "prompt/tool_syntax.h"

namespace zerohop {

PromptStage::PromptStage(const Model& model, std::string default_system)
    : default_system_(std::move(default_system)),
      begin_of_sequence_(model.tokenizer().begin_of_sequence()),
      tokenizer_(model.tokenizer()),
      renderer_(model.chat_template(), tokenizer_.specials()),
      planner_(renderer_.traits(), tokenizer_) {
  log_findings(model);
}

void PromptStage::log_findings(const Model& model) const {
  const TemplateTraits& traits = template_traits();
  const bool own_place = traits.system_place == SystemPlace::kSystemMessage;
  const bool in_place = traits.system_entries == SystemEntries::kInPlace;
  const std::string tools =
      traits.native_tools == nullptr ? "as_text" : std::string(traits.native_tools->id);
  log_info("prompt stage ready",
           {{"model", model.info().name},
            {"rendering", std::string(splice_mode_name(splice_mode()))},
            {"growing_prompts", renderer_.composes() ? "composed" : "rendered"},
            {"known_turns", tokenizer_.remembers() ? "remembered" : "tokenised_again"},
            {"system_prompt", own_place ? "own_message" : "first_user_turn"},
            {"system_entries", in_place ? "in_place" : "folded"},
            {"tools", tools},
            {"thinking", traits.thinking ? traits.thinking->open : "none"},
            {"thinking_switch", traits.thinking_switch ? "yes" : "no"}});
}

// Of what a prompt is put together.
struct PromptStage::Sources {
  const Conversation& conversation;
  const ShapedConversation& shaped;
  RenderedPrompt rendered;
  OutputPlan output;
  TokenizedText tokenized;
  PromptDetail detail = PromptDetail::kTokens;
};

Result<PreparedPrompt> PromptStage::prepare(const Conversation& conversation,
                                            PromptDetail detail) const {
  ZH_RETURN_IF_ERROR(check_documents(conversation));
  const ShapedConversation shaped =
      shape_conversation(conversation, renderer_.traits(), default_system_);
  ZH_ASSIGN_OR_RETURN(RenderedPrompt rendered, renderer_.render(shaped));
  ZH_ASSIGN_OR_RETURN(OutputPlan output, planner_.plan(conversation, shaped, rendered));
  TokenizedText tokenized = tokenizer_.tokenize_with_cuts(rendered.text, rendered.foreign);
  if (rendered.placed.empty()) rendered.placed = locate_contents(rendered.text, shaped);
  return assemble(
      {conversation, shaped, std::move(rendered), std::move(output), std::move(tokenized), detail});
}

std::optional<PreparedPrompt> PromptStage::recall(const Conversation& conversation,
                                                  PromptDetail detail) const {
  // Their forms would be compiled.
  if (!conversation.tools.empty() || conversation.output.format != OutputFormat::kText) {
    return std::nullopt;
  }
  if (!check_documents(conversation).ok()) return std::nullopt;
  const ShapedConversation shaped =
      shape_conversation(conversation, renderer_.traits(), default_system_);
  std::optional<RenderedPrompt> rendered = renderer_.recall(shaped);
  if (!rendered) return std::nullopt;
  std::optional<TokenizedText> tokenized =
      tokenizer_.recall_with_cuts(rendered->text, rendered->foreign);
  if (!tokenized) return std::nullopt;
  Result<OutputPlan> output = planner_.plan(conversation, shaped, *rendered);
  if (!output.ok()) return std::nullopt;
  return assemble({conversation, shaped, *std::move(rendered), *std::move(output),
                   *std::move(tokenized), detail});
}

PreparedPrompt PromptStage::assemble(Sources sources) const {
  PreparedPrompt prompt;
  prompt.output = std::move(sources.output);
  const MeasuredPrompt measured{tokenizer_, sources.tokenized, sources.rendered, sources.shaped};
  prompt.marked_tokens = static_cast<std::uint32_t>(marked_tokens(measured));
  if (const auto& mark = sources.conversation.cache_mark) prompt.mark_lifetime = mark->lifetime;
  prompt.sections = sections_of(measured);
  if (sources.detail == PromptDetail::kBreakdown) prompt.breakdown = break_down(measured);
  prompt.tokens = std::move(sources.tokenized.tokens);
  // Many templates write the name of this token themselves.
  if (begin_of_sequence_ &&
      (prompt.tokens.empty() || prompt.tokens.front() != *begin_of_sequence_)) {
    prompt.tokens.insert(prompt.tokens.begin(), *begin_of_sequence_);
    if (prompt.marked_tokens > 0) ++prompt.marked_tokens;
    if (prompt.sections.system_end > 0) ++prompt.sections.system_end;
    if (prompt.sections.tools_end > 0) ++prompt.sections.tools_end;
    if (prompt.breakdown) ++prompt.breakdown->template_tokens;
  }
  return prompt;
}

}  // namespace zerohop
