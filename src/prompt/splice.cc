#include "prompt/splice.h"

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

}  // namespace

std::string_view shown_content(const ShapedConversation& conversation, std::size_t index,
                               const SpliceRules& rules) {
  const std::string_view content = conversation.messages[index].content;
  return rule_for(conversation, index, rules) == ContentRule::kTrimmed ? trim_space(content)
                                                                       : content;
}

std::string shape_key(const ShapedConversation& conversation, const SpliceRules& rules) {
  std::string key;
  key.reserve(conversation.messages.size() + 1);
  for (std::size_t i = 0; i < conversation.messages.size(); ++i) {
    const char letter = conversation.messages[i].role.front();
    const bool empty = shown_content(conversation, i, rules).empty();
    key.push_back(empty ? static_cast<char>(letter - 'a' + 'A') : letter);
  }
  if (conversation.continue_last) key.push_back('+');
  return key;
}

Result<ShapeRendering> render_shape(const ChatTemplate& chat_template,
                                    const ShapedConversation& conversation,
                                    const SpliceRules& rules) {
  const StandIns stand_ins(kShapeSeed);
  std::vector<TemplateMessage> messages;
  messages.reserve(conversation.messages.size());
  for (std::size_t i = 0; i < conversation.messages.size(); ++i) {
    const bool empty = shown_content(conversation, i, rules).empty();
    messages.push_back({conversation.messages[i].role, empty ? std::string() : stand_ins.make(i)});
  }
  ZH_ASSIGN_OR_RETURN(const std::string rendered,
                      chat_template.render(messages, conversation.continue_last));
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
                            const SpliceRules& rules, std::vector<ByteRange>* foreign) {
  std::size_t size = shape.text.size();
  for (const ShapeRendering::Insertion& insertion : shape.insertions) {
    size += shown_content(conversation, insertion.message, rules).size();
  }
  std::string text;
  text.reserve(size);
  std::size_t position = 0;
  for (const ShapeRendering::Insertion& insertion : shape.insertions) {
    text.append(shape.text, position, insertion.offset - position);
    position = insertion.offset;
    const std::string_view content = shown_content(conversation, insertion.message, rules);
    if (content.empty()) continue;
    if (foreign != nullptr) foreign->push_back({text.size(), text.size() + content.size()});
    text.append(content);
  }
  return text.append(shape.text, position);
}

}  // namespace zerohop
