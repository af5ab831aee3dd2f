// For tests: a typed request as text, one fact a line, defaults left out where they say nothing.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "api/dump_lines.h"
#include "core/event.h"
#include "core/request.h"

namespace zerohop {

class RequestDump : public DumpLines {
 public:
  void conversation(const Conversation& conversation) {
    for (const ToolDefinition& definition : conversation.tools) tool(definition);
    if (!conversation.tools.empty()) tool_choice(conversation.tool_choice);
    for (const TextBlock& block : conversation.system) quoted("system", block.text);
    for (const Message& message : conversation.messages) {
      line("message", role_name(message.role));
      for (const ContentBlock& block : message.content) content_block(block);
    }
    if (conversation.cache_mark) mark(*conversation.cache_mark);
    if (conversation.thinking == ThinkingMode::kEnabled) line("thinking", "enabled");
    if (conversation.thinking == ThinkingMode::kDisabled) line("thinking", "disabled");
    if (!conversation.constrain_tools) line("constrain_tools", "false");
    output(conversation.output, "json_schema ");
    if (!conversation.volatile_context.empty()) {
      quoted("volatile", conversation.volatile_context);
    }
  }

  void generation(const GenerationParameters& generation) {
    const SamplingParameters& sampling = generation.sampling;
    line("max_tokens", std::to_string(generation.max_tokens));
    line("temperature", digits(sampling.temperature));
    line("top_p", digits(sampling.top_p));
    line("min_p", digits(sampling.min_p));
    line("top_k", std::to_string(sampling.top_k));
    line("seed", sampling.seed ? std::to_string(*sampling.seed) : "none");
    if (sampling.presence_penalty != 0) line("presence", digits(sampling.presence_penalty));
    if (sampling.frequency_penalty != 0) line("frequency", digits(sampling.frequency_penalty));
    if (sampling.repetition_penalty != 1) line("repetition", digits(sampling.repetition_penalty));
    for (const LogitBias& bias : sampling.logit_bias) {
      line("logit_bias", std::to_string(bias.token) + " " + digits(bias.bias));
    }
    for (const std::string& stop : generation.stop_sequences) quoted("stop", stop);
    if (generation.priority != PriorityClass::kStandard) {
      line("priority", std::string(priority_class_name(generation.priority)));
    }
    if (const auto& soft = generation.soft_max_tokens)
      line("soft_max_tokens", *soft ? "on" : "off");
    if (const auto& cap = generation.soft_cap) {
      line("soft_cap", digits(cap->at) + (cap->sentence_end ? " sentence" : ""));
      for (const std::string& stop : cap->stops) quoted("  stop", stop);
    }
  }

 private:
  void tool(const ToolDefinition& definition) {
    line("tool", definition.name + (definition.strict ? " strict" : "") +
                     (definition.deferred ? " deferred" : "") +
                     (definition.live_arguments ? " live" : ""));
    if (!definition.description.empty()) quoted("  description", definition.description);
    line("  schema", definition.input_schema);
  }

  void tool_choice(const ToolChoice& choice) {
    constexpr std::string_view kNames[] = {"auto", "any", "tool", "none"};
    line("tool_choice", std::string(kNames[static_cast<std::size_t>(choice.kind)]) +
                            (choice.name.empty() ? "" : " " + choice.name) +
                            (choice.parallel ? "" : " single"));
  }

  void document(std::string_view indent, const DocumentBlock& block) {
    const std::string margin(indent);
    quoted(margin + "document", block.title);
    if (!block.context.empty()) quoted(margin + "  context", block.context);
    if (!block.text.empty()) quoted(margin + "  text", block.text);
    if (!block.pdf.empty()) line(margin + "  pdf", std::to_string(block.pdf.size()) + " bytes");
  }

  void content_block(const ContentBlock& block) {
    std::visit(
        Overloaded{[&](const TextBlock& text) { quoted("  text", text.text); },
                   [&](const ThinkingBlock& thinking) { quoted("  thinking", thinking.text); },
                   [&](const DocumentBlock& text) { document("  ", text); },
                   [&](const ToolUseBlock& use) {
                     line("  call", use.id + " " + use.name + " " + use.input);
                   },
                   [&](const ToolResultBlock& result) { tool_result(result); }},
        block);
  }

  void tool_result(const ToolResultBlock& result) {
    line("  result", result.tool_use_id + (result.is_error ? " error" : ""));
    for (const ToolResultPart& part : result.content) {
      std::visit(Overloaded{[&](const TextBlock& text) { quoted("    text", text.text); },
                            [&](const DocumentBlock& text) { document("    ", text); },
                            [&](const ToolReferenceBlock& reference) {
                              line("    reference", reference.tool_name);
                            }},
                 part);
    }
  }

  void mark(const CacheMark& mark) {
    switch (mark.place) {
      case CacheMark::Place::kTools: return line("cache_mark", "tools");
      case CacheMark::Place::kSystem: return line("cache_mark", "system");
      case CacheMark::Place::kMessage:
        return line("cache_mark", "message " + std::to_string(mark.message) + " block " +
                                      std::to_string(mark.block));
    }
  }
};

}  // namespace zerohop
