// Fuzz target: any bytes, read as a messages request and as a count_tokens request, lenient and
// strict. Whatever they are, the outcome is a request that keeps every promise of core/request.h,
// or an error that a client can read. Seeds: tests/corpus/anthropic_request/.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "api/anthropic_request.h"
#include "api/error_body.h"
#include "api/json_reader.h"
#include "api/output_rules_checks.h"
#include "base/check.h"
#include "base/utf8.h"
#include "core/event.h"
#include "core/limits.h"

namespace zerohop {
namespace {

// A JSON object of parse_json() that was written out again.
void check_object(std::string_view text) {
  const auto document = parse_json(text);
  ZH_CHECK(document.ok());
  ZH_CHECK(document->root().is_object());
}

void check_text(const TextBlock& block) {
  ZH_CHECK(!block.text.empty());
  ZH_CHECK(utf8_is_valid(block.text));
}

void check_document(const DocumentBlock& block) {
  ZH_CHECK(utf8_is_valid(block.title) && utf8_is_valid(block.context));
  ZH_CHECK(utf8_is_valid(block.text));
  ZH_CHECK(block.pdf.empty() || block.text.empty());
}

void check_result(const ToolResultBlock& result) {
  ZH_CHECK(!result.tool_use_id.empty());
  for (const ToolResultPart& part : result.content) {
    std::visit(Overloaded{[](const TextBlock& text) { check_text(text); },
                          [](const DocumentBlock& document) { check_document(document); },
                          [](const ToolReferenceBlock& reference) {
                            ZH_CHECK(!reference.tool_name.empty());
                          }},
               part);
  }
}

void check_block(const ContentBlock& block, Role role) {
  std::visit(Overloaded{[](const TextBlock& text) { check_text(text); },
                        [&](const ThinkingBlock& thinking) {
                          ZH_CHECK(role == Role::kAssistant && !thinking.text.empty());
                        },
                        [&](const DocumentBlock& document) {
                          ZH_CHECK(role == Role::kUser);
                          check_document(document);
                        },
                        [&](const ToolUseBlock& use) {
                          ZH_CHECK(role == Role::kAssistant);
                          ZH_CHECK(!use.id.empty() && !use.name.empty());
                          check_object(use.input);
                        },
                        [&](const ToolResultBlock& result) {
                          ZH_CHECK(role == Role::kUser);
                          check_result(result);
                        }},
             block);
}

void check_tools(const Conversation& conversation) {
  std::set<std::string_view> names;
  ZH_CHECK(conversation.tools.size() <= limits::kToolsMax);
  for (const ToolDefinition& tool : conversation.tools) {
    ZH_CHECK(!tool.name.empty() && tool.name.size() <= limits::kToolNameBytesMax);
    ZH_CHECK(names.insert(tool.name).second);
    ZH_CHECK(utf8_is_valid(tool.description));
    check_object(tool.input_schema);
  }
  const ToolChoice& choice = conversation.tool_choice;
  const bool named = choice.kind == ToolChoiceKind::kTool;
  ZH_CHECK(named ? names.contains(choice.name) : choice.name.empty());
}

void check_conversation(const Conversation& conversation) {
  for (const TextBlock& block : conversation.system) check_text(block);
  ZH_CHECK(!conversation.messages.empty());
  for (const Message& message : conversation.messages) {
    for (const ContentBlock& block : message.content) check_block(block, message.role);
  }
  check_tools(conversation);
  if (const auto& mark = conversation.cache_mark) {
    if (mark->place == CacheMark::Place::kTools) ZH_CHECK(!conversation.tools.empty());
    if (mark->place == CacheMark::Place::kSystem) ZH_CHECK(!conversation.system.empty());
    if (mark->place == CacheMark::Place::kMessage) {
      ZH_CHECK(mark->message < conversation.messages.size());
      ZH_CHECK(mark->block <= conversation.messages[mark->message].content.size());
    }
  }
  check_output_rules(conversation.output);
  ZH_CHECK(utf8_is_valid(conversation.volatile_context));
}

void check_sampling(const SamplingParameters& sampling) {
  ZH_CHECK(std::isfinite(sampling.temperature) && sampling.temperature >= 0);
  ZH_CHECK(sampling.top_p > 0 && sampling.top_p <= 1);
  ZH_CHECK(sampling.min_p >= 0 && sampling.min_p <= 1);
  ZH_CHECK(sampling.top_k >= 0);
  ZH_CHECK(std::fabs(sampling.presence_penalty) <= 2);
  ZH_CHECK(std::fabs(sampling.frequency_penalty) <= 2);
  ZH_CHECK(sampling.repetition_penalty > 0);
  ZH_CHECK(sampling.repetition_penalty <= static_cast<float>(limits::kRepetitionPenaltyMax));
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
  constexpr std::size_t kReadable = 2'000;
  ZH_CHECK(body.size() < kReadable);
}

void check_chat(const ChatRequest& chat) {
  ZH_CHECK(utf8_is_valid(chat.model));
  ZH_CHECK(chat.model.size() <= limits::kModelNameBytesMax);
  check_conversation(chat.conversation);
  check_sampling(chat.generation.sampling);
  ZH_CHECK(chat.generation.stop_sequences.size() <= limits::kStopSequencesMax);
  for (const std::string& stop : chat.generation.stop_sequences) {
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
    const auto request = parse_messages_request(body, options);
    if (request.ok()) {
      check_chat(request->chat);
    } else {
      check_error(request.error());
    }
    const auto counted = parse_count_tokens_request(body, options);
    if (counted.ok()) {
      check_chat(*counted);
    } else {
      check_error(counted.error());
    }
  }
  return 0;
}
