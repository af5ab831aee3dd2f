#include "api/anthropic_request.h"

#include <array>
#include <string>
#include <utility>

#include "api/anthropic_conversation.h"
#include "api/anthropic_generation.h"
#include "api/json_place.h"
#include "api/json_reader.h"
#include "core/limits.h"

namespace zerohop {
namespace {

struct UnsupportedField {
  std::string_view field;
  std::string_view what;  // completes "… is/are not supported by this server"
};

// Refused when present and neither null nor an empty array.
constexpr std::array<UnsupportedField, 5> kUnsupported{{
    {"tools", "tools are"},
    {"mcp_servers", "MCP servers are"},
    {"container", "server-side containers are"},
    {"thread", "server-held threads are"},
    {"output_format", "structured output is"},
}};

bool is_empty_array(const boost::json::value& value) {
  const auto* array = value.if_array();
  return array != nullptr && array->empty();
}

Error unsupported(const JsonPlace& place, std::string_view what) {
  return place.error(std::string(what) + " not supported by this server");
}

Result<void> refuse_unsupported(const JsonPlace& body) {
  for (const UnsupportedField& entry : kUnsupported) {
    const auto place = body.find(entry.field);
    if (place && !is_empty_array(place->value())) return unsupported(*place, entry.what);
  }
  if (const auto output = body.find("output_config")) {
    ZH_RETURN_IF_ERROR(output->expect_object());
    if (const auto format = output->find("format")) {
      return unsupported(*format, "structured output is");
    }
  }
  return {};
}

// Known fields that have no effect here yet must still have the right type.
Result<void> check_ignored(const JsonPlace& body) {
  if (const auto thinking = body.find("thinking")) ZH_RETURN_IF_ERROR(thinking->expect_object());
  const auto metadata = body.find("metadata");
  if (!metadata) return {};
  ZH_RETURN_IF_ERROR(metadata->expect_object());
  if (const auto user = metadata->find("user_id")) ZH_RETURN_IF_ERROR(user->string());
  return {};
}

Result<std::string> parse_model(const JsonPlace& body, const ParseOptions& options) {
  const auto place = body.find("model");
  if (!place) {
    if (options.strict()) ZH_RETURN_IF_ERROR(body.require("model"));
    return std::string();
  }
  ZH_ASSIGN_OR_RETURN(const std::string_view name, place->string());
  if (name.size() > limits::kModelNameBytesMax) {
    return place->error("must be at most " + std::to_string(limits::kModelNameBytesMax) +
                        " bytes long, got " + std::to_string(name.size()));
  }
  return std::string(name);
}

// What both endpoints read.
Result<ChatRequest> parse_prompt(const JsonPlace& body, const ParseOptions& options) {
  ZH_RETURN_IF_ERROR(body.expect_object());
  ZH_RETURN_IF_ERROR(refuse_unsupported(body));
  ChatRequest request;
  ZH_ASSIGN_OR_RETURN(request.model, parse_model(body, options));
  ZH_ASSIGN_OR_RETURN(request.conversation, parse_anthropic_conversation(body, options));
  return request;
}

}  // namespace

Result<ChatRequest> parse_messages_request(std::string_view body, const ParseOptions& options) {
  ZH_ASSIGN_OR_RETURN(const JsonDocument document, parse_json(body));
  const JsonPlace root(document.root());
  ZH_ASSIGN_OR_RETURN(ChatRequest request, parse_prompt(root, options));
  ZH_RETURN_IF_ERROR(check_ignored(root));
  // A compaction request wants another kind of reply; answering it as a chat would be wrong.
  if (const auto compaction = root.find("compaction")) {
    return unsupported(*compaction, "compaction is");
  }
  ZH_ASSIGN_OR_RETURN(request.generation, parse_anthropic_generation(root, options));
  if (const auto stream = root.find("stream")) {
    ZH_ASSIGN_OR_RETURN(request.stream, stream->boolean());
  }
  return request;
}

Result<ChatRequest> parse_count_tokens_request(std::string_view body, const ParseOptions& options) {
  ZH_ASSIGN_OR_RETURN(const JsonDocument document, parse_json(body));
  const JsonPlace root(document.root());
  return parse_prompt(root, options);
}

}  // namespace zerohop
