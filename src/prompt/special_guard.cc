#include "prompt/special_guard.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "base/hex.h"

namespace zerohop {
namespace {

// Calls visit(text, is_json) for every text of a stranger.
template <class Conversation, class Visit>
void visit_texts(Conversation& conversation, Visit visit) {
  enum : bool { kText = false, kJson = true };
  for (auto& message : conversation.messages) {
    visit(message.content, kText);
    visit(message.reasoning, kText);
    visit(message.tool_call_id, kText);
    visit(message.tool_name, kText);
    for (auto& call : message.tool_calls) {
      visit(call.id, kText);
      visit(call.name, kText);
      visit(call.arguments, kJson);
    }
  }
  for (auto& tool : conversation.tools) {
    visit(tool.name, kText);
    visit(tool.description, kText);
    visit(tool.parameters, kJson);
  }
}

// Stand-ins that occur in no text. The seed is a hash of the contents: a text that holds its own
// has to be searched for, and then the next seed will do.
StandIns unused_stand_ins(const ShapedConversation& conversation) {
  std::uint64_t seed = 0;
  for (const TemplateMessage& message : conversation.messages) {
    seed = seed * 31 + std::hash<std::string>{}(message.content);
  }
  const auto occurs = [&](const StandIns& stand_ins) {
    bool found = false;
    visit_texts(conversation,
                [&](const std::string& text, bool) { found = found || stand_ins.occur_in(text); });
    return found;
  };
  while (occurs(StandIns(seed))) ++seed;
  return StandIns(seed);
}

void hide(std::string& text, const SpecialTextFinder& specials, GuardedConversation& guarded) {
  const std::vector<SpecialOccurrence> found = specials.find(text);
  if (found.empty()) return;
  std::string safe;
  std::size_t position = 0;
  for (const SpecialOccurrence& occurrence : found) {
    safe.append(text, position, occurrence.range.begin - position);
    safe.append(guarded.stand_ins.make(guarded.hidden.size()));
    guarded.hidden.push_back(occurrence.index);
    position = occurrence.range.end;
  }
  safe.append(text, position);
  text = std::move(safe);
}

// The character that the escape at the front of `text` stands for, if it can stand there plainly.
struct PlainEscape {
  char character = 0;
  std::size_t size = 0;  // of the escape
};
std::optional<PlainEscape> plain_escape(std::string_view text) {
  if (text.size() >= 2 && text[1] == '/') return PlainEscape{'/', 2};
  if (text.size() < 6 || text[1] != 'u' || text[2] != '0' || text[3] != '0') return std::nullopt;
  const int high = hex_digit_value(text[4]);
  const int low = hex_digit_value(text[5]);
  if (high < 0 || low < 0) return std::nullopt;
  const int value = high * 16 + low;
  if (value < 0x20 || value > 0x7e || value == '"' || value == '\\') return std::nullopt;
  return PlainEscape{static_cast<char>(value), 6};
}

}  // namespace

std::string without_needless_escapes(const std::string& json) {
  if (json.find('\\') == std::string::npos) return json;
  std::string plain;
  plain.reserve(json.size());
  for (std::size_t i = 0; i < json.size();) {
    if (json[i] != '\\') {
      plain.push_back(json[i++]);
      continue;
    }
    const std::optional<PlainEscape> escape = plain_escape(std::string_view(json).substr(i));
    if (escape) {
      plain.push_back(escape->character);
      i += escape->size;
    } else {
      plain.append(json, i, 2);
      i += 2;
    }
  }
  return plain;
}

GuardedConversation hide_specials(const ShapedConversation& conversation,
                                  const SpecialTextFinder& specials) {
  ShapedConversation plain = conversation;
  visit_texts(plain, [](std::string& text, bool is_json) {
    if (is_json) text = without_needless_escapes(text);
  });
  const StandIns stand_ins = unused_stand_ins(plain);
  GuardedConversation guarded{stand_ins, std::move(plain), {}};
  visit_texts(guarded.conversation,
              [&](std::string& text, bool) { hide(text, specials, guarded); });
  return guarded;
}

RevealedText reveal_specials(const std::string& rendered, const GuardedConversation& guarded,
                             const SpecialTextFinder& specials) {
  RevealedText revealed;
  std::size_t position = 0;
  while (const std::optional<StandIns::Found> found = guarded.stand_ins.find(rendered, position)) {
    revealed.text.append(rendered, position, found->begin - position);
    position = found->end;
    if (found->index >= guarded.hidden.size()) {  // not one of ours
      revealed.text.append(rendered, found->begin, found->end - found->begin);
      continue;
    }
    const std::string& special = specials.text(guarded.hidden[found->index]);
    revealed.foreign.push_back({revealed.text.size(), revealed.text.size() + special.size()});
    revealed.text.append(special);
  }
  revealed.text.append(rendered, position);
  return revealed;
}

}  // namespace zerohop
