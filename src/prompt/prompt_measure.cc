#include "prompt/prompt_measure.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace zerohop {
namespace {

// Byte `offset` of a content in the text.
std::size_t place_in(const PlacedContent& content, std::size_t offset) {
  const std::size_t shown = offset > content.skipped ? offset - content.skipped : 0;
  return content.range.begin + std::min(shown, content.range.size());
}

// The end of what the template itself wrote about the last thing of `names`: the next border of a
// special token behind its name.
std::size_t end_of_named(const MeasuredPrompt& prompt, std::span<const std::string> names,
                         ByteRange within) {
  std::size_t at = within.begin;
  for (const std::string& name : names) {
    const std::size_t found = prompt.rendered.text.find(name, at);
    if (found != std::string::npos && found < within.end) at = found + name.size();
  }
  if (at == within.begin) return at;
  for (const TextCut& cut : prompt.tokenized.cuts) {
    if (cut.byte >= at) return std::min(cut.byte, within.end);
  }
  return at;
}

std::size_t byte_of_mark(const MeasuredPrompt& prompt, const ShapedMark& mark) {
  std::size_t byte = 0;
  std::size_t next = prompt.rendered.text.size();
  for (const PlacedContent& content : prompt.rendered.placed) {
    if (content.message > mark.message) {
      next = content.range.begin;
      break;
    }
    byte = content.message == mark.message ? place_in(content, mark.offset) : content.range.end;
  }
  std::vector<std::string> names;
  if (mark.behind_tools) {
    for (const TemplateTool& tool : prompt.conversation.tools) names.push_back(tool.name);
  }
  const std::vector<TemplateToolCall>& calls =
      prompt.conversation.messages[mark.message].tool_calls;
  for (std::size_t i = 0; i < std::min(mark.calls, calls.size()); ++i) {
    names.push_back(calls[i].name);
  }
  return end_of_named(prompt, names, {byte, next});
}

// Whether the template writes calls of one of the messages [first, end).
bool makes_calls(const ShapedConversation& conversation, std::size_t first, std::size_t end) {
  for (std::size_t i = first; i < end; ++i) {
    if (!conversation.messages[i].tool_calls.empty()) return true;
  }
  return false;
}

}  // namespace

std::size_t marked_tokens(const MeasuredPrompt& prompt) {
  const std::optional<ShapedMark>& mark = prompt.conversation.mark;
  if (!mark || mark->message >= prompt.conversation.messages.size()) return 0;
  return prompt.tokenizer.tokens_before(prompt.tokenized, byte_of_mark(prompt, *mark));
}

PromptSections sections_of(const MeasuredPrompt& prompt) {
  const ShapedConversation& conversation = prompt.conversation;
  const FrontText& front = conversation.front;
  if (conversation.messages.empty()) return {};
  std::size_t system_end = 0;  // bytes
  std::size_t tools_end = 0;
  for (const PlacedContent& content : prompt.rendered.placed) {
    const bool is_system = content.message == 0 && conversation.messages.front().role == "system";
    if (content.message == front.message && front.system.end + front.tools.end > 0) {
      if (front.system.size() > 0) system_end = place_in(content, front.system.end);
      if (front.tools.size() > 0) tools_end = place_in(content, front.tools.end);
    } else if (is_system) {
      system_end = content.range.end;
    }
    if (is_system) continue;
    // What the template lists stands in front of the first turn.
    if (!conversation.tools.empty() && tools_end == 0) tools_end = content.range.begin;
    break;
  }
  const auto tokens = [&prompt](std::size_t byte) {
    return static_cast<std::uint32_t>(prompt.tokenizer.tokens_before(prompt.tokenized, byte));
  };
  return {tokens(system_end), tokens(tools_end)};
}

PromptBreakdown break_down(const MeasuredPrompt& prompt) {
  const auto between = [&](std::size_t begin, std::size_t end) {
    return static_cast<std::uint32_t>(prompt.tokenizer.tokens_before(prompt.tokenized, end) -
                                      prompt.tokenizer.tokens_before(prompt.tokenized, begin));
  };
  PromptBreakdown parts;
  const ShapedConversation& conversation = prompt.conversation;
  const FrontText& front = conversation.front;
  bool template_lists_tools = !conversation.tools.empty();  // somewhere in front of the first turn
  std::size_t end = 0;                                      // of the content before
  std::size_t last_message = 0;                             // the one it belongs to
  for (const PlacedContent& content : prompt.rendered.placed) {
    const bool is_system = content.message == 0 && conversation.messages.front().role == "system";
    if (template_lists_tools && !is_system) {
      parts.tools_tokens += between(end, content.range.begin);
      template_lists_tools = false;
    } else if (makes_calls(conversation, last_message, content.message)) {
      parts.messages_tokens += between(end, content.range.begin);
    }
    std::size_t begin = content.range.begin;
    if (content.message == front.message && front.system.end + front.tools.end > 0) {
      const std::size_t tools_end = place_in(content, std::max(front.system.end, front.tools.end));
      const std::size_t tools_begin =
          front.tools.size() > 0 ? place_in(content, front.tools.begin) : tools_end;
      parts.system_tokens += between(begin, tools_begin);
      parts.tools_tokens += between(tools_begin, tools_end);
      begin = tools_end;
    }
    (is_system ? parts.system_tokens : parts.messages_tokens) += between(begin, content.range.end);
    end = content.range.end;
    last_message = content.message;
  }
  const auto all = static_cast<std::uint32_t>(prompt.tokenized.tokens.size());
  parts.template_tokens = all - parts.system_tokens - parts.tools_tokens - parts.messages_tokens;
  return parts;
}

}  // namespace zerohop
