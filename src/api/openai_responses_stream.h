// OpenAI responses dialect, outward, streamed: typed events → named SSE frames.
//
// One object per request, used by one thread at a time. Every frame has a name, the same as its
// data's `type`, and a `sequence_number` from 0 without gaps:
//
//   response.created, response.in_progress                                     Started
//   response.output_item.added                                                 an item opens
//     message        response.content_part.added, .output_text.delta …
//     reasoning      response.reasoning_summary_part.added, .reasoning_summary_text.delta …
//     function call  response.function_call_arguments.delta …
//   the .done of each of these, inner ones first, response.output_item.done    it closes
//   response.completed, .incomplete or .failed                                 Finished, Failed
//
// An item opens with its first event and closes when one of another kind comes, so items never
// overlap and none is empty. What the model thought goes out as a summary, the form that every
// client shows. Answers have one choice. A Failed before Started is introduced by response.created,
// without which clients refuse a stream.
// Source: Responses API, streaming events.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/openai_responses_wire.h"
#include "api/reply.h"

namespace zerohop {

class OpenAiResponsesStream final : public ReplyStream {
 public:
  explicit OpenAiResponsesStream(OpenAiResponsesReplyOptions options);

  void append(std::uint32_t choice, const Event& event, std::string& out) override;
  void append_keep_alive(std::string& out) override { out.append(kOpenAiKeepAlive); }
  void append_failure(const Error& error, std::string& out) const override;
  bool ended() const override { return state_ == State::kEnded; }

 private:
  enum class State : std::uint8_t { kBeforeStart, kStarted, kEnded };

  void begin_frame(std::string_view name, std::string& out);
  void write_response(std::string_view name, const ResponseState& state, std::string& out);
  void write_item(std::string_view name, std::string& out);
  void begin_inner_frame(std::string_view name, std::string& out);
  void write_part(std::string_view name, std::string_view text, std::string& out);
  void start(std::string& out);
  void add(const Event& event, std::string& out);
  void open_item(const Event& event, std::string& out);
  void write_delta(std::string_view text, std::string& out);
  void close_item(ResponseItemStatus status, std::string& out);
  void write_text_done(std::string& out);
  void finish(const Finished& finished, std::string& out);
  void fail(const Failed& failed, std::string& out);

  // Constant.
  const OpenAiResponsesReplyOptions options_;

  ResponseItems items_;
  std::uint64_t next_sequence_number_ = 0;
  State state_ = State::kBeforeStart;
};

}  // namespace zerohop
