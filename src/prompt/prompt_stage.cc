#include "prompt/prompt_stage.h"

#include <string>
#include <utility>

#include "base/log.h"
#include "prompt/conversation_shape.h"

namespace zerohop {

PromptStage::PromptStage(const Model& model, std::string default_system)
    : default_system_(std::move(default_system)),
      begin_of_sequence_(model.tokenizer().begin_of_sequence()),
      tokenizer_(model.tokenizer()),
      renderer_(model.chat_template(), tokenizer_.specials()) {
  const bool own_place = template_traits().system_place == SystemPlace::kSystemMessage;
  log_info("prompt stage ready",
           {{"model", model.info().name},
            {"rendering", std::string(splice_mode_name(splice_mode()))},
            {"system_prompt", own_place ? "own_message" : "first_user_turn"}});
}

Result<PreparedPrompt> PromptStage::prepare(const Conversation& conversation) const {
  const ShapedConversation shaped =
      shape_conversation(conversation, renderer_.traits(), default_system_);
  ZH_ASSIGN_OR_RETURN(const RenderedPrompt rendered, renderer_.render(shaped));
  PreparedPrompt prompt;
  prompt.tokens = tokenizer_.tokenize(rendered.text, rendered.foreign);
  // Many templates write the name of this token themselves.
  if (begin_of_sequence_ &&
      (prompt.tokens.empty() || prompt.tokens.front() != *begin_of_sequence_)) {
    prompt.tokens.insert(prompt.tokens.begin(), *begin_of_sequence_);
  }
  return prompt;
}

}  // namespace zerohop
