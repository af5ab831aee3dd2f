// Fuzz target: any bytes, read as a messages request and as a count_tokens request, lenient and
// strict. Whatever they are, the outcome is a request that keeps every promise of core/request.h,
// or an error that a client can read. Seeds: tests/corpus/anthropic_request/.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "api/anthropic_request.h"
#include "api/error_body.h"
#include "api/json_reader.h"
#include "base/check.h"
#include "base/utf8.h"
#include "core/limits.h"

namespace zerohop {
namespace {

void check_text(const TextBlock& block) {
  ZH_CHECK(!block.text.empty());
  ZH_CHECK(utf8_is_valid(block.text));
}

void check_conversation(const Conversation& conversation) {
  for (const TextBlock& block : conversation.system) check_text(block);
  ZH_CHECK(!conversation.messages.empty());
  ZH_CHECK(conversation.messages.size() <= limits::kMessagesMax);
  for (const Message& message : conversation.messages) {
    ZH_CHECK(message.role == Role::kUser || message.role == Role::kAssistant ||
             message.role == Role::kSystem);
    for (const ContentBlock& block : message.content) check_text(std::get<TextBlock>(block));
  }
}

void check_sampling(const SamplingParameters& sampling) {
  ZH_CHECK(std::isfinite(sampling.temperature) && sampling.temperature >= 0);
  ZH_CHECK(sampling.top_p > 0 && sampling.top_p <= 1);
  ZH_CHECK(sampling.min_p >= 0 && sampling.min_p <= 1);
  ZH_CHECK(sampling.top_k >= 0);
  ZH_CHECK(sampling.logit_bias.size() <= limits::kLogitBiasMax);
  for (const LogitBias& bias : sampling.logit_bias) {
    ZH_CHECK(bias.token >= 0);
    ZH_CHECK(std::isfinite(bias.bias));
  }
}

void check_error(const Error& error) {
  const int status = error_traits(error.code).status;
  ZH_CHECK(status >= 400 && status < 500);
  ZH_CHECK(!error.message.empty());
  const std::string body = anthropic_error_body(error, "req_fuzz");
  ZH_CHECK(body.find('\n') == std::string::npos);
  ZH_CHECK(parse_json(body).ok());
  constexpr std::size_t kReadable = 1'000;
  ZH_CHECK(body.size() < kReadable);
}

void check_outcome(const Result<ChatRequest>& parsed) {
  if (!parsed.ok()) return check_error(parsed.error());
  ZH_CHECK(utf8_is_valid(parsed->model));
  ZH_CHECK(parsed->model.size() <= limits::kModelNameBytesMax);
  check_conversation(parsed->conversation);
  check_sampling(parsed->generation.sampling);
  ZH_CHECK(parsed->generation.stop_sequences.size() <= limits::kStopSequencesMax);
  for (const std::string& stop : parsed->generation.stop_sequences) {
    ZH_CHECK(!stop.empty() && stop.size() <= limits::kStopSequenceBytesMax);
    ZH_CHECK(utf8_is_valid(stop));
  }
}

}  // namespace
}  // namespace zerohop

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerohop;
  const std::string body(data, data + size);
  for (const Strictness strictness : {Strictness::kLenient, Strictness::kStrict}) {
    const ParseOptions options{.strictness = strictness};
    check_outcome(parse_messages_request(body, options));
    check_outcome(parse_count_tokens_request(body, options));
  }
  return 0;
}
