// OpenAI completions dialect, outward, streamed and whole: typed events → text_completion objects.
//
// One object per request, used by one thread at a time. Every choice is plain text: what a model
// thinks belongs to it. Tools are never offered here, so events of tool calls are a bug and crash.
// The stream's frames have no event name; a chunk has the text of one event, the last chunk of a
// choice an empty text and the finish reason; then the usage if asked for, then `data: [DONE]`, or
// one frame with the error.
//
// Log-probabilities have the older shape, four parallel lists. `text_offset` counts characters from
// the beginning of the choice's text.
// Source: Completions API, the completion object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/openai_wire.h"
#include "api/reply.h"

namespace zerohop {

/// What the two writers are told.
struct OpenAiCompletionsReplyOptions {
  OpenAiReplyHead head;
  OpenAiReplyOptions reply;
  std::uint32_t choices_per_prompt = 1;
  /// One for each prompt: what is put in front of its answers (`echo`), or an empty string. Valid
  /// UTF-8.
  std::vector<std::string> echoes;

  std::uint32_t choices() const {
    return static_cast<std::uint32_t>(echoes.size()) * choices_per_prompt;
  }
  const std::string& echo_of(std::uint32_t choice) const {
    return echoes[choice / choices_per_prompt];
  }
};

/// The four lists of `logprobs`, written as tokens come.
class OpenAiTokenLists {
 public:
  void add(const TokenLogprobs& token);
  /// Appends the object and empties the lists; offsets go on from where they are.
  void flush(std::string& out);
  bool empty() const { return tokens_.empty(); }

 private:
  std::string tokens_;
  std::string logprobs_;
  std::string likeliest_;
  std::string offsets_;
  std::size_t characters_ = 0;
};

class OpenAiCompletionsStream final : public ReplyStream {
 public:
  explicit OpenAiCompletionsStream(OpenAiCompletionsReplyOptions options);

  void append(std::uint32_t choice, const Event& event, std::string& out) override;
  void append_keep_alive(std::string& out) override { out.append(kOpenAiKeepAlive); }
  void append_failure(const Error& error, std::string& out) const override;
  bool ended() const override { return failed_ || open_choices_ == 0; }

 private:
  struct Choice {
    bool started = false;
    OpenAiTokenLists logprobs;
    std::optional<Usage> usage;  // set: the choice has finished
  };
  struct Chunk {
    std::uint32_t choice;
    std::string_view text;
    std::string_view finish_reason;  // empty: null
  };

  void write_chunk(const Chunk& chunk, std::string& out);
  void finish(std::uint32_t choice, const Finished& finished, std::string& out);

  // Constant.
  const OpenAiCompletionsReplyOptions options_;
  std::string prefix_;  // a chunk up to its choices

  std::vector<Choice> choices_;
  std::size_t open_choices_;
  bool failed_ = false;
};

class OpenAiCompletionsReply final : public WholeReply {
 public:
  explicit OpenAiCompletionsReply(OpenAiCompletionsReplyOptions options);

  void add(std::uint32_t choice, const Event& event) override;
  bool complete() const override { return failure_.has_value() || open_choices_ == 0; }
  const Error* failure() const override { return failure_ ? &*failure_ : nullptr; }
  std::string body() const override;

 private:
  struct Choice {
    std::string text;
    OpenAiTokenLists logprobs;
    std::optional<Finished> finished;
  };

  // Constant.
  const OpenAiCompletionsReplyOptions options_;

  std::vector<Choice> choices_;
  std::size_t open_choices_;
  std::optional<Error> failure_;
};

}  // namespace zerohop
