// Pieces of the OpenAI dialect that its streamed and whole replies share. Internal to api/, except
// OpenAiReplyHead and OpenAiReplyOptions. Pure functions that append to the caller's buffer; any
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/event.h"
#include "core/usage.h"

namespace zerohop {

/// What a reply says about itself before anything is generated.
struct OpenAiReplyHead {
  std::string id;                  ///< `chatcmpl-…`, `cmpl-…` or `resp_…`; unique for ever
  std::string model;               ///< the name to echo; valid UTF-8
  std::int64_t created = 0;        ///< Unix time, s
  std::string system_fingerprint;  ///< names what computes (model and build); empty: null
  std::string_view service_tier;   ///< how it was served; static text; empty: not shown
};

/// How the client wants its answer written; of no concern to the engine.
struct OpenAiReplyOptions {
  bool include_usage = false;     ///< streams: one more chunk, with the usage
  bool logprobs = false;          ///< log-probabilities were asked for
  bool legacy_functions = false;  ///< calls as `function_call`, the form before `tool_calls`
  std::string_view service_tier;  ///< for OpenAiReplyHead; static text; empty: none was named
};

/// The tokens of a whole answer, over all prompts and choices.
struct OpenAiUsage {
  std::uint64_t prompt_tokens = 0;  ///< cached ones included
  std::uint64_t cached_tokens = 0;
  std::uint64_t output_tokens = 0;  ///< reasoning included
  std::uint64_t reasoning_tokens = 0;
};

/// Adds up the final usages of `choices`, where each prompt has `choices_per_prompt` neighbours. A
/// prompt counts once. Of its choices the later ones find what the first computed, so what was
/// cached before the request is the least of their counts.
OpenAiUsage openai_usage(const std::vector<Usage>& choices, std::size_t choices_per_prompt);

/// `{"prompt_tokens":…}`: chat completions and completions.
void append_openai_usage(const OpenAiUsage& usage, std::string& out);

/// `"id":…,"object":OBJECT,"created":…,"model":…,"system_fingerprint":…`, and
/// `"service_tier":…` where the request named one
void append_openai_head(const OpenAiReplyHead& head, std::string_view object, std::string& out);

/// `stop`, `length` or `tool_calls`.
std::string_view openai_finish_reason(FinishReason reason);
/// As above; calls in the older form have a name of their own.
std::string_view openai_chat_finish_reason(FinishReason reason, const OpenAiReplyOptions& options);

/// A number of a sample: the shortest text that reads back as the same float. `number` is finite.
void append_openai_number(float number, std::string& out);
/// As above; what is less likely than e^-9999 (−∞ too) is written as -9999, as the hosted API does.
void append_openai_logprob(float logprob, std::string& out);

/// One entry of `logprobs.content`: token, logprob, bytes, top_logprobs.
void append_openai_token(const TokenLogprobs& token, std::string& out);

/// `data: [DONE]` and comments, whole frames.
inline constexpr std::string_view kOpenAiDone = "data: [DONE]\n\n";
inline constexpr std::string_view kOpenAiKeepAlive = ": keep-alive\n\n";

}  // namespace zerohop
