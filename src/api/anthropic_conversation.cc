#include "api/anthropic_conversation.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api/anthropic_blocks.h"
#include "api/anthropic_tool_pairs.h"
#include "core/limits.h"

namespace zerohop {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n\f\v";

Result<Role> parse_role(const JsonPlace& message) {
  ZH_ASSIGN_OR_RETURN(const JsonPlace place, message.require("role"));
  ZH_ASSIGN_OR_RETURN(const std::string_view role, place.string());
  if (role == "user") return Role::kUser;
  if (role == "assistant") return Role::kAssistant;
  if (role == "system") return Role::kSystem;
  return place.expected("\"user\", \"assistant\" or \"system\"");
}

// Reads `tools`, `system` and `messages` in this order, which is the order of the prompt.
class ConversationReader {
 public:
  explicit ConversationReader(const ParseOptions& options) : options_(options), marks_(options) {}

  Result<AnthropicConversation> read(const JsonPlace& body) {
    ZH_ASSIGN_OR_RETURN(tools_, parse_anthropic_tools(body, options_, marks_));
    ZH_RETURN_IF_ERROR(read_system(body));
    ZH_ASSIGN_OR_RETURN(const JsonPlace messages, body.require("messages"));
    ZH_ASSIGN_OR_RETURN(const std::size_t count, messages.array_size(limits::kMessagesMax));
    if (count == 0) return messages.error("at least one message is required");
    conversation_.messages.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      ZH_RETURN_IF_ERROR(read_message(messages.element(i)));
    }
    if (options_.strict()) {
      ZH_RETURN_IF_ERROR(check_tool_pairs(messages));
      ZH_RETURN_IF_ERROR(refuse_empty_messages(messages));
    }
    ZH_RETURN_IF_ERROR(marks_.take(body));
    ZH_RETURN_IF_ERROR(trim_prefill(messages));
    place_mark();
    return AnthropicConversation{std::move(conversation_), std::move(tools_)};
  }

 private:
  Result<void> read_system(const JsonPlace& body) {
    const auto place = body.find("system");
    if (!place) return {};
    if (place->is_string()) {
      ZH_ASSIGN_OR_RETURN(const std::string_view text, place->string());
      if (!text.empty()) add_system(TextBlock{std::string(text)});
      return {};
    }
    ZH_ASSIGN_OR_RETURN(const std::size_t count, block_count(*place));
    for (std::size_t i = 0; i < count; ++i) {
      const JsonPlace element = place->element(i);
      ZH_ASSIGN_OR_RETURN(auto block, parse_anthropic_block(element, rules(Role::kSystem)));
      auto* text = block ? std::get_if<TextBlock>(&*block) : nullptr;
      if (text != nullptr) add_system(std::move(*text));
      ZH_RETURN_IF_ERROR(marks_.take(element));
    }
    return {};
  }

  void add_system(TextBlock block) {
    conversation_.system.push_back(std::move(block));
    marks_.pass({CacheMark::Place::kSystem, 0, 0});
  }

  Result<void> read_message(const JsonPlace& place) {
    ZH_RETURN_IF_ERROR(place.expect_object());
    ZH_ASSIGN_OR_RETURN(const Role role, parse_role(place));
    if (role == Role::kUser) clear_passing_notes();
    conversation_.messages.push_back({role, {}});
    if (role == Role::kSystem) {
      ZH_RETURN_IF_ERROR(read_system_entry(place));
      if (!place.find("content") && place.find("output_config")) return {};
    }
    ZH_ASSIGN_OR_RETURN(const JsonPlace content, place.require("content"));
    ZH_RETURN_IF_ERROR(read_content(content, role));
    if (role == Role::kUser) put_results_first();
    return {};
  }

  // A result belongs next to its call, which is in the turn before, whatever the client wrote in
  // front of it.
  void put_results_first() {
    std::vector<ContentBlock>& content = conversation_.messages.back().content;
    if (std::ranges::is_partitioned(content, is_result)) return;
    const auto results = static_cast<std::size_t>(std::ranges::count_if(content, is_result));
    std::vector<std::size_t> places;
    places.reserve(content.size());
    std::size_t next_result = 0;
    std::size_t next_other = results;
    for (const ContentBlock& block : content) {
      places.push_back(is_result(block) ? next_result++ : next_other++);
    }
    std::ranges::stable_partition(content, is_result);
    marks_.reorder(conversation_.messages.size() - 1, places);
  }

  static bool is_result(const ContentBlock& block) {
    return std::holds_alternative<ToolResultBlock>(block);
  }

  // What only a system entry may have.
  Result<void> read_system_entry(const JsonPlace& place) {
    if (const auto config = place.find("output_config")) {
      ZH_RETURN_IF_ERROR(config->expect_object());
    }
    const auto clear_at = place.find("clear_at");
    if (!clear_at) return {};
    ZH_ASSIGN_OR_RETURN(const std::string_view when, clear_at->string());
    if (when == "next_user_message") {
      passing_notes_.push_back(conversation_.messages.size() - 1);
    } else if (when != "never") {
      return clear_at->expected("\"never\" or \"next_user_message\"");
    }
    return {};
  }

  // The user has spoken again: what was said for the turn before is no longer shown.
  void clear_passing_notes() {
    for (const std::size_t message : passing_notes_) {
      conversation_.messages[message].content.clear();
    }
    passing_notes_.clear();
  }

  Result<void> read_content(const JsonPlace& content, Role role) {
    if (content.is_string()) {
      ZH_ASSIGN_OR_RETURN(const std::string_view text, content.string());
      if (!text.empty()) add_block(TextBlock{std::string(text)}, role);
      return {};
    }
    ZH_ASSIGN_OR_RETURN(const std::size_t count, block_count(content));
    for (std::size_t i = 0; i < count; ++i) {
      ZH_RETURN_IF_ERROR(read_block(content.element(i), role));
    }
    return {};
  }

  static Result<std::size_t> block_count(const JsonPlace& content) {
    if (!content.is_array()) return content.expected("a string or an array of content blocks");
    return content.array_size(limits::kJsonValuesMax);
  }

  Result<void> read_block(const JsonPlace& place, Role role) {
    ZH_ASSIGN_OR_RETURN(const std::string_view type, block_type(place));
    if (role == Role::kSystem && is_tool_change(type)) {
      ZH_RETURN_IF_ERROR(apply_tool_change(place, options_, tools_));
      return marks_.take(place);
    }
    if (type == "compaction") ZH_RETURN_IF_ERROR(read_compacted_changes(place));
    ZH_ASSIGN_OR_RETURN(auto block, parse_anthropic_block(place, rules(role)));
    if (block) add_block(*std::move(block), role);
    ZH_RETURN_IF_ERROR(take_nested_marks(place));
    return marks_.take(place);
  }

  // The changes of the set of tools that stood in the part which was summed up.
  Result<void> read_compacted_changes(const JsonPlace& compaction) {
    const auto changes = compaction.find("tool_changes");
    if (!changes) return {};
    ZH_ASSIGN_OR_RETURN(const std::size_t count, changes->array_size(limits::kToolsMax));
    for (std::size_t i = 0; i < count; ++i) {
      ZH_RETURN_IF_ERROR(apply_tool_change(changes->element(i), options_, tools_));
    }
    return {};
  }

  // Blocks inside a block carry marks too; they count as marks behind the whole.
  Result<void> take_nested_marks(const JsonPlace& block) {
    const auto content = block.find("content");
    if (!content) return {};
    for (std::size_t i = 0; i < content->elements(); ++i) {
      ZH_RETURN_IF_ERROR(marks_.take(content->element(i)));
    }
    return {};
  }

  // Results of tools that another server ran stand inside the assistant's message. In the prompt
  // they are what the assistant reads, not what it wrote.
  void add_block(ContentBlock block, Role role) {
    std::vector<Message>& messages = conversation_.messages;
    const Role wanted = is_result(block) && role == Role::kAssistant ? Role::kUser : role;
    if (messages.back().role != wanted) {
      if (messages.back().content.empty()) {
        messages.back().role = wanted;
      } else {
        messages.push_back({wanted, {}});
      }
    }
    messages.back().content.push_back(std::move(block));
    marks_.pass(
        {CacheMark::Place::kMessage, messages.size() - 1, messages.back().content.size() - 1});
  }

  BlockRules rules(Role role) const { return BlockRules{options_, tools_, role}; }

  static Result<void> refuse_empty_messages(const JsonPlace& messages) {
    for (std::size_t i = 0; i < messages.elements(); ++i) {
      const JsonPlace message = messages.element(i);
      const auto content = message.find("content");
      if (!content) continue;
      const bool empty =
          content->is_string() ? content->string().value().empty() : content->elements() == 0;
      const bool last = i + 1 == messages.elements();
      if (!empty || (last && message.text_or_empty("role") == "assistant")) continue;
      return content->error(
          "all messages must have non-empty content except for the optional final assistant "
          "message");
    }
    return {};
  }

  // White space at the end of a prefill makes most tokenizers split the next word in a way that
  // they never saw in training.
  Result<void> trim_prefill(const JsonPlace& messages) {
    Message& last = conversation_.messages.back();
    if (last.role != Role::kAssistant) return {};
    while (!last.content.empty()) {
      auto* block = std::get_if<TextBlock>(&last.content.back());
      if (block == nullptr) return {};
      const std::size_t kept = block->text.find_last_not_of(kWhiteSpace) + 1;  // npos + 1 is 0
      if (kept == block->text.size()) return {};
      if (options_.strict()) {
        return messages.error("the final assistant message must not end with white space");
      }
      block->text.resize(kept);
      if (kept > 0) return {};
      last.content.pop_back();
    }
    return {};
  }

  // Blocks may have gone since the mark was taken.
  void place_mark() {
    conversation_.cache_mark = marks_.last();
    auto& mark = conversation_.cache_mark;
    if (!mark || mark->place != CacheMark::Place::kMessage) return;
    const std::size_t size = conversation_.messages[mark->message].content.size();
    if (mark->block >= size) mark->block = size == 0 ? 0 : size - 1;
  }

  const ParseOptions& options_;
  CacheMarks marks_;
  AnthropicTools tools_;
  Conversation conversation_;
  std::vector<std::size_t> passing_notes_;  // system entries that the next user message ends
};

}  // namespace

Result<AnthropicConversation> parse_anthropic_conversation(const JsonPlace& body,
                                                           const ParseOptions& options) {
  return ConversationReader(options).read(body);
}

}  // namespace zerohop
