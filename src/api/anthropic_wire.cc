#include "api/anthropic_wire.h"

#include "api/json_writer.h"

namespace zerohop {

std::string_view anthropic_stop_reason(FinishReason reason) {
  switch (reason) {
    case FinishReason::kEndOfTurn: return "end_turn";
    case FinishReason::kMaxTokens: return "max_tokens";
    case FinishReason::kContextWindow: return "model_context_window_exceeded";
    case FinishReason::kStopSequence: return "stop_sequence";
  }
  return "end_turn";
}

void append_anthropic_usage(const Usage& usage, std::string& out) {
  out.append(R"({"input_tokens":)");
  append_json_integer(usage.prompt_tokens_computed(), out);
  out.append(R"(,"cache_creation_input_tokens":0,"cache_read_input_tokens":)");
  append_json_integer(usage.prompt_tokens_cached, out);
  out.append(R"(,"output_tokens":)");
  append_json_integer(usage.output_tokens, out);
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

}  // namespace zerohop
