// For tests: a typed request as lines of text, every field that differs from its default.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "api/dump_lines.h"
#include "api/openai_prompts.h"
#include "core/event.h"
#include "core/request.h"

namespace zerohop {

class OpenAiRequestDump : public DumpLines {
 public:
  void flag(std::string_view name, bool value) {
    if (value) line(name, "true");
  }

  void chat(const ChatRequest& chat) {
    quoted("model", chat.model);
    flag("stream", chat.stream);
    if (chat.choices != 1) line("choices", std::to_string(chat.choices));
    conversation(chat.conversation);
    generation(chat.generation);
  }

  void conversation(const Conversation& conversation) {
    for (const Message& message : conversation.messages) {
      line("message", role_name(message.role));
      for (const ContentBlock& block : message.content) content(block);
    }
    for (const ToolDefinition& tool : conversation.tools) {
      line("tool",
           tool.name + (tool.strict ? " (strict)" : "") + (tool.live_arguments ? " (live)" : ""));
      if (!tool.description.empty()) quoted("  description", tool.description);
      line("  schema", tool.input_schema);
    }
    const ToolChoice& choice = conversation.tool_choice;
    if (choice.kind != ToolChoiceKind::kAuto) line("tool choice", choice_name(choice));
    if (!choice.parallel) line("parallel", "false");
    if (conversation.thinking == ThinkingMode::kEnabled) line("thinking", "on");
    if (conversation.thinking == ThinkingMode::kDisabled) line("thinking", "off");
    if (!conversation.constrain_tools) line("constrain_tools", "false");
    output(conversation.output);
  }

  void output(const OutputRules& rules) { DumpLines::output(rules, "schema "); }

  void generation(const GenerationParameters& generation) {
    const SamplingParameters& sampling = generation.sampling;
    line("max_tokens", std::to_string(generation.max_tokens));
    number("temperature", sampling.temperature, 1);
    number("top_p", sampling.top_p, 1);
    number("min_p", sampling.min_p, 0);
    if (sampling.top_k != 0) line("top_k", std::to_string(sampling.top_k));
    if (sampling.seed) line("seed", std::to_string(*sampling.seed));
    for (const LogitBias& bias : sampling.logit_bias) {
      line("logit_bias", std::to_string(bias.token) + " " + digits(bias.bias));
    }
    number("presence_penalty", sampling.presence_penalty, 0);
    number("frequency_penalty", sampling.frequency_penalty, 0);
    number("repetition_penalty", sampling.repetition_penalty, 1);
    for (const std::string& stop : generation.stop_sequences) quoted("stop", stop);
    if (generation.top_logprobs) line("top_logprobs", std::to_string(*generation.top_logprobs));
  }

  void prompt(const OpenAiPrompt& prompt) {
    if (const auto* text = std::get_if<std::string>(&prompt)) return quoted("prompt", *text);
    std::string tokens;
    for (const Token token : std::get<std::vector<Token>>(prompt)) {
      tokens.append(tokens.empty() ? "" : " ").append(std::to_string(token));
    }
    line("prompt tokens", tokens);
  }

 private:
  static std::string choice_name(const ToolChoice& choice) {
    switch (choice.kind) {
      case ToolChoiceKind::kAuto: return "auto";
      case ToolChoiceKind::kAny: return "any";
      case ToolChoiceKind::kTool: return "tool " + choice.name;
      case ToolChoiceKind::kNone: return "none";
    }
    return "?";
  }

  void number(std::string_view name, float value, float absent) {
    if (value != absent) line(name, digits(value));
  }

  void document(std::string_view name, const DocumentBlock& document) {
    std::string text = document.title + " | " + document.text + " | " + document.pdf;
    quoted(name, text);
  }

  void content(const ContentBlock& block) {
    std::visit(
        Overloaded{[&](const TextBlock& text) { quoted("  text", text.text); },
                   [&](const ThinkingBlock& thinking) { quoted("  thinking", thinking.text); },
                   [&](const DocumentBlock& one) { document("  document", one); },
                   [&](const ToolUseBlock& call) {
                     line("  call", call.id + " " + call.name + " " + call.input);
                   },
                   [&](const ToolResultBlock& result) {
                     line("  result", result.tool_use_id);
                     for (const ToolResultPart& part : result.content) result_part(part);
                   }},
        block);
  }

  void result_part(const ToolResultPart& part) {
    std::visit(Overloaded{[&](const TextBlock& text) { quoted("    text", text.text); },
                          [&](const DocumentBlock& one) { document("    document", one); },
                          [&](const ToolReferenceBlock& reference) {
                            line("    reference", reference.tool_name);
                          }},
               part);
  }
};

}  // namespace zerohop
