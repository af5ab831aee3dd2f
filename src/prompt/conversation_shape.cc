#include "prompt/conversation_shape.h"

#include <cstddef>
#include <utility>
#include <variant>

namespace zerohop {
namespace {

constexpr std::string_view kBlankLine = "\n\n";
constexpr std::string_view kSpace = " \t\n\v\f\r";
constexpr std::string_view kReminderOpen = "<system-reminder>\n";
constexpr std::string_view kReminderClose = "\n</system-reminder>";

void append_block(std::string& text, std::string_view block) {
  if (block.empty()) return;
  if (!text.empty()) text.append(kBlankLine);
  text.append(block);
}

void append_blocks(std::string& text, const std::vector<ContentBlock>& blocks) {
  for (const ContentBlock& block : blocks) append_block(text, std::get<TextBlock>(block).text);
}

// A mid-conversation system entry as user text; empty when it says nothing (and then still a turn,
// so that an assistant turn in front of it is not taken for a prefill).
std::string reminder(const Message& entry) {
  std::string text;
  append_blocks(text, entry.content);
  if (text.empty()) return text;
  text.insert(0, kReminderOpen);
  return text.append(kReminderClose);
}

class Shaper {
 public:
  Shaper(const Conversation& conversation, std::string_view default_system)
      : conversation_(conversation) {
    for (const TextBlock& block : conversation.system) append_block(system_, block.text);
    if (!system_.empty()) return;
    take_leading_entries();
    if (system_.empty()) system_ = default_system;
  }

  ShapedConversation shape(const TemplateTraits& traits) {
    add_front(traits);
    for (std::size_t i = first_turn_; i < conversation_.messages.size(); ++i) {
      const Message& message = conversation_.messages[i];
      if (message.role == Role::kSystem) {
        append_block(turn_of("user"), reminder(message));
      } else {
        append_blocks(turn_of(message.role == Role::kUser ? "user" : "assistant"), message.content);
      }
    }
    settle_prefill();
    if (shaped_.messages.empty()) turn_of("user");
    return std::move(shaped_);
  }

 private:
  void take_leading_entries() {
    const std::vector<Message>& messages = conversation_.messages;
    for (; first_turn_ < messages.size() && messages[first_turn_].role == Role::kSystem;
         ++first_turn_) {
      append_blocks(system_, messages[first_turn_].content);
    }
  }

  void add_front(const TemplateTraits& traits) {
    if (!system_.empty() && traits.system_place == SystemPlace::kSystemMessage) {
      shaped_.messages.push_back({"system", system_});
    }
    if (!system_.empty() && traits.system_place == SystemPlace::kFirstUserTurn) {
      turn_of("user") = system_;
    }
    const bool assistant_opens = first_turn_ < conversation_.messages.size() &&
                                 conversation_.messages[first_turn_].role == Role::kAssistant;
    if (assistant_opens && traits.first_turn == FirstTurn::kUser) turn_of("user");
  }

  // The content of the turn being written, a new one when the role changes.
  std::string& turn_of(std::string_view role) {
    if (shaped_.messages.empty() || shaped_.messages.back().role != role) {
      shaped_.messages.push_back({std::string(role), {}});
    }
    return shaped_.messages.back().content;
  }

  void settle_prefill() {
    if (shaped_.messages.empty() || shaped_.messages.back().role != "assistant") return;
    std::string& prefill = shaped_.messages.back().content;
    prefill.resize(trim_space_right(prefill).size());
    if (prefill.empty()) {
      shaped_.messages.pop_back();
    } else {
      shaped_.continue_last = true;
    }
  }

  const Conversation& conversation_;
  std::string system_;
  std::size_t first_turn_ = 0;  // messages in front of it are the system prompt
  ShapedConversation shaped_;
};

}  // namespace

ShapedConversation shape_conversation(const Conversation& conversation,
                                      const TemplateTraits& traits,
                                      std::string_view default_system) {
  return Shaper(conversation, default_system).shape(traits);
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
