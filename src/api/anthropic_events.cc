#include "api/anthropic_events.h"

#include <string_view>
#include <utility>
#include <variant>

#include "api/error_body.h"
#include "api/json_writer.h"
#include "base/check.h"

namespace zerohop {
namespace {

constexpr std::string_view kFrameEnd = "\n\n";

// `event: NAME`, and data as far as its type.
void begin_frame(std::string_view name, std::string& out) {
  out.append("event: ").append(name);
  out.append("\ndata: {\"type\":\"").append(name).append("\"");
}

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;  // Clang 14 does not deduce aggregates

}  // namespace

AnthropicStream::AnthropicStream(ReplyHead head) : head_(std::move(head)) {}

void AnthropicStream::append(const Event& event, std::string& out) {
  ZH_CHECK(state_ != State::kEnded);
  std::visit(Overloaded{[&](const Started& started) { start(started, out); },
                        [&](const TextDelta& delta) { add_text(delta, out); },
                        [&](const Finished& finished) { finish(finished, out); },
                        [&](const Failed& failed) { fail(failed, out); }},
             event);
}

void AnthropicStream::append_ping(std::string& out) {
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
  append_anthropic_usage(event.usage, out);
  out.append("}}").append(kFrameEnd);
}

void AnthropicStream::add_text(const TextDelta& event, std::string& out) {
  ZH_CHECK(state_ == State::kNoBlock || state_ == State::kTextBlock);
  if (event.text.empty()) return;  // an empty block is a fault to several clients
  if (state_ == State::kNoBlock) open_text_block(out);
  out.append(delta_prefix_);
  append_json_string(event.text, out);
  out.append("}}").append(kFrameEnd);
}

void AnthropicStream::open_text_block(std::string& out) {
  state_ = State::kTextBlock;
  const std::string index = std::to_string(blocks_started_++);
  begin_frame("content_block_start", out);
  out.append(R"(,"index":)").append(index);
  out.append(R"(,"content_block":{"type":"text","text":""}})").append(kFrameEnd);

  delta_prefix_.clear();
  begin_frame("content_block_delta", delta_prefix_);
  delta_prefix_.append(R"(,"index":)").append(index);
  delta_prefix_.append(R"(,"delta":{"type":"text_delta","text":)");
}

void AnthropicStream::close_block(std::string& out) {
  state_ = State::kNoBlock;
  begin_frame("content_block_stop", out);
  out.append(R"(,"index":)").append(std::to_string(blocks_started_ - 1));
  out.append("}").append(kFrameEnd);
}

void AnthropicStream::finish(const Finished& event, std::string& out) {
  ZH_CHECK(state_ != State::kBeforeStart);
  if (state_ == State::kTextBlock) close_block(out);
  state_ = State::kEnded;
  begin_frame("message_delta", out);
  out.append(R"(,"delta":{)");
  append_anthropic_stop(event.reason, event.stop_sequence, out);
  out.append(R"(},"usage":)");
  append_anthropic_usage(event.usage, out);
  out.append("}").append(kFrameEnd);
  begin_frame("message_stop", out);
  out.append("}").append(kFrameEnd);
}

void AnthropicStream::fail(const Failed& event, std::string& out) {
  state_ = State::kEnded;
  out.append("event: error\ndata: ");
  out.append(anthropic_error_body(event.error, head_.request_id)).append(kFrameEnd);
}

}  // namespace zerohop
