#include "api/anthropic_conversation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/limits.h"

namespace zerohop {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n\f\v";

// Block types of the protocol that this server does not understand. Only the wording depends on
// this list: a type in neither place is refused as unknown.
constexpr std::array<std::string_view, 23> kUnsupportedTypes{
    "image",
    "document",
    "search_result",
    "tool_use",
    "tool_result",
    "tool_reference",
    "tool_addition",
    "tool_removal",
    "server_tool_use",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "container_upload",
    "mcp_tool_use",
    "mcp_tool_result",
    "mcp_tool_listing",
    "compaction",
    "fallback",
    "advisor_tool_result",
    "browser_state",
};

Error refuse_type(const JsonPlace& place, std::string_view type) {
  const auto* known = std::find(kUnsupportedTypes.begin(), kUnsupportedTypes.end(), type);
  if (known == kUnsupportedTypes.end()) return place.expected("a known content type");
  return place.error(std::string(type) + " content is not supported by this server");
}

// Nothing when the block says nothing to the model.
Result<std::optional<ContentBlock>> parse_block(const JsonPlace& block, Role role,
                                                const ParseOptions& options) {
  using Parsed = std::optional<ContentBlock>;
  ZH_RETURN_IF_ERROR(block.expect_object());
  ZH_ASSIGN_OR_RETURN(const JsonPlace type_place, block.require("type"));
  ZH_ASSIGN_OR_RETURN(const std::string_view type, type_place.string());
  if (type == "thinking" || type == "redacted_thinking") {
    if (role == Role::kAssistant) return Parsed();
    return type_place.error(std::string(type) + " content is allowed in assistant messages only");
  }
  if (type != "text") return refuse_type(type_place, type);

  ZH_ASSIGN_OR_RETURN(const JsonPlace text_place, block.require("text"));
  ZH_ASSIGN_OR_RETURN(const std::string_view text, text_place.string());
  if (!text.empty()) return Parsed(TextBlock{std::string(text)});
  if (options.strict()) return text_place.error("must not be empty");
  return Parsed();
}

Result<std::vector<ContentBlock>> parse_content(const JsonPlace& content, Role role,
                                                const ParseOptions& options) {
  std::vector<ContentBlock> blocks;
  if (content.is_string()) {
    ZH_ASSIGN_OR_RETURN(const std::string_view text, content.string());
    if (!text.empty()) blocks.push_back(TextBlock{std::string(text)});
    return blocks;
  }
  if (!content.is_array()) return content.expected("a string or an array of content blocks");
  ZH_ASSIGN_OR_RETURN(const std::size_t count, content.array_size(limits::kJsonValuesMax));
  blocks.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    ZH_ASSIGN_OR_RETURN(auto block, parse_block(content.element(i), role, options));
    if (block) blocks.push_back(*std::move(block));
  }
  return blocks;
}

Result<std::vector<TextBlock>> parse_system(const JsonPlace& body, const ParseOptions& options) {
  std::vector<TextBlock> system;
  const auto place = body.find("system");
  if (!place) return system;
  ZH_ASSIGN_OR_RETURN(auto blocks, parse_content(*place, Role::kSystem, options));
  for (ContentBlock& block : blocks) {
    if (auto* text = std::get_if<TextBlock>(&block)) system.push_back(std::move(*text));
  }
  return system;
}

Result<Role> parse_role(const JsonPlace& message) {
  ZH_ASSIGN_OR_RETURN(const JsonPlace place, message.require("role"));
  ZH_ASSIGN_OR_RETURN(const std::string_view role, place.string());
  if (role == "user") return Role::kUser;
  if (role == "assistant") return Role::kAssistant;
  if (role == "system") return Role::kSystem;
  return place.expected("\"user\", \"assistant\" or \"system\"");
}

Result<Message> parse_message(const JsonPlace& place, const ParseOptions& options) {
  ZH_RETURN_IF_ERROR(place.expect_object());
  Message message;
  ZH_ASSIGN_OR_RETURN(message.role, parse_role(place));
  ZH_ASSIGN_OR_RETURN(const JsonPlace content, place.require("content"));
  ZH_ASSIGN_OR_RETURN(message.content, parse_content(content, message.role, options));
  return message;
}

// White space at the end of a prefill makes most tokenizers split the next word in a way that they
// never saw in training.
Result<void> trim_prefill(const JsonPlace& messages, Message& last, const ParseOptions& options) {
  if (last.role != Role::kAssistant) return {};
  while (!last.content.empty()) {
    auto* block = std::get_if<TextBlock>(&last.content.back());
    if (block == nullptr) return {};
    const std::size_t kept = block->text.find_last_not_of(kWhiteSpace) + 1;  // npos + 1 is 0
    if (kept == block->text.size()) return {};
    if (options.strict()) {
      return messages.error("the final assistant message must not end with white space");
    }
    block->text.resize(kept);
    if (kept > 0) return {};
    last.content.pop_back();
  }
  return {};
}

}  // namespace

Result<Conversation> parse_anthropic_conversation(const JsonPlace& body,
                                                  const ParseOptions& options) {
  Conversation conversation;
  ZH_ASSIGN_OR_RETURN(conversation.system, parse_system(body, options));
  ZH_ASSIGN_OR_RETURN(const JsonPlace messages, body.require("messages"));
  ZH_ASSIGN_OR_RETURN(const std::size_t count, messages.array_size(limits::kMessagesMax));
  if (count == 0) return messages.error("at least one message is required");
  conversation.messages.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    ZH_ASSIGN_OR_RETURN(Message message, parse_message(messages.element(i), options));
    conversation.messages.push_back(std::move(message));
  }
  ZH_RETURN_IF_ERROR(trim_prefill(messages, conversation.messages.back(), options));
  return conversation;
}

}  // namespace zerohop
