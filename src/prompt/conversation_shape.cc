#include "prompt/conversation_shape.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "prompt/tool_texts.h"
#include "prompt/turn_writer.h"

namespace zerohop {
namespace {

constexpr std::string_view kSpace = " \t\n\v\f\r";

class Shaper {
 public:
  Shaper(const Conversation& conversation, const TemplateTraits& traits)
      : conversation_(conversation), traits_(traits), writer_(conversation, traits, shaped_) {}

  ShapedConversation shape(std::string_view default_system) {
    take_system(default_system);
    add_tools();
    append_block(system_, output_instruction(conversation_.output));
    add_front();
    write_turns();
    settle_prefill();
    if (shaped_.messages.empty()) writer_.turn_of("user");
    if (!conversation_.volatile_context.empty()) {
      writer_.write_behind(context_text(conversation_.volatile_context));
    }
    if (traits_.thinking_switch) {
      // A call that must come cannot wait for thoughts.
      shaped_.thinking =
          conversation_.thinking == ThinkingMode::kEnabled && !forces_a_call(conversation_);
    }
    return std::move(shaped_);
  }

 private:
  void take_system(std::string_view default_system) {
    SystemPrompt own = system_prompt_of(conversation_);
    system_ = std::move(own.text);
    first_turn_ = own.first_turn;
    if (system_.empty()) system_ = default_system;
    shaped_.front.system = {0, system_.size()};
  }

  void add_tools() {
    if (!offers_tools(conversation_)) return;
    if (traits_.native_tools == nullptr) {
      const std::string preamble = tool_preamble(conversation_.tools);
      append_block(system_, preamble);
      shaped_.front.tools = {system_.size() - preamble.size(), system_.size()};
      return;
    }
    for (const ToolDefinition& tool : conversation_.tools) {
      if (tool.deferred) continue;
      shaped_.tools.push_back({tool.name, tool.description, tool.input_schema});
    }
  }

  void add_front() {
    if (!system_.empty()) {
      const bool own_message = traits_.system_place == SystemPlace::kSystemMessage;
      writer_.turn_of(own_message ? "system" : "user").content = system_;
    }
    note_front_mark();
    const bool assistant_opens = first_turn_ < conversation_.messages.size() &&
                                 conversation_.messages[first_turn_].role == Role::kAssistant;
    if (assistant_opens && traits_.first_turn == FirstTurn::kUser) writer_.turn_of("user");
  }

  // Tools stand behind the system prompt here, so a mark behind either lies behind both; and the
  // entries that have become the system prompt have their marks behind it.
  void note_front_mark() {
    const std::optional<CacheMark>& mark = conversation_.cache_mark;
    if (!mark) return;
    if (mark->place == CacheMark::Place::kMessage && mark->message >= first_turn_) return;
    if (system_.empty() && shaped_.tools.empty()) return;
    shaped_.mark = ShapedMark{.message = 0,
                              .offset = std::max(shaped_.front.system.end, shaped_.front.tools.end),
                              .behind_tools = true};
  }

  void write_turns() {
    const std::vector<Message>& messages = conversation_.messages;
    for (std::size_t i = first_turn_; i < messages.size();) {
      const Role role = messages[i].role;
      if (role == Role::kSystem) {
        writer_.write_system_entry(i++);
        continue;
      }
      std::size_t end = i + 1;
      while (end < messages.size() && messages[end].role == role) ++end;
      if (role == Role::kUser) {
        writer_.write_user_run(i, end);
      } else {
        writer_.write_assistant_run(i, end);
      }
      i = end;
    }
  }

  void settle_prefill() {
    if (shaped_.messages.empty() || shaped_.messages.back().role != "assistant") return;
    if (writer_.ends_with_call()) return;
    TemplateMessage& last = shaped_.messages.back();
    last.content.resize(trim_space_right(last.content).size());
    if (!last.content.empty()) {
      shaped_.continue_last = true;
    } else if (last.tool_calls.empty()) {
      shaped_.messages.pop_back();
    }
    if (!shaped_.mark || shaped_.messages.empty()) return;
    ShapedMark& mark = *shaped_.mark;
    mark.message = std::min(mark.message, shaped_.messages.size() - 1);
    mark.offset = std::min(mark.offset, shaped_.messages[mark.message].content.size());
  }

  const Conversation& conversation_;
  const TemplateTraits& traits_;
  std::string system_;
  std::size_t first_turn_ = 0;  // messages in front of it are the system prompt
  ShapedConversation shaped_;
  TurnWriter writer_;
};

Result<void> check_document(const DocumentBlock& document, const std::string& field) {
  if (document.text.empty() && !document.pdf.empty()) {
    return invalid_request(field + ".source", "this document cannot be read: it has no text");
  }
  return {};
}

Result<void> check_block(const ContentBlock& block, const std::string& field) {
  if (const auto* document = std::get_if<DocumentBlock>(&block)) {
    return check_document(*document, field);
  }
  const auto* result = std::get_if<ToolResultBlock>(&block);
  if (result == nullptr) return {};
  for (std::size_t i = 0; i < result->content.size(); ++i) {
    if (const auto* document = std::get_if<DocumentBlock>(&result->content[i])) {
      ZH_RETURN_IF_ERROR(check_document(*document, field + ".content[" + std::to_string(i) + "]"));
    }
  }
  return {};
}

}  // namespace

bool ShapedConversation::is_rich() const {
  return !tools.empty() ||
         std::any_of(messages.begin(), messages.end(), [](const TemplateMessage& message) {
           return message.role == "tool" || !message.tool_calls.empty() ||
                  !message.reasoning.empty();
         });
}

SystemPrompt system_prompt_of(const Conversation& conversation) {
  SystemPrompt prompt;
  for (const TextBlock& block : conversation.system) append_block(prompt.text, block.text);
  if (!prompt.text.empty()) return prompt;
  const std::vector<Message>& messages = conversation.messages;
  std::size_t& turn = prompt.first_turn;
  for (; turn < messages.size() && messages[turn].role == Role::kSystem; ++turn) {
    for (const ContentBlock& block : messages[turn].content) {
      if (const auto* own = std::get_if<TextBlock>(&block)) append_block(prompt.text, own->text);
    }
  }
  return prompt;
}

bool offers_tools(const Conversation& conversation) {
  return !conversation.tools.empty() && conversation.tool_choice.kind != ToolChoiceKind::kNone;
}

bool forces_a_call(const Conversation& conversation) {
  return offers_tools(conversation) && conversation.tool_choice.kind != ToolChoiceKind::kAuto;
}

Result<void> check_documents(const Conversation& conversation) {
  for (std::size_t m = 0; m < conversation.messages.size(); ++m) {
    const std::vector<ContentBlock>& content = conversation.messages[m].content;
    for (std::size_t b = 0; b < content.size(); ++b) {
      if (std::holds_alternative<TextBlock>(content[b])) continue;
      ZH_RETURN_IF_ERROR(check_block(
          content[b], "messages[" + std::to_string(m) + "].content[" + std::to_string(b) + "]"));
    }
  }
  return {};
}

ShapedConversation shape_conversation(const Conversation& conversation,
                                      const TemplateTraits& traits,
                                      std::string_view default_system) {
  return Shaper(conversation, traits).shape(default_system);
}

std::string_view trim_space_left(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

std::string_view trim_space_right(std::string_view text) {
  const std::size_t last = text.find_last_not_of(kSpace);
  return last == std::string_view::npos ? std::string_view() : text.substr(0, last + 1);
}

std::string_view trim_space(std::string_view text) {
  return trim_space_left(trim_space_right(text));
}

}  // namespace zerohop
