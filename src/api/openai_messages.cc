#include "api/openai_messages.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "api/openai_content.h"
#include "api/openai_fields.h"
#include "api/openai_tools.h"
#include "core/limits.h"

namespace zerohop {
namespace {

// Calls in one assistant message. Each result looks for its call among them, so this bounds the
// work for a conversation of the longest kind to some 10⁸ comparisons.
constexpr std::size_t kCallsMax = 1'024;

// Reads messages one after another; knows which calls of the last assistant turn wait for results.
class MessageReader {
 public:
  explicit MessageReader(const ParseOptions& options) : options_(options) {}

  Result<void> read(const JsonPlace& place);
  std::vector<Message> take();

 private:
  struct OpenCall {
    std::string id;
    std::string name;
  };

  Result<void> read_plain(const JsonPlace& place, Role role);
  Result<void> read_assistant(const JsonPlace& place);
  Result<void> read_reasoning(const JsonPlace& place, std::vector<ContentBlock>& blocks);
  Result<void> read_calls(const JsonPlace& place, std::vector<ContentBlock>& blocks);
  Result<ToolUseBlock> read_call(const JsonPlace& call);
  Result<ToolUseBlock> read_function(const JsonPlace& function, std::string id);
  Result<void> read_result(const JsonPlace& place);
  Result<std::string> answered_call(const JsonPlace& place);
  std::string next_call_id() { return "call_" + std::to_string(calls_without_id_++); }

  const ParseOptions& options_;
  std::vector<Message> messages_;
  std::vector<OpenCall> open_calls_;
  std::size_t calls_without_id_ = 0;
  bool last_is_result_ = false;
};

Result<void> MessageReader::read(const JsonPlace& place) {
  ZH_RETURN_IF_ERROR(place.expect_object());
  ZH_ASSIGN_OR_RETURN(const JsonPlace role_place, place.require("role"));
  ZH_ASSIGN_OR_RETURN(const std::string_view role, role_place.string());
  if (role == "tool" || role == "function") return read_result(place);
  last_is_result_ = false;
  if (role == "user") return read_plain(place, Role::kUser);
  if (role == "system" || role == "developer") return read_plain(place, Role::kSystem);
  if (role == "assistant") return read_assistant(place);
  return role_place.expected(R"("system", "developer", "user", "assistant", "tool" or "function")");
}

std::vector<Message> MessageReader::take() {
  Message& last = messages_.back();
  if (last.role == Role::kAssistant) trim_openai_prefill(last.content);
  return std::move(messages_);
}

Result<void> MessageReader::read_plain(const JsonPlace& place, Role role) {
  Message message{role, {}};
  if (const auto content = place.find("content")) {
    ZH_ASSIGN_OR_RETURN(auto parts, parse_openai_content(*content, OpenAiContentOf::kMessage));
    add_openai_parts(std::move(parts), message.content);
  } else if (options_.strict()) {
    ZH_RETURN_IF_ERROR(place.require("content"));
  }
  messages_.push_back(std::move(message));
  return {};
}

Result<void> MessageReader::read_assistant(const JsonPlace& place) {
  Message message{Role::kAssistant, {}};
  open_calls_.clear();
  ZH_RETURN_IF_ERROR(read_reasoning(place, message.content));
  if (const auto content = place.find("content")) {
    ZH_ASSIGN_OR_RETURN(auto parts, parse_openai_content(*content, OpenAiContentOf::kMessage));
    add_openai_parts(std::move(parts), message.content);
  }
  ZH_ASSIGN_OR_RETURN(auto refusal, parse_openai_text(place, "refusal"));
  if (refusal) message.content.emplace_back(TextBlock{*std::move(refusal)});
  ZH_RETURN_IF_ERROR(read_calls(place, message.content));
  messages_.push_back(std::move(message));
  return {};
}

// The names under which clients give back what this and other servers call reasoning.
Result<void> MessageReader::read_reasoning(const JsonPlace& place,
                                           std::vector<ContentBlock>& blocks) {
  ZH_ASSIGN_OR_RETURN(auto text, parse_openai_text(place, "reasoning_content"));
  if (!text) {
    const auto other = place.find("reasoning");
    if (other && other->is_string()) {
      ZH_ASSIGN_OR_RETURN(text, parse_openai_text(place, "reasoning"));
    }
  }
  if (text) blocks.emplace_back(ThinkingBlock{*std::move(text)});
  return {};
}

Result<void> MessageReader::read_calls(const JsonPlace& place, std::vector<ContentBlock>& blocks) {
  if (const auto calls = place.find("tool_calls")) {
    ZH_ASSIGN_OR_RETURN(const std::size_t count, calls->array_size(kCallsMax));
    for (std::size_t i = 0; i < count; ++i) {
      ZH_ASSIGN_OR_RETURN(ToolUseBlock call, read_call(calls->element(i)));
      blocks.emplace_back(std::move(call));
    }
  }
  const auto function = place.find("function_call");
  if (!function) return {};
  ZH_ASSIGN_OR_RETURN(ToolUseBlock call, read_function(*function, next_call_id()));
  blocks.emplace_back(std::move(call));
  return {};
}

Result<ToolUseBlock> MessageReader::read_call(const JsonPlace& call) {
  ZH_RETURN_IF_ERROR(call.expect_object());
  ZH_ASSIGN_OR_RETURN(auto id, parse_openai_text(call, "id"));
  if (!id && options_.strict()) ZH_RETURN_IF_ERROR(call.require("id"));
  if (!id) id = next_call_id();
  if (const auto custom = call.find("custom")) {
    ZH_RETURN_IF_ERROR(custom->expect_object());
    ZH_ASSIGN_OR_RETURN(const JsonPlace name, custom->require("name"));
    ZH_ASSIGN_OR_RETURN(const std::string_view name_text, name.string());
    ZH_ASSIGN_OR_RETURN(auto input, parse_openai_text(*custom, "input"));
    open_calls_.push_back({*id, std::string(name_text)});
    return ToolUseBlock{*std::move(id), std::string(name_text),
                        openai_custom_input(input.value_or(std::string()))};
  }
  ZH_ASSIGN_OR_RETURN(const JsonPlace function, call.require("function"));
  return read_function(function, *std::move(id));
}

Result<ToolUseBlock> MessageReader::read_function(const JsonPlace& function, std::string id) {
  ZH_RETURN_IF_ERROR(function.expect_object());
  ZH_ASSIGN_OR_RETURN(const JsonPlace name, function.require("name"));
  ZH_ASSIGN_OR_RETURN(const std::string_view name_text, name.string());
  ZH_ASSIGN_OR_RETURN(std::string input, parse_openai_arguments(function, "arguments"));
  open_calls_.push_back({id, std::string(name_text)});
  return ToolUseBlock{std::move(id), std::string(name_text), std::move(input)};
}

Result<void> MessageReader::read_result(const JsonPlace& place) {
  ToolResultBlock result;
  ZH_ASSIGN_OR_RETURN(result.tool_use_id, answered_call(place));
  if (const auto content = place.find("content")) {
    ZH_ASSIGN_OR_RETURN(result.content, parse_openai_tool_result(*content));
  } else if (options_.strict()) {
    ZH_RETURN_IF_ERROR(place.require("content"));
  }
  if (!last_is_result_) messages_.push_back(Message{Role::kUser, {}});
  last_is_result_ = true;
  messages_.back().content.emplace_back(std::move(result));
  return {};
}

Result<std::string> MessageReader::answered_call(const JsonPlace& place) {
  ZH_ASSIGN_OR_RETURN(const auto id, parse_openai_text(place, "tool_call_id"));
  ZH_ASSIGN_OR_RETURN(const auto name, parse_openai_text(place, "name"));
  for (auto call = open_calls_.begin(); call != open_calls_.end(); ++call) {
    const bool fits = id ? call->id == *id : (!name || call->name == *name);
    if (!fits) continue;
    std::string answered = std::move(call->id);
    open_calls_.erase(call);
    return answered;
  }
  if (options_.strict()) {
    return place.error("must answer a call of the preceding assistant message");
  }
  if (id) return *id;
  ZH_RETURN_IF_ERROR(place.require("tool_call_id"));
  return place.error("needs a tool_call_id that is not empty");
}

}  // namespace

Result<std::vector<Message>> parse_openai_messages(const JsonPlace& messages,
                                                   const ParseOptions& options) {
  ZH_ASSIGN_OR_RETURN(const std::size_t count, messages.array_size(limits::kMessagesMax));
  if (count == 0) return messages.error("at least one message is required");
  MessageReader reader(options);
  for (std::size_t i = 0; i < count; ++i) ZH_RETURN_IF_ERROR(reader.read(messages.element(i)));
  return reader.take();
}

}  // namespace zerohop
