#include "api/anthropic_events.h"

#include <utility>
#include <variant>

#include "api/error_body.h"
#include "api/json_writer.h"
#include "base/check.h"

namespace zerohop {
namespace {

constexpr std::string_view kFrameEnd = "\n\n";
constexpr std::string_view kComment = ": waiting\n\n";

// `event: NAME`, and data as far as its type.
void begin_frame(std::string_view name, std::string& out) {
  out.append("event: ").append(name);
  out.append("\ndata: {\"type\":\"").append(name).append("\"");
}

}  // namespace

AnthropicStream::AnthropicStream(ReplyHead head, AnthropicReplyOptions options)
    : head_(std::move(head)), options_(std::move(options)) {}

void AnthropicStream::append(std::uint32_t choice, const Event& event, std::string& out) {
  ZH_CHECK(choice == 0);
  ZH_CHECK(state_ != State::kEnded);
  std::visit(Overloaded{[&](const Started& started) { start(started, out); },
                        [&](const TextDelta& delta) { add_text(delta, out); },
                        [&](const ThinkingDelta& delta) { add_thinking(delta, out); },
                        [&](const ToolCallStarted& call) { start_call(call, out); },
                        [&](const ToolCallDelta& delta) { add_json(delta.json, out); },
                        [&](const TokenLogprobs&) {},  // the protocol has no place for them
                        [&](const Finished& finished) { finish(finished, out); },
                        [&](const Failed& failed) {
                          append_failure(failed.error, out);
                          state_ = State::kEnded;
                        }},
             event);
}

void AnthropicStream::append_keep_alive(std::string& out) {
  ZH_CHECK(state_ != State::kEnded);
  if (options_.heartbeat == Heartbeat::kEmptyDelta && state_ == State::kText) {
    return append_delta("", out);
  }
  if (state_ == State::kBeforeStart || folded()) {
    out.append(kComment);
    return;
  }
  begin_frame("ping", out);
  out.append("}").append(kFrameEnd);
}

void AnthropicStream::start(const Started& event, std::string& out) {
  ZH_CHECK(state_ == State::kBeforeStart);
  state_ = State::kNoBlock;
  begin_frame("message_start", out);
  out.append(R"(,"message":{)");
  append_anthropic_head(head_, out);
  out.append(R"(,"content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null)");
  out.append(R"(,"usage":)");
  append_anthropic_usage(event.usage, options_, out);
  append_diagnostics(options_, event.miss, out);
  out.append("}}").append(kFrameEnd);
}

void AnthropicStream::add_text(const TextDelta& event, std::string& out) {
  ZH_CHECK(state_ != State::kBeforeStart);
  if (event.text.empty()) return;  // an empty block is a fault to several clients
  if (state_ != State::kText) {
    open_block(State::kText, {R"({"type":"text","text":""})", "text_delta", "text"}, out);
  }
  append_delta(event.text, out);
}

void AnthropicStream::add_thinking(const ThinkingDelta& event, std::string& out) {
  ZH_CHECK(state_ != State::kBeforeStart);
  if (event.text.empty()) return;
  if (state_ != State::kThinking) {
    constexpr std::string_view kBlock = R"({"type":"thinking","thinking":"","signature":""})";
    open_block(State::kThinking, {kBlock, "thinking_delta", "thinking"}, out);
  }
  if (options_.thinking == ThinkingDisplay::kShown) append_delta(event.text, out);
}

void AnthropicStream::start_call(const ToolCallStarted& event, std::string& out) {
  ZH_CHECK(state_ != State::kBeforeStart);
  std::string block;
  append_tool_use({event.id, event.name, "{}"}, options_, block);
  open_block(State::kToolUse, {block, "input_json_delta", "partial_json"}, out);
  call_has_json_ = false;
  has_calls_ = true;
}

void AnthropicStream::add_json(std::string_view json, std::string& out) {
  ZH_CHECK(state_ == State::kToolUse);
  if (json.empty()) return;
  call_has_json_ = true;
  append_delta(json, out);
}

void AnthropicStream::finish(const Finished& event, std::string& out) {
  ZH_CHECK(state_ != State::kBeforeStart);
  if (block_open()) close_block(out);
  state_ = State::kEnded;
  const FinishReason reason = reason_with_calls(event.reason, has_calls_);
  begin_frame(folded() ? "message_stop" : "message_delta", out);
  out.append(R"(,"delta":{)");
  append_anthropic_stop(reason, event.stop_sequence, out);
  out.append(R"(},"usage":)");
  append_anthropic_usage(event.usage, options_, out);
  append_context_management(options_, out);
  out.append("}").append(kFrameEnd);
  if (folded()) return;
  begin_frame("message_stop", out);
  out.append("}").append(kFrameEnd);
}

void AnthropicStream::append_failure(const Error& error, std::string& out) const {
  out.append("event: error\ndata: ");
  out.append(anthropic_error_body(error, head_.request_id)).append(kFrameEnd);
}

bool AnthropicStream::block_open() const {
  return state_ == State::kText || state_ == State::kThinking || state_ == State::kToolUse;
}

void AnthropicStream::open_block(State state, const BlockFace& face, std::string& out) {
  if (block_open()) close_block(out);
  state_ = state;
  const std::string index = std::to_string(blocks_started_++);
  if (!folded()) {
    begin_frame("content_block_start", out);
    out.append(R"(,"index":)").append(index);
    out.append(R"(,"content_block":)").append(face.content_block).append("}").append(kFrameEnd);
  } else if (state == State::kToolUse) {
    folded_block_ = face.content_block;
  }
  delta_prefix_.clear();
  begin_frame("content_block_delta", delta_prefix_);
  delta_prefix_.append(R"(,"index":)").append(index);
  delta_prefix_.append(R"(,"delta":{"type":")").append(face.delta_type).append(R"(",")");
  delta_prefix_.append(face.delta_key).append(R"(":)");
}

void AnthropicStream::close_block(std::string& out) {
  if (state_ == State::kThinking) append_signature(out);
  if (state_ == State::kToolUse && !call_has_json_) append_delta("{}", out);
  state_ = State::kNoBlock;
  if (folded()) return;
  begin_frame("content_block_stop", out);
  out.append(R"(,"index":)").append(std::to_string(blocks_started_ - 1));
  out.append("}").append(kFrameEnd);
}

void AnthropicStream::append_delta(std::string_view text, std::string& out) {
  out.append(delta_prefix_);
  append_json_string(text, out);
  out.push_back('}');
  if (!folded_block_.empty()) {
    out.append(R"(,"content_block":)").append(folded_block_);
    folded_block_.clear();
  }
  out.append("}").append(kFrameEnd);
}

void AnthropicStream::append_signature(std::string& out) {
  const std::uint32_t block = blocks_started_ - 1;
  begin_frame("content_block_delta", out);
  out.append(R"(,"index":)").append(std::to_string(block));
  out.append(R"(,"delta":{"type":"signature_delta","signature":")");
  out.append(thinking_signature(head_.message_id, block)).append(R"("}})").append(kFrameEnd);
}

}  // namespace zerohop
