#include "app/constraint_precompile.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "api/anthropic_request.h"
#include "api/error_body.h"
#include "api/openai_chat_request.h"
#include "app/dialect_call.h"
#include "app/request_profile.h"

namespace zerohop {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 5> kRequestMembers{"tools", "tool_choice", "output_config",
                                                          "output_format", "response_format"};
constexpr std::array<std::string_view, 7> kSchemaTypes{"null",   "boolean", "integer", "number",
                                                       "string", "array",   "object"};
// What a schema has at least one of.
constexpr std::array<std::string_view, 14> kSchemaMembers{
    "$ref",  "$dynamicRef", "type",  "properties", "items", "enum",     "const",
    "allOf", "anyOf",       "oneOf", "not",        "if",    "required", "additionalProperties"};
constexpr std::size_t kFileBytesMax = std::size_t{64} << 20;

Error wrong(const std::string& file, const std::string& what) {
  return Error{
      ErrorCode::kConfiguration, "constraints.precompile: '" + file + "': " + what, "", {}};
}

Result<std::string> read_text(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return wrong(file, "cannot be read");
  std::string text;
  std::array<char, 65'536> piece{};
  while (stream.read(piece.data(), piece.size()) || stream.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
    if (text.size() > kFileBytesMax) return wrong(file, "is too large");
  }
  return text;
}

bool has_any(const json::object& object, std::span<const std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return object.contains(name); });
}

bool holds_object(const json::object& object, std::string_view name) {
  const json::value* member = object.if_contains(name);
  return member != nullptr && member->is_object();
}

// The value of `output_config.format` or `response_format`: its type is none of a schema's.
bool is_format(const json::object& object) {
  const json::value* type = object.if_contains("type");
  const json::string* name = type == nullptr ? nullptr : type->if_string();
  return name != nullptr &&
         std::ranges::find(kSchemaTypes, std::string_view(*name)) == kSchemaTypes.end();
}

// What a file holds, as members of a request; empty: none of what it may.
std::string members_of(const json::value& content, const std::string& text) {
  if (content.is_array()) return "\"tools\":" + text;
  const json::object& object = content.as_object();
  if (is_format(object)) return "\"output_config\":{\"format\":" + text + "}";
  if (holds_object(object, "format")) return "\"output_config\":" + text;
  if (has_any(object, kSchemaMembers)) {
    return R"("output_config":{"format":{"type":"json_schema","schema":)" + text + "}}";
  }
  for (const std::string_view inner : {"json_schema", "schema"}) {  // a format without its type
    if (!holds_object(object, inner)) continue;
    const std::string schema = inner == "schema" ? "{\"json_schema\":" + text + "}" : text;
    return R"("response_format":{"type":"json_schema",)" + schema.substr(schema.find('{') + 1);
  }
  return {};
}

// The file as the body of a request with one message. Spliced, so that numbers keep their digits.
Result<std::string> request_of(const json::value& content, const std::string& text) {
  constexpr std::string_view kMessages = R"({"messages":[{"role":"user","content":"."}],)";
  const json::object* object = content.if_object();
  if (object != nullptr && has_any(*object, kRequestMembers)) {
    if (object->contains("messages")) return text;
    return std::string(kMessages) + text.substr(text.find('{') + 1);
  }
  const std::string members = members_of(content, text);
  if (members.empty()) {
    return invalid_request("",
                           "holds neither tools, nor the format of an answer, nor a JSON Schema");
  }
  return std::string(kMessages) + members + "}";
}

// Tools of the OpenAI dialect stand inside of a member.
bool is_openai(const json::value& content) {
  const json::value* tools = &content;
  if (const json::object* object = content.if_object()) tools = object->if_contains("tools");
  const json::array* list = tools == nullptr ? nullptr : tools->if_array();
  return list != nullptr && std::ranges::any_of(*list, [](const json::value& tool) {
           return tool.is_object() && tool.as_object().contains("function");
         });
}

Result<Conversation> parse_content(const json::value& content, const std::string& text) {
  ZH_ASSIGN_OR_RETURN(const std::string body, request_of(content, text));
  if (is_openai(content)) {
    ZH_ASSIGN_OR_RETURN(OpenAiChatRequest request, parse_chat_completions_request(body, {}));
    return std::move(request.chat.conversation);
  }
  ZH_ASSIGN_OR_RETURN(AnthropicRequest request, parse_messages_request(body, {}));
  return std::move(request.chat.conversation);
}

bool is_constrained(const Conversation& conversation) {
  return !conversation.tools.empty() || conversation.output.format != OutputFormat::kText;
}

Result<void> compile(Service& service, Conversation conversation) {
  const CallScope scope{service, service.live.get()};
  apply_configured_habits(scope, conversation);
  ZH_ASSIGN_OR_RETURN(const PreparedPrompt prompt, service.tier().prompts().prepare(conversation));
  ZH_RETURN_IF_ERROR(constrain_answer(scope, {prompt.output, conversation}));
  return {};
}

Result<void> compile_file(Service& service, const std::string& file) {
  ZH_ASSIGN_OR_RETURN(const std::string text, read_text(file));
  boost::system::error_code fault;
  const json::value content = json::parse(text, fault);
  if (fault) return wrong(file, "is no JSON: " + fault.message());
  if (!content.is_array() && !content.is_object()) {
    return wrong(file, "holds neither a list of tools nor an object");
  }
  Result<Conversation> conversation = parse_content(content, text);
  if (!conversation.ok()) return wrong(file, error_text(conversation.error()));
  if (!is_constrained(*conversation)) {
    return wrong(file, "asks for nothing: it holds no tool, and no format but text");
  }
  const Result<void> compiled = compile(service, std::move(conversation).value());
  if (!compiled.ok()) return wrong(file, error_text(compiled.error()));
  return {};
}

}  // namespace

Result<void> precompile_constraints(Service& service) {
  if (!service.config.constraints.enabled) return {};
  for (const std::string& file : service.config.constraints.precompile) {
    ZH_RETURN_IF_ERROR(compile_file(service, file));
  }
  const std::shared_ptr<const LiveConfig> live = service.live.get();
  for (const RequestProfile& profile : live->profiles.all()) {
    if (!is_constrained(profile.conversation)) continue;
    const Result<void> compiled = compile(service, profile.conversation);
    if (!compiled.ok()) {
      return Error{ErrorCode::kConfiguration,
                   "prompt.profiles: '" + profile.name + "': " + error_text(compiled.error()),
                   "",
                   {}};
    }
  }
  return {};
}

}  // namespace zerohop
