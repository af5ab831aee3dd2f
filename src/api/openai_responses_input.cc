#include "api/openai_responses_input.h"

#include <algorithm>
#include <array>
#include <cstddef>
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

constexpr std::array<std::string_view, 9> kLeftOut{
    "web_search_call",  "file_search_call",     "code_interpreter_call",
    "tool_search_call", "tool_search_output",   "image_generation_call",
    "mcp_list_tools",   "mcp_approval_request", "mcp_approval_response"};

struct RefusedItem {
  std::string_view type;
  std::string_view what;  // completes "… not supported by this server"
};
constexpr std::array<RefusedItem, 16> kRefused{
    {{"item_reference", "references to stored items (give the item itself) are"},
     {"compaction", "compacted conversations are"},
     {"compaction_trigger", "compaction is"},
     {"configuration_update", "updates of settings inside the input (set them in the request) are"},
     {"additional_tools", "tools inside the input (give them in `tools`) are"},
     {"program", "programs that call tools are"},
     {"program_output", "programs that call tools are"},
     {"mcp_call", "calls of MCP servers are"},
     {"computer_call", "computer use is"},
     {"computer_call_output", "computer use is"},
     {"local_shell_call", "the built-in shell is"},
     {"local_shell_call_output", "the built-in shell is"},
     {"shell_call", "the built-in shell is"},
     {"shell_call_output", "the built-in shell is"},
     {"apply_patch_call", "the built-in patch tool is"},
     {"apply_patch_call_output", "the built-in patch tool is"}}};

// Reads items one after another.
class ItemReader {
 public:
  Result<void> read(const JsonPlace& item);
  bool empty() const { return messages_.empty(); }
  std::vector<Message> take();

 private:
  enum class Last : std::uint8_t { kNothing, kPlain, kAssistant, kResult };

  Result<void> read_message(const JsonPlace& item);
  Result<void> read_call(const JsonPlace& item);
  Result<void> read_custom_call(const JsonPlace& item);
  Result<void> read_output(const JsonPlace& item);
  Result<void> read_reasoning(const JsonPlace& item);
  std::vector<ContentBlock>& turn(Role role, Last kind);

  std::vector<Message> messages_;
  Last last_ = Last::kNothing;
};

Result<void> ItemReader::read(const JsonPlace& item) {
  ZH_RETURN_IF_ERROR(item.expect_object());
  std::string_view type = "message";
  const auto type_place = item.find("type");
  if (type_place) {
    ZH_ASSIGN_OR_RETURN(type, type_place->string());
  }
  if (type == "message") return read_message(item);
  if (type == "function_call") return read_call(item);
  if (type == "custom_tool_call") return read_custom_call(item);
  if (type == "function_call_output" || type == "custom_tool_call_output") return read_output(item);
  if (type == "reasoning") return read_reasoning(item);
  if (std::find(kLeftOut.begin(), kLeftOut.end(), type) != kLeftOut.end()) return {};
  for (const RefusedItem& refused : kRefused) {
    if (refused.type == type) return openai_unsupported(*type_place, refused.what);
  }
  return type_place->expected("a known type of input item");
}

std::vector<Message> ItemReader::take() {
  Message& last = messages_.back();
  if (last.role == Role::kAssistant) trim_openai_prefill(last.content);
  return std::move(messages_);
}

// The turn that an item of that kind goes into: the last one, or a new one.
std::vector<ContentBlock>& ItemReader::turn(Role role, Last kind) {
  if (last_ != kind || kind == Last::kPlain) messages_.push_back(Message{role, {}});
  last_ = kind;
  return messages_.back().content;
}

Result<void> ItemReader::read_message(const JsonPlace& item) {
  ZH_ASSIGN_OR_RETURN(const JsonPlace role_place, item.require("role"));
  ZH_ASSIGN_OR_RETURN(const std::string_view role, role_place.string());
  std::vector<OpenAiPart> parts;
  if (const auto content = item.find("content")) {
    ZH_ASSIGN_OR_RETURN(parts, parse_openai_content(*content, OpenAiContentOf::kMessage));
  }
  if (role == "assistant") {
    add_openai_parts(std::move(parts), turn(Role::kAssistant, Last::kAssistant));
  } else if (role == "user") {
    add_openai_parts(std::move(parts), turn(Role::kUser, Last::kPlain));
  } else if (role == "system" || role == "developer") {
    add_openai_parts(std::move(parts), turn(Role::kSystem, Last::kPlain));
  } else {
    return role_place.expected(R"("system", "developer", "user" or "assistant")");
  }
  return {};
}

struct CallHead {
  std::string id;
  std::string name;
};

Result<std::string> required_text(const JsonPlace& item, std::string_view key) {
  ZH_ASSIGN_OR_RETURN(const JsonPlace place, item.require(key));
  ZH_ASSIGN_OR_RETURN(const std::string_view text, place.string());
  if (text.empty()) return place.error("must not be empty");
  return std::string(text);
}

Result<CallHead> parse_call_head(const JsonPlace& item) {
  CallHead head;
  ZH_ASSIGN_OR_RETURN(head.id, required_text(item, "call_id"));
  ZH_ASSIGN_OR_RETURN(head.name, required_text(item, "name"));
  return head;
}

Result<void> ItemReader::read_call(const JsonPlace& item) {
  ZH_ASSIGN_OR_RETURN(CallHead head, parse_call_head(item));
  ZH_ASSIGN_OR_RETURN(std::string input, parse_openai_arguments(item, "arguments"));
  turn(Role::kAssistant, Last::kAssistant)
      .emplace_back(ToolUseBlock{std::move(head.id), std::move(head.name), std::move(input)});
  return {};
}

Result<void> ItemReader::read_custom_call(const JsonPlace& item) {
  ZH_ASSIGN_OR_RETURN(CallHead head, parse_call_head(item));
  ZH_ASSIGN_OR_RETURN(const auto input, parse_openai_text(item, "input"));
  turn(Role::kAssistant, Last::kAssistant)
      .emplace_back(ToolUseBlock{std::move(head.id), std::move(head.name),
                                 openai_custom_input(input.value_or(std::string()))});
  return {};
}

Result<void> ItemReader::read_output(const JsonPlace& item) {
  ToolResultBlock result;
  ZH_ASSIGN_OR_RETURN(result.tool_use_id, required_text(item, "call_id"));
  if (const auto output = item.find("output")) {
    ZH_ASSIGN_OR_RETURN(result.content, parse_openai_tool_result(*output));
  }
  turn(Role::kUser, Last::kResult).emplace_back(std::move(result));
  return {};
}

// The text of a list of parts of reasoning.
Result<std::string> join_texts(const JsonPlace& list) {
  ZH_ASSIGN_OR_RETURN(auto parts, parse_openai_content(list, OpenAiContentOf::kMessage));
  std::string text;
  for (const OpenAiPart& part : parts) {
    const auto* block = std::get_if<TextBlock>(&part);
    if (block == nullptr) continue;
    if (!text.empty()) text.append("\n\n");
    text.append(block->text);
  }
  return text;
}

Result<void> ItemReader::read_reasoning(const JsonPlace& item) {
  std::string text;
  if (const auto content = item.find("content")) {
    ZH_ASSIGN_OR_RETURN(text, join_texts(*content));
  }
  if (text.empty()) {
    if (const auto summary = item.find("summary")) {
      ZH_ASSIGN_OR_RETURN(text, join_texts(*summary));
    }
  }
  // Only the vendor can read its encrypted reasoning.
  if (text.empty()) return {};
  turn(Role::kAssistant, Last::kAssistant).emplace_back(ThinkingBlock{std::move(text)});
  return {};
}

}  // namespace

Result<std::vector<Message>> parse_openai_input(const JsonPlace& input) {
  if (input.is_string()) {
    ZH_ASSIGN_OR_RETURN(auto parts, parse_openai_content(input, OpenAiContentOf::kMessage));
    std::vector<Message> messages{Message{Role::kUser, {}}};
    add_openai_parts(std::move(parts), messages.back().content);
    return messages;
  }
  if (!input.is_array()) return input.expected("a string or an array of input items");
  ZH_ASSIGN_OR_RETURN(const std::size_t count, input.array_size(limits::kMessagesMax));
  ItemReader reader;
  for (std::size_t i = 0; i < count; ++i) ZH_RETURN_IF_ERROR(reader.read(input.element(i)));
  if (reader.empty()) return input.error("at least one message is required");
  return reader.take();
}

}  // namespace zerohop
