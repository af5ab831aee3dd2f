// For fuzz targets: what every request that an OpenAI parser lets through must keep of the promises
// of core/request.h, and what every error must be.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <variant>

#include "api/json_reader.h"
#include "api/openai_error_body.h"
#include "api/openai_prompts.h"
#include "api/output_rules_checks.h"
#include "base/check.h"
#include "base/utf8.h"
#include "core/error.h"
#include "core/event.h"
#include "core/limits.h"
#include "core/request.h"

namespace zerohop::openai_fuzz {

inline void check_error(const Error& error) {
  const int status = error_traits(error.code).status;
  ZH_CHECK(status >= 400 && status < 500);
  ZH_CHECK(!error.message.empty());
  const std::string body = openai_error_body(error);
  ZH_CHECK(body.find('\n') == std::string::npos);
  ZH_CHECK(parse_json(body).ok());
  constexpr std::size_t kReadable = 2'000;
  ZH_CHECK(body.size() < kReadable);
}

inline void check_text(std::string_view text) {
  ZH_CHECK(!text.empty());
  ZH_CHECK(utf8_is_valid(text));
}

inline void check_object(std::string_view json) {
  const auto document = parse_json(json);
  ZH_CHECK(document.ok() && document->root().is_object());
  ZH_CHECK(json.find('\n') == std::string_view::npos);
}

inline void check_document(const DocumentBlock& document) {
  ZH_CHECK(document.text.empty() != document.pdf.empty());
  ZH_CHECK(utf8_is_valid(document.text));
  ZH_CHECK(utf8_is_valid(document.title));
}

inline void check_result(const ToolResultBlock& result) {
  check_text(result.tool_use_id);
  for (const ToolResultPart& part : result.content) {
    std::visit(Overloaded{[](const TextBlock& text) { check_text(text.text); },
                          [](const DocumentBlock& document) { check_document(document); },
                          [](const ToolReferenceBlock&) { ZH_CHECK(false); }},
               part);
  }
}

inline void check_block(const ContentBlock& block) {
  std::visit(Overloaded{[](const TextBlock& text) { check_text(text.text); },
                        [](const ThinkingBlock& thinking) { check_text(thinking.text); },
                        [](const DocumentBlock& document) { check_document(document); },
                        [](const ToolUseBlock& call) {
                          check_text(call.id);
                          ZH_CHECK(utf8_is_valid(call.name));
                          check_object(call.input);
                        },
                        [](const ToolResultBlock& result) { check_result(result); }},
             block);
}

inline void check_tools(const Conversation& conversation) {
  std::unordered_set<std::string_view> names;
  for (const ToolDefinition& tool : conversation.tools) {
    check_text(tool.name);
    ZH_CHECK(names.insert(tool.name).second);
    ZH_CHECK(utf8_is_valid(tool.description));
    check_object(tool.input_schema);
    ZH_CHECK(utf8_is_valid(tool.field));
  }
  const ToolChoice& choice = conversation.tool_choice;
  if (choice.kind == ToolChoiceKind::kTool) ZH_CHECK(names.contains(choice.name));
  if (choice.kind == ToolChoiceKind::kAny) ZH_CHECK(!names.empty());
}

inline void check_generation(const GenerationParameters& generation) {
  const SamplingParameters& sampling = generation.sampling;
  ZH_CHECK(std::isfinite(sampling.temperature) && sampling.temperature >= 0);
  ZH_CHECK(sampling.top_p > 0 && sampling.top_p <= 1);
  ZH_CHECK(sampling.min_p >= 0 && sampling.min_p <= 1);
  ZH_CHECK(sampling.top_k >= 0);
  ZH_CHECK(std::isfinite(sampling.presence_penalty));
  ZH_CHECK(std::isfinite(sampling.frequency_penalty));
  ZH_CHECK(std::isfinite(sampling.repetition_penalty) && sampling.repetition_penalty > 0);
  ZH_CHECK(sampling.logit_bias.size() <= limits::kLogitBiasMax);
  for (const LogitBias& bias : sampling.logit_bias) {
    ZH_CHECK(bias.token >= 0 && std::isfinite(bias.bias));
  }
  ZH_CHECK(generation.stop_sequences.size() <= limits::kStopSequencesMax);
  for (const std::string& stop : generation.stop_sequences) {
    check_text(stop);
    ZH_CHECK(stop.size() <= limits::kStopSequenceBytesMax);
  }
  if (generation.top_logprobs) ZH_CHECK(*generation.top_logprobs <= limits::kTopLogprobsMax);
}

inline void check_model(std::string_view model) {
  ZH_CHECK(utf8_is_valid(model) && model.size() <= limits::kModelNameBytesMax);
}

inline void check_chat(const ChatRequest& chat) {
  check_model(chat.model);
  ZH_CHECK(chat.choices >= 1 && chat.choices <= 8);
  const Conversation& conversation = chat.conversation;
  ZH_CHECK(!conversation.messages.empty());
  for (const Message& message : conversation.messages) {
    for (const ContentBlock& block : message.content) check_block(block);
  }
  check_tools(conversation);
  check_output_rules(conversation.output);
  if (conversation.output.format != OutputFormat::kText) {
    ZH_CHECK(chat.generation.stop_sequences.empty() && !chat.generation.soft_cap);
  }
  check_generation(chat.generation);
}

inline void check_prompts(const std::vector<OpenAiPrompt>& prompts) {
  ZH_CHECK(!prompts.empty());
  for (const OpenAiPrompt& prompt : prompts) {
    if (const auto* text = std::get_if<std::string>(&prompt)) {
      ZH_CHECK(utf8_is_valid(*text));
      continue;
    }
    const auto& tokens = std::get<std::vector<Token>>(prompt);
    ZH_CHECK(!tokens.empty());
    for (const Token token : tokens) ZH_CHECK(token >= 0);
  }
}

}  // namespace zerohop::openai_fuzz
