#include "api/anthropic_request.h"

#include <array>
#include <string>
#include <utility>

#include "api/anthropic_conversation.h"
#include "api/anthropic_generation.h"
#include "api/anthropic_settings.h"
#include "api/anthropic_tool_choice.h"
#include "api/json_place.h"
#include "api/json_reader.h"
#include "api/output_rules.h"
#include "api/request_labels.h"
#include "api/service_fields.h"
#include "api/shared_fields.h"
#include "core/limits.h"

namespace zerohop {
namespace {

struct UnsupportedField {
  std::string_view field;
  std::string_view what;    // completes "… is/are not supported by this server"
  std::string_view detail;  // for programs; may be empty
};

// Refused when present and neither null nor an empty array.
constexpr std::array<UnsupportedField, 3> kUnsupported{{
    {"mcp_servers", "MCP servers are", ""},
    {"container", "server-side containers are", ""},
    {"thread", "server-held threads are", "thread_unsupported_request"},
}};

bool is_empty_array(const boost::json::value& value) {
  const auto* array = value.if_array();
  return array != nullptr && array->empty();
}

Result<void> refuse_unsupported(const JsonPlace& body) {
  for (const UnsupportedField& entry : kUnsupported) {
    const auto place = body.find(entry.field);
    if (!place || is_empty_array(place->value())) continue;
    Error error = place->error(std::string(entry.what) + " not supported by this server");
    error.detail = entry.detail;
    return error;
  }
  return {};
}

// A compaction request wants another kind of reply; answering it as a chat would be wrong.
Result<void> refuse_compaction(const JsonPlace& body) {
  const auto place = body.find("compaction");
  if (!place) return {};
  return place->error(
      "compaction is not supported by this server; ask for a summary in a message instead");
}

Result<void> check_version(const JsonPlace& body) {
  if (const auto place = body.find("anthropic_version")) ZH_RETURN_IF_ERROR(place->string());
  return {};
}

// True when the request asks for edits of its context. None is made: what a client wants to keep
// short, it can keep short itself, and a silent edit would change what the model reads.
Result<bool> parse_context_management(const JsonPlace& body) {
  const auto place = body.find("context_management");
  if (!place) return false;
  ZH_RETURN_IF_ERROR(place->expect_object());
  if (const auto edits = place->find("edits")) {
    ZH_RETURN_IF_ERROR(edits->array_size(limits::kJsonValuesMax));
  }
  return true;
}

// What both endpoints read.
struct ParsedPrompt {
  AnthropicRequest request;
  ThinkingSettings thinking;
};

Result<ParsedPrompt> parse_prompt(const JsonPlace& body, const ParseOptions& options) {
  ZH_RETURN_IF_ERROR(body.expect_object());
  ZH_RETURN_IF_ERROR(refuse_unsupported(body));
  ParsedPrompt parsed;
  ChatRequest& chat = parsed.request.chat;
  ZH_ASSIGN_OR_RETURN(chat.model, parse_model_name(body, options));
  ZH_ASSIGN_OR_RETURN(AnthropicConversation read, parse_anthropic_conversation(body, options));
  chat.conversation = std::move(read.conversation);
  parsed.request.reply.toolset_calls = std::move(read.tools.toolset_calls);
  ZH_ASSIGN_OR_RETURN(chat.conversation.tool_choice,
                      parse_anthropic_tool_choice(body, options, read.tools));
  chat.conversation.tools = std::move(read.tools.definitions);
  if (const auto constrain = body.find("constrain_tools")) {
    ZH_ASSIGN_OR_RETURN(chat.conversation.constrain_tools, constrain->boolean());
  }
  // Part of the prompt, so counted as well, though the hosted API's count takes no metadata.
  ZH_ASSIGN_OR_RETURN(chat.conversation.volatile_context, parse_metadata(body, options));
  ZH_ASSIGN_OR_RETURN(parsed.thinking, parse_thinking_settings(body, options));
  chat.conversation.thinking = parsed.thinking.mode;
  parsed.request.reply.thinking = parsed.thinking.display;
  ZH_ASSIGN_OR_RETURN(parsed.request.reply.diagnostics, parse_diagnostics(body));
  ZH_ASSIGN_OR_RETURN(chat.conversation.output, parse_output_rules(body, options));
  ZH_ASSIGN_OR_RETURN(parsed.request.reply.context_management, parse_context_management(body));
  return parsed;
}

// Rules of the hosted API that need more than one field.
Result<void> check_strictly(const JsonPlace& body, const ParsedPrompt& parsed) {
  const ChatRequest& chat = parsed.request.chat;
  if (parsed.thinking.mode != ThinkingMode::kEnabled) return {};
  const ToolChoiceKind choice = chat.conversation.tool_choice.kind;
  if (choice == ToolChoiceKind::kAny || choice == ToolChoiceKind::kTool) {
    return body.find("tool_choice")
        ->error("thinking may not be enabled when tool_choice forces tool use");
  }
  const auto& budget = parsed.thinking.budget_tokens;
  if (budget && *budget >= chat.generation.max_tokens) {
    return body.find("max_tokens")->error("must be greater than thinking.budget_tokens");
  }
  return {};
}

}  // namespace

Result<AnthropicRequest> parse_messages_request(std::string_view body,
                                                const ParseOptions& options) {
  ZH_ASSIGN_OR_RETURN(const JsonDocument document, parse_json(body));
  const JsonPlace root(document.root());
  ZH_ASSIGN_OR_RETURN(ParsedPrompt parsed, parse_prompt(root, options));
  ChatRequest& chat = parsed.request.chat;
  ZH_RETURN_IF_ERROR(check_version(root));
  ZH_RETURN_IF_ERROR(refuse_compaction(root));
  ZH_ASSIGN_OR_RETURN(chat.generation, parse_anthropic_generation(root, options));
  ZH_RETURN_IF_ERROR(refuse_cuts(root, chat.conversation.output, chat.generation));
  ZH_ASSIGN_OR_RETURN(const ServiceTier tier, parse_anthropic_service_tier(root, options));
  chat.generation.priority = tier.priority;
  chat.labels = request_labels(root);
  parsed.request.reply.service_tier = tier.answer;
  if (const auto stream = root.find("stream")) {
    ZH_ASSIGN_OR_RETURN(chat.stream, stream->boolean());
  }
  if (options.strict()) ZH_RETURN_IF_ERROR(check_strictly(root, parsed));
  return std::move(parsed.request);
}

Result<ChatRequest> parse_count_tokens_request(std::string_view body, const ParseOptions& options) {
  ZH_ASSIGN_OR_RETURN(const JsonDocument document, parse_json(body));
  const JsonPlace root(document.root());
  ZH_ASSIGN_OR_RETURN(ParsedPrompt parsed, parse_prompt(root, options));
  // The endpoint has no metadata, but what is rendered has to be counted.
  if (auto context = parse_metadata(root, options); context.ok()) {
    parsed.request.chat.conversation.volatile_context = *std::move(context);
  }
  return std::move(parsed.request.chat);
}

std::string anthropic_version_of(std::string_view body) {
  const auto document = parse_json(body);
  if (!document.ok()) return {};
  const JsonPlace root(document->root());
  return std::string(root.text_or_empty("anthropic_version"));
}

}  // namespace zerohop
