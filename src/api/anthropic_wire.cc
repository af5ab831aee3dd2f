#include "api/anthropic_wire.h"

#include <algorithm>
#include <array>

#include "api/json_writer.h"
#include "base/random.h"

namespace zerohop {
namespace {

// The protocol's name of a cause; empty: null.
std::string_view miss_reason(MissCause cause) {
  switch (cause) {
    case MissCause::kModelChanged:
    case MissCause::kSystemChanged:
    case MissCause::kToolsChanged:
    case MissCause::kMessagesChanged: return miss_cause_name(cause);
    case MissCause::kCold:
    case MissCause::kOtherTenant: return "previous_message_not_found";
    case MissCause::kEvicted: return "unavailable";
    case MissCause::kNone: break;
  }
  return {};
}

bool is_change(MissCause cause) {
  return cause == MissCause::kModelChanged || cause == MissCause::kSystemChanged ||
         cause == MissCause::kToolsChanged || cause == MissCause::kMessagesChanged;
}

void append_miss_reason(const CacheMiss& miss, std::string& out) {
  const std::string_view reason = miss_reason(miss.cause);
  if (reason.empty()) {
    out.append("null");
    return;
  }
  out.append(R"({"type":")").append(reason).append("\"");
  if (is_change(miss.cause)) {
    out.append(R"(,"cache_missed_input_tokens":)");
    append_json_integer(miss.missed_tokens, out);
  }
  out.push_back('}');
}

void append_tool_conflicts(const std::vector<ToolConflictNote>& conflicts, std::string& out) {
  if (conflicts.empty()) return;
  out.append(R"(,"tool_conflicts":)");
  char separator = '[';
  for (const ToolConflictNote& conflict : conflicts) {
    out.push_back(separator);
    out.append(R"({"tool":)");
    append_json_string(conflict.tool, out);
    out.append(R"(,"argument":)");
    append_json_string(conflict.argument, out);
    out.append(R"(,"value":)").append(conflict.value).append("}");
    separator = ',';
  }
  out.push_back(']');
}

}  // namespace

std::string_view anthropic_stop_reason(FinishReason reason) {
  switch (reason) {
    case FinishReason::kEndOfTurn: return "end_turn";
    case FinishReason::kMaxTokens: return "max_tokens";
    case FinishReason::kContextWindow: return "model_context_window_exceeded";
    case FinishReason::kStopSequence: return "stop_sequence";
    case FinishReason::kToolUse: return "tool_use";
  }
  return "end_turn";
}

FinishReason reason_with_calls(FinishReason reason, bool has_calls) {
  return has_calls && reason == FinishReason::kEndOfTurn ? FinishReason::kToolUse : reason;
}

void append_anthropic_usage(const Usage& usage, const AnthropicReplyOptions& options,
                            std::string& out) {
  const std::uint32_t written = usage.prompt_tokens_written();
  out.append(R"({"input_tokens":)");
  append_json_integer(usage.prompt_tokens_computed() - written, out);
  out.append(R"(,"cache_creation_input_tokens":)");
  append_json_integer(written, out);
  out.append(R"(,"cache_read_input_tokens":)");
  append_json_integer(usage.prompt_tokens_cached, out);
  out.append(R"(,"output_tokens":)");
  append_json_integer(usage.output_tokens, out);
  if (usage.thinking_tokens > 0) {
    out.append(R"(,"output_tokens_details":{"thinking_tokens":)");
    append_json_integer(usage.thinking_tokens, out);
    out.push_back('}');
  }
  if (!options.service_tier.empty()) {
    out.append(R"(,"service_tier":")").append(options.service_tier).append("\"");
  }
  out.push_back('}');
}

void append_anthropic_stop(FinishReason reason, std::string_view stop_sequence, std::string& out) {
  out.append(R"("stop_reason":")").append(anthropic_stop_reason(reason));
  out.append(R"(","stop_sequence":)");
  if (reason == FinishReason::kStopSequence) {
    append_json_string(stop_sequence, out);
  } else {
    out.append("null");
  }
  out.append(R"(,"stop_details":null)");
}

void append_anthropic_head(const ReplyHead& head, std::string& out) {
  out.append(R"("id":)");
  append_json_string(head.message_id, out);
  out.append(R"(,"type":"message","role":"assistant","model":)");
  append_json_string(head.model, out);
}

void append_diagnostics(const AnthropicReplyOptions& options, const CacheMiss& miss,
                        std::string& out) {
  if (!options.diagnostics.any && !options.prompt_tokens) return;
  out.append(R"(,"diagnostics":{"cache_miss_reason":)");
  append_miss_reason(options.diagnostics.cache_miss ? miss : CacheMiss{}, out);
  if (!options.prompt_ends_with_stop.empty()) {
    out.append(R"(,"warnings":[{"type":"prompt_ends_with_stop_sequence","stop_sequence":)");
    append_json_string(options.prompt_ends_with_stop, out);
    out.append("}]");
  }
  if (const auto& tokens = options.prompt_tokens) {
    out.append(R"(,"prompt_tokens":{"system":)");
    append_json_integer(tokens->system, out);
    out.append(R"(,"tools":)");
    append_json_integer(tokens->tools, out);
    out.append(R"(,"messages":)");
    append_json_integer(tokens->messages, out);
    out.append(R"(,"markup":)");
    append_json_integer(tokens->markup, out);
    out.push_back('}');
  }
  append_tool_conflicts(options.tool_conflicts, out);
  out.push_back('}');
}

void append_context_management(const AnthropicReplyOptions& options, std::string& out) {
  if (options.context_management) out.append(R"(,"context_management":{"applied_edits":[]})");
}

void append_tool_use(const ToolUseFace& call, const AnthropicReplyOptions& options,
                     std::string& out) {
  const auto& calls = options.toolset_calls;
  const auto member = std::ranges::find(calls, call.name, &ToolsetCall::model_name);
  out.append(R"({"type":"tool_use","id":)");
  append_json_string(call.id, out);
  out.append(R"(,"name":)");
  append_json_string(member == calls.end() ? call.name : member->member, out);
  out.append(R"(,"input":)").append(call.input).append(R"(,"caller":{"type":"direct"})");
  if (member != calls.end()) {
    out.append(R"(,"toolset_name":)");
    append_json_string(member->toolset, out);
  }
  out.push_back('}');
}

std::string thinking_signature(std::string_view message_id, std::uint32_t block) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::size_t kWords = 4;
  std::uint64_t state = block;
  for (const char c : message_id) state = mix64(state ^ static_cast<unsigned char>(c));
  std::string signature;
  for (std::size_t word = 0; word < kWords; ++word) {
    state = mix64(state + word);
    for (int shift = 60; shift >= 0; shift -= 4) signature.push_back(kHex[state >> shift & 15]);
  }
  return signature;
}

}  // namespace zerohop
