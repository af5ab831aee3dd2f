#include "api/openai_responses_wire.h"

#include <utility>
#include <variant>

#include "api/error_body.h"
#include "api/json_writer.h"
#include "base/check.h"

namespace zerohop {
namespace {

ResponseItemKind kind_of(const Event& event) {
  if (std::holds_alternative<TextDelta>(event)) return ResponseItemKind::kMessage;
  if (std::holds_alternative<ThinkingDelta>(event)) return ResponseItemKind::kReasoning;
  return ResponseItemKind::kFunctionCall;
}

std::string_view id_prefix(ResponseItemKind kind) {
  switch (kind) {
    case ResponseItemKind::kReasoning: return "rs_";
    case ResponseItemKind::kMessage: return "msg_";
    case ResponseItemKind::kFunctionCall: return "fc_";
  }
  return "";
}

std::string_view status_name(ResponseItemStatus status) {
  switch (status) {
    case ResponseItemStatus::kInProgress: return "in_progress";
    case ResponseItemStatus::kCompleted: return "completed";
    case ResponseItemStatus::kIncomplete: return "incomplete";
  }
  return "";
}

bool cut_off(FinishReason reason) {
  return reason == FinishReason::kMaxTokens || reason == FinishReason::kContextWindow;
}

// Agents look for a context overflow and for rate limits; the rest is the server's fault to them.
std::string_view failure_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidRequest: return "invalid_prompt";
    case ErrorCode::kPromptTooLong: return "context_length_exceeded";
    case ErrorCode::kRateLimited: return "rate_limit_exceeded";
    case ErrorCode::kOverloaded:
    case ErrorCode::kShed: return "server_is_overloaded";
    default: return "server_error";
  }
}

void append_error(const Error* error, std::string& out) {
  if (error == nullptr) {
    out.append("null");
    return;
  }
  out.append(R"({"code":")").append(failure_code(error->code)).append(R"(","message":)");
  append_json_untrusted(error_text(*error), out);
  out.push_back('}');
}

void append_usage(const Usage& usage, std::string& out) {
  out.append(R"({"input_tokens":)");
  append_json_integer(usage.prompt_tokens, out);
  out.append(R"(,"input_tokens_details":{"cached_tokens":)");
  append_json_integer(usage.prompt_tokens_cached, out);
  out.append(R"(,"cache_write_tokens":)");
  append_json_integer(usage.prompt_tokens_written(), out);
  out.append(R"(},"output_tokens":)");
  append_json_integer(usage.output_tokens, out);
  out.append(R"(,"output_tokens_details":{"reasoning_tokens":)");
  append_json_integer(usage.thinking_tokens, out);
  out.append(R"(},"total_tokens":)");
  append_json_integer(std::int64_t{usage.prompt_tokens} + usage.output_tokens, out);
  out.push_back('}');
}

void append_part_list(const ResponseItem& item, std::string& out) {
  out.push_back('[');
  if (item.status != ResponseItemStatus::kInProgress) {
    append_response_part(item.kind, item.text, out);
  }
  out.push_back(']');
}

void append_call(const ResponseItem& item, std::string& out) {
  out.append(R"(,"call_id":)");
  append_json_string(item.call_id, out);
  out.append(R"(,"name":)");
  append_json_string(item.name, out);
  out.append(R"(,"arguments":)");
  const bool announced = item.status == ResponseItemStatus::kInProgress;
  append_json_string(announced ? std::string_view() : std::string_view(item.text), out);
}

}  // namespace

ResponseItems::ResponseItems(const std::string& response_id) {
  constexpr std::string_view kPrefix = "resp_";
  const bool prefixed = response_id.starts_with(kPrefix);
  id_tail_ = prefixed ? response_id.substr(kPrefix.size()) : response_id;
}

bool ResponseItems::continues(const Event& event) const {
  if (!open_ || std::holds_alternative<ToolCallStarted>(event)) return false;
  return items_.back().kind == kind_of(event);
}

void ResponseItems::open(const Event& event) {
  ZH_CHECK(!open_ && !std::holds_alternative<ToolCallDelta>(event));
  ResponseItem item;
  item.kind = kind_of(event);
  item.id.append(id_prefix(item.kind)).append(id_tail_);
  item.id.append("_").append(std::to_string(items_.size()));
  if (const auto* call = std::get_if<ToolCallStarted>(&event)) {
    item.call_id = call->id;
    item.name = call->name;
  }
  items_.push_back(std::move(item));
  open_ = true;
}

void ResponseItems::add(const Event& event) {
  ZH_CHECK(open_);
  items_.back().text.append(response_delta_text(event));
}

void ResponseItems::close(ResponseItemStatus status) {
  ZH_CHECK(open_);
  items_.back().status = status;
  open_ = false;
}

std::string_view response_delta_text(const Event& event) {
  if (const auto* text = std::get_if<TextDelta>(&event)) return text->text;
  if (const auto* thinking = std::get_if<ThinkingDelta>(&event)) return thinking->text;
  if (const auto* arguments = std::get_if<ToolCallDelta>(&event)) return arguments->json;
  return {};
}

void append_response_part(ResponseItemKind kind, std::string_view text, std::string& out) {
  if (kind == ResponseItemKind::kReasoning) {
    out.append(R"({"type":"summary_text","text":)");
    append_json_string(text, out);
    out.push_back('}');
    return;
  }
  out.append(R"({"type":"output_text","text":)");
  append_json_string(text, out);
  out.append(R"(,"annotations":[],"logprobs":[]})");
}

void append_response_item(const ResponseItem& item, std::string& out) {
  out.append(R"({"id":)");
  append_json_string(item.id, out);
  switch (item.kind) {
    case ResponseItemKind::kReasoning:
      out.append(R"(,"type":"reasoning","summary":)");
      append_part_list(item, out);
      break;
    case ResponseItemKind::kMessage:
      out.append(R"(,"type":"message","role":"assistant","content":)");
      append_part_list(item, out);
      break;
    case ResponseItemKind::kFunctionCall:
      out.append(R"(,"type":"function_call")");
      append_call(item, out);
      break;
  }
  out.append(R"(,"status":")").append(status_name(item.status)).append("\"}");
}

std::string_view response_status(const ResponseState& state) {
  if (state.error != nullptr) return "failed";
  if (state.finished == nullptr) return "in_progress";
  return cut_off(state.finished->reason) ? "incomplete" : "completed";
}

void append_response(const OpenAiResponsesReplyOptions& options, const ResponseState& state,
                     std::string& out) {
  const std::string_view status = response_status(state);
  out.append(R"({"id":)");
  append_json_string(options.head.id, out);
  out.append(R"(,"object":"response","created_at":)");
  append_json_integer(options.head.created, out);
  out.append(R"(,"status":")").append(status).append(R"(","error":)");
  append_error(state.error, out);
  out.append(R"(,"incomplete_details":)");
  out.append(status == "incomplete" ? R"({"reason":"max_output_tokens"})" : "null");
  out.append(R"(,"model":)");
  append_json_string(options.head.model, out);
  out.append(R"(,"output":[)");
  bool first = true;
  for (const ResponseItem& item : *state.items) {
    if (!first) out.push_back(',');
    append_response_item(item, out);
    first = false;
  }
  out.append("],").append(options.echo);
  if (!options.head.service_tier.empty()) {
    out.append(R"(,"service_tier":")").append(options.head.service_tier).append("\"");
  }
  out.append(R"(,"usage":)");
  if (state.finished != nullptr) {
    append_usage(state.finished->usage, out);
  } else {
    out.append("null");
  }
  out.push_back('}');
}

}  // namespace zerohop
