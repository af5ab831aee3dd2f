#include "api/openai_wire.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

#include "api/json_writer.h"
#include "base/check.h"

namespace zerohop {
namespace {

void append_count(std::uint64_t count, std::string& out) {
  append_json_integer(static_cast<std::int64_t>(count), out);
}

// `"token":…,"logprob":…,"bytes":…`. A token may be half a character: its text is then not exact,
// its bytes are.
void append_chance(const TokenChance& chance, std::string& out) {
  out.append(R"("token":)");
  append_json_untrusted(chance.bytes, out);
  out.append(R"(,"logprob":)");
  append_openai_logprob(chance.logprob, out);
  out.append(R"(,"bytes":)");
  if (chance.bytes.empty()) {
    out.append("null");
    return;
  }
  char separator = '[';
  for (const char byte : chance.bytes) {
    out.push_back(separator);
    append_json_integer(static_cast<unsigned char>(byte), out);
    separator = ',';
  }
  out.push_back(']');
}

}  // namespace

OpenAiUsage openai_usage(const std::vector<Usage>& choices, std::size_t choices_per_prompt) {
  ZH_CHECK(choices_per_prompt > 0 && choices.size() % choices_per_prompt == 0);
  OpenAiUsage sum;
  for (std::size_t first = 0; first < choices.size(); first += choices_per_prompt) {
    std::uint32_t cached = choices[first].prompt_tokens_cached;
    for (std::size_t i = first; i < first + choices_per_prompt; ++i) {
      cached = std::min(cached, choices[i].prompt_tokens_cached);
      sum.output_tokens += choices[i].output_tokens;
      sum.reasoning_tokens += choices[i].thinking_tokens;
    }
    sum.prompt_tokens += choices[first].prompt_tokens;
    sum.cached_tokens += cached;
  }
  return sum;
}

void append_openai_usage(const OpenAiUsage& usage, std::string& out) {
  out.append(R"({"prompt_tokens":)");
  append_count(usage.prompt_tokens, out);
  out.append(R"(,"completion_tokens":)");
  append_count(usage.output_tokens, out);
  out.append(R"(,"total_tokens":)");
  append_count(usage.prompt_tokens + usage.output_tokens, out);
  out.append(R"(,"prompt_tokens_details":{"cached_tokens":)");
  append_count(usage.cached_tokens, out);
  out.append(R"(},"completion_tokens_details":{"reasoning_tokens":)");
  append_count(usage.reasoning_tokens, out);
  out.append("}}");
}

void append_openai_head(const OpenAiReplyHead& head, std::string_view object, std::string& out) {
  out.append(R"("id":)");
  append_json_string(head.id, out);
  out.append(R"(,"object":")").append(object);
  out.append(R"(","created":)");
  append_json_integer(head.created, out);
  out.append(R"(,"model":)");
  append_json_string(head.model, out);
  out.append(R"(,"system_fingerprint":)");
  if (head.system_fingerprint.empty()) {
    out.append("null");
  } else {
    append_json_string(head.system_fingerprint, out);
  }
  if (!head.service_tier.empty()) {
    out.append(R"(,"service_tier":")").append(head.service_tier).append("\"");
  }
}

std::string_view openai_finish_reason(FinishReason reason) {
  switch (reason) {
    case FinishReason::kEndOfTurn:
    case FinishReason::kStopSequence: return "stop";
    case FinishReason::kMaxTokens:
    case FinishReason::kContextWindow: return "length";
    case FinishReason::kToolUse: return "tool_calls";
  }
  return "stop";
}

std::string_view openai_chat_finish_reason(FinishReason reason, const OpenAiReplyOptions& options) {
  if (reason == FinishReason::kToolUse && options.legacy_functions) return "function_call";
  return openai_finish_reason(reason);
}

void append_openai_number(float number, std::string& out) {
  ZH_CHECK(std::isfinite(number));
  std::array<char, 32> digits;
  const float plain = number + 0.0f;  // -0 is 0
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), plain).ptr;
  out.append(digits.data(), end);
}

void append_openai_logprob(float logprob, std::string& out) {
  constexpr float kLeast = -9999;
  // The comparison is false for a NaN too.
  append_openai_number(logprob > kLeast ? std::min(logprob, 0.0f) : kLeast, out);
}

void append_openai_token(const TokenLogprobs& token, std::string& out) {
  out.push_back('{');
  append_chance(token.chosen, out);
  out.append(R"(,"top_logprobs":[)");
  bool first = true;
  for (const TokenChance& chance : token.likeliest) {
    out.append(first ? "{" : ",{");
    append_chance(chance, out);
    out.push_back('}');
    first = false;
  }
  out.append("]}");
}

}  // namespace zerohop
