// OpenAI chat dialect, outward, streamed: typed events → SSE frames of chat.completion.chunk.
//
// One object per request, used by one thread at a time. Frames have no event name. Each choice goes
// its own way, in any interleaving with the others:
//
//                Started            TextDelta, ThinkingDelta, ToolCallStarted, ToolCallDelta
//    kWaiting ──────────► kOpen ─────┐ one delta each
//       │      role         │ ▲──────┘
//       │                   │ Finished: empty delta, finish_reason
//       │ Failed            ▼
//       └──────────────► kClosed
//
// When the last choice has finished: the usage (if asked for, in a chunk without choices), then
// `data: [DONE]`. A Failed of any choice writes one frame with the error, and nothing after it.
//
// TokenLogprobs wait for the next chunk of their choice, which is the text that they led to, or a
// later one where the text was held back; in every chunk `logprobs.content` holds tokens in order.
//
// Cost: a small delta is three appends and one scan of its text.
// Source: Chat Completions API, streaming; `reasoning_content` as in llama-server and vLLM.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/openai_wire.h"
#include "api/reply.h"

namespace zerohop {

class OpenAiChatStream final : public ReplyStream {
 public:
  /// `choices` ≥ 1.
  OpenAiChatStream(const OpenAiReplyHead& head, OpenAiReplyOptions options, std::uint32_t choices);

  void append(std::uint32_t choice, const Event& event, std::string& out) override;
  void append_keep_alive(std::string& out) override { out.append(kOpenAiKeepAlive); }
  void append_failure(const Error& error, std::string& out) const override;
  bool ended() const override { return failed_ || open_choices_ == 0; }

 private:
  enum class State : std::uint8_t { kWaiting, kOpen, kClosed };
  struct Choice {
    State state = State::kWaiting;
    std::uint32_t calls = 0;  // started so far
    std::string logprobs;     // entries that no chunk has carried yet
    Usage usage;
  };

  void begin_chunk(std::uint32_t choice, std::string& out) const;
  void end_chunk(Choice& state, std::string_view finish_reason, std::string& out);
  void add_text(std::uint32_t choice, std::string_view field, std::string_view text,
                std::string& out);
  void start_call(std::uint32_t choice, const ToolCallStarted& call, std::string& out);
  void add_arguments(std::uint32_t choice, const ToolCallDelta& delta, std::string& out);
  void finish(std::uint32_t choice, const Finished& finished, std::string& out);
  void end_answer(std::string& out);

  // Constant.
  const OpenAiReplyOptions options_;
  std::string prefix_;  // a chunk up to its choices

  std::vector<Choice> choices_;
  std::size_t open_choices_;
  bool failed_ = false;
};

}  // namespace zerohop
