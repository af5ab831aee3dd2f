#include "prompt/splice.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "prompt/stand_in.h"

namespace zerohop {
namespace {

// Any number will do: contents are not there while these are.
constexpr std::uint64_t kShapeSeed = 1;

ContentRule rule_for(const ShapedConversation& conversation, std::size_t index,
                     const SpliceRules& rules) {
  if (conversation.continue_last && index + 1 == conversation.messages.size()) {
    return rules.open_turn;
  }
  const std::string& role = conversation.messages[index].role;
  if (role == "system") return rules.system;
  return role == "user" ? rules.user : rules.assistant;
}

// What templates look for in contents.
constexpr std::array<std::string_view, 3> kThoughtMarks{"think>", "[THINK]", "<|channel|>"};
constexpr std::string_view kResultMark = "tool_response>";

bool has_mark(std::string_view content, MarksInContents read) {
  const auto holds = [&](std::string_view mark) {
    return content.find(mark) != std::string_view::npos;
  };
  return std::any_of(kThoughtMarks.begin(), kThoughtMarks.end(), holds) ||
         (read == MarksInContents::kRead && holds(kResultMark));
}

void append_field(std::string_view text, std::string& key) {
  key.append(std::to_string(text.size())).push_back(':');
  key.append(text);
}

void append_rich_key(const ShapedConversation& conversation, std::string& key) {
  for (const TemplateMessage& message : conversation.messages) {
    key.push_back(message.reasoning.empty() ? 'n' : 'r');
    for (const TemplateToolCall& call : message.tool_calls) {
      key.push_back('c');
      for (const std::string* field : {&call.id, &call.name, &call.arguments}) {
        append_field(*field, key);
      }
    }
    append_field(message.tool_call_id, key);
    append_field(message.tool_name, key);
  }
  for (const TemplateTool& tool : conversation.tools) {
    for (const std::string* field : {&tool.name, &tool.description, &tool.parameters}) {
      append_field(*field, key);
    }
  }
}

}  // namespace

std::string_view shown_content(const ShapedConversation& conversation, std::size_t index,
                               const SpliceRules& rules) {
  const std::string_view content = conversation.messages[index].content;
  return rule_for(conversation, index, rules) == ContentRule::kTrimmed ? trim_space(content)
                                                                       : content;
}

bool can_be_spliced(const ShapedConversation& conversation, const SpliceRules& rules) {
  if (conversation.is_rich()) return false;
  if (rules.marks == MarksInContents::kCopied) return true;
  return std::none_of(
      conversation.messages.begin(), conversation.messages.end(),
      [&](const TemplateMessage& message) { return has_mark(message.content, rules.marks); });
}

std::string shape_key(const ShapedConversation& conversation, const SpliceRules& rules) {
  std::string key;
  key.reserve(conversation.messages.size() + 3);
  for (std::size_t i = 0; i < conversation.messages.size(); ++i) {
    const char letter = conversation.messages[i].role.front();
    const bool empty = shown_content(conversation, i, rules).empty();
    key.push_back(empty ? static_cast<char>(letter - 'a' + 'A') : letter);
  }
  if (conversation.continue_last) key.push_back('+');
  if (conversation.thinking) key.push_back(*conversation.thinking ? '1' : '0');
  if (conversation.is_rich()) append_rich_key(conversation, key);
  return key;
}

Result<ShapeRendering> render_shape(const ChatTemplate& chat_template,
                                    const ShapedConversation& conversation,
                                    const SpliceRules& rules) {
  const StandIns stand_ins(kShapeSeed);
  const std::size_t count = conversation.messages.size();
  std::vector<TemplateMessage> messages;
  messages.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const TemplateMessage& own = conversation.messages[i];
    const bool empty = shown_content(conversation, i, rules).empty();
    TemplateMessage& message = messages.emplace_back();
    message.role = own.role;
    if (!empty) message.content = stand_ins.make(i);
    if (!own.reasoning.empty()) message.reasoning = stand_ins.make(count + i);
    message.tool_calls = own.tool_calls;
    message.tool_call_id = own.tool_call_id;
    message.tool_name = own.tool_name;
  }
  TemplateInput input = conversation.input();
  input.messages = messages;
  ZH_ASSIGN_OR_RETURN(const std::string rendered, chat_template.render(input));
  ShapeRendering shape;
  std::size_t position = 0;
  while (const std::optional<StandIns::Found> found = stand_ins.find(rendered, position)) {
    shape.text.append(rendered, position, found->begin - position);
    shape.insertions.push_back({shape.text.size(), found->index});
    position = found->end;
  }
  shape.text.append(rendered, position);
  return shape;
}

std::string splice_contents(const ShapeRendering& shape, const ShapedConversation& conversation,
                            const SpliceRules& rules, std::vector<PlacedContent>* placed) {
  std::size_t size = shape.text.size();
  for (const ShapeRendering::Insertion& insertion : shape.insertions) {
    size += shown_content(conversation, insertion.message, rules).size();
  }
  std::string text;
  text.reserve(size);
  if (placed != nullptr) placed->reserve(shape.insertions.size());
  std::size_t position = 0;
  for (const ShapeRendering::Insertion& insertion : shape.insertions) {
    text.append(shape.text, position, insertion.offset - position);
    position = insertion.offset;
    const std::string_view content = shown_content(conversation, insertion.message, rules);
    if (content.empty()) continue;
    if (placed != nullptr) {
      const char* whole = conversation.messages[insertion.message].content.data();
      placed->push_back({insertion.message,
                         {text.size(), text.size() + content.size()},
                         static_cast<std::size_t>(content.data() - whole)});
    }
    text.append(content);
  }
  return text.append(shape.text, position);
}

}  // namespace zerohop
