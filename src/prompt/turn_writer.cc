#include "prompt/turn_writer.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <variant>

#include "base/random.h"
#include "core/event.h"
#include "prompt/tool_syntax.h"
#include "prompt/tool_texts.h"

namespace zerohop {
namespace {

constexpr std::string_view kReminderOpen = "<system-reminder>\n";
constexpr std::string_view kReminderClose = "\n</system-reminder>";
constexpr std::string_view kErrorMark = "Error: ";

std::string text_of(const Message& message) {
  std::string text;
  for (const ContentBlock& block : message.content) {
    if (const auto* own = std::get_if<TextBlock>(&block)) append_block(text, own->text);
  }
  return text;
}

}  // namespace

std::string template_call_id(std::string_view id, ToolIds ids) {
  if (ids == ToolIds::kAny) return std::string(id);
  constexpr std::string_view kDigits =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::uint64_t bits = 0;
  for (const char character : id) {
    bits = mix64(bits ^ static_cast<unsigned char>(character));
  }
  std::string own;
  for (int i = 0; i < 9; ++i) {
    own.push_back(kDigits[bits % kDigits.size()]);
    bits /= kDigits.size();
  }
  return own;
}

TemplateMessage& TurnWriter::turn_of(std::string_view role) {
  if (shaped_.messages.empty() || shaped_.messages.back().role != role) {
    shaped_.messages.push_back({std::string(role)});
  }
  ends_with_call_ = false;
  return shaped_.messages.back();
}

// Where text of users goes: a turn of its own, unless it stands behind a result that refuses one.
TemplateMessage& TurnWriter::user_turn() {
  const bool behind_tool = !shaped_.messages.empty() && shaped_.messages.back().role == "tool";
  if (behind_tool && traits_.user_after_tool == UserAfterTool::kRefused) {
    return shaped_.messages.back();
  }
  return turn_of("user");
}

void TurnWriter::note_mark(std::size_t message, std::size_t block) {
  const std::optional<CacheMark>& mark = conversation_.cache_mark;
  if (!mark || mark->place != CacheMark::Place::kMessage) return;
  if (mark->message != message || mark->block != block || shaped_.messages.empty()) return;
  const TemplateMessage& last = shaped_.messages.back();
  shaped_.mark = ShapedMark{.message = shaped_.messages.size() - 1,
                            .offset = last.content.size(),
                            .calls = last.tool_calls.size()};
}

void TurnWriter::add_call(TemplateMessage& turn, const ToolUseBlock& use) {
  calls_.push_back({use.id, use.name});
  names_[use.id] = use.name;
  if (traits_.native_tools != nullptr) {
    turn.tool_calls.push_back({template_call_id(use.id, traits_.tool_ids), use.name, use.input});
  } else {
    if (!turn.content.empty()) turn.content.push_back('\n');
    turn.content.append(write_tool_call(default_tool_syntax(), use.name, use.input));
  }
  ends_with_call_ = true;
}

void TurnWriter::write_assistant_run(std::size_t first, std::size_t end) {
  calls_.clear();
  for (std::size_t m = first; m < end; ++m) {
    const std::vector<ContentBlock>& content = conversation_.messages[m].content;
    for (std::size_t b = 0; b < content.size(); ++b) {
      TemplateMessage& turn = turn_of("assistant");
      std::visit(
          Overloaded{
              [&](const TextBlock& block) { append_block(turn.content, block.text); },
              [&](const ThinkingBlock& block) {
                if (traits_.takes_reasoning) append_block(turn.reasoning, block.text);
              },
              [&](const DocumentBlock& block) { append_block(turn.content, document_text(block)); },
              [&](const ToolUseBlock& block) { add_call(turn, block); },
              [&](const ToolResultBlock& block) {
                append_block(turn.content, result_text(block, conversation_.tools));
              },
          },
          content[b]);
      note_mark(m, b);
    }
    if (content.empty()) turn_of("assistant");
    note_mark(m, content.size());
  }
}

std::vector<TurnWriter::Result> TurnWriter::results_of(std::size_t first, std::size_t end) const {
  std::vector<Result> results;
  for (std::size_t m = first; m < end; ++m) {
    const std::vector<ContentBlock>& content = conversation_.messages[m].content;
    for (std::size_t b = 0; b < content.size(); ++b) {
      const auto* result = std::get_if<ToolResultBlock>(&content[b]);
      if (result == nullptr) continue;
      const auto call = std::find_if(calls_.begin(), calls_.end(), [&](const Call& made) {
        return made.id == result->tool_use_id;
      });
      results.push_back({m, b, static_cast<std::size_t>(call - calls_.begin()), result});
    }
  }
  std::stable_sort(results.begin(), results.end(),
                   [](const Result& a, const Result& b) { return a.call < b.call; });
  return results;
}

// `waiting`: calls that a template with one call a turn has not shown yet; each gets a turn of its
// own in front of its result.
void TurnWriter::write_native_result(const Result& result, std::vector<TemplateToolCall>& waiting) {
  const std::string id = template_call_id(result.result->tool_use_id, traits_.tool_ids);
  const auto own = std::find_if(waiting.begin(), waiting.end(),
                                [&](const TemplateToolCall& call) { return call.id == id; });
  if (own != waiting.end()) {
    TemplateMessage& turn = shaped_.messages.emplace_back(TemplateMessage{"assistant"});
    turn.tool_calls.push_back(std::move(*own));
    waiting.erase(own);
  }
  TemplateMessage& message = shaped_.messages.emplace_back(TemplateMessage{"tool"});
  if (result.result->is_error) message.content = kErrorMark;
  message.content += result_text(*result.result, conversation_.tools);
  message.tool_call_id = id;
  message.tool_name = calls_[result.call].name;
}

// Whether the last message is now one of a template's own for results.
bool TurnWriter::write_results(const std::vector<Result>& results) {
  const bool native = traits_.native_tools != nullptr;
  std::vector<TemplateToolCall> waiting;
  if (native && !results.empty() && traits_.calls_of_a_turn == CallsOfATurn::kOne &&
      !shaped_.messages.empty() && shaped_.messages.back().tool_calls.size() > 1) {
    std::vector<TemplateToolCall>& calls = shaped_.messages.back().tool_calls;
    waiting.assign(std::make_move_iterator(calls.begin() + 1),
                   std::make_move_iterator(calls.end()));
    calls.resize(1);
  }
  for (const Result& result : results) {
    const bool known = result.call < calls_.size();
    if (native && known) {
      write_native_result(result, waiting);
    } else {
      const auto name = names_.find(result.result->tool_use_id);
      append_block(user_turn().content,
                   tool_response({name == names_.end() ? result.result->tool_use_id : name->second,
                                  result_text(*result.result, conversation_.tools),
                                  result.result->is_error}));
    }
    note_mark(result.message, result.block);
    ends_with_call_ = false;
  }
  return !shaped_.messages.empty() && shaped_.messages.back().role == "tool";
}

void TurnWriter::write_user_block(const ContentBlock& block) {
  if (const auto* text = std::get_if<TextBlock>(&block)) {
    if (!text->text.empty()) append_block(user_turn().content, text->text);
  } else if (const auto* document = std::get_if<DocumentBlock>(&block)) {
    append_block(user_turn().content, document_text(*document));
  }
}

void TurnWriter::write_user_run(std::size_t first, std::size_t end) {
  const bool answered = write_results(results_of(first, end));
  if (!answered) turn_of("user");
  for (std::size_t m = first; m < end; ++m) {
    const std::vector<ContentBlock>& content = conversation_.messages[m].content;
    for (std::size_t b = 0; b < content.size(); ++b) {
      if (std::holds_alternative<ToolResultBlock>(content[b])) continue;
      write_user_block(content[b]);
      note_mark(m, b);
    }
    note_mark(m, content.size());
  }
}

void TurnWriter::write_system_entry(std::size_t index) {
  const Message& entry = conversation_.messages[index];
  const std::string text = text_of(entry);
  const bool in_place = traits_.system_entries == SystemEntries::kInPlace && !text.empty() &&
                        !shaped_.messages.empty() &&
                        !(shaped_.messages.size() == 1 && shaped_.front.system.size() > 0);
  if (in_place) {
    append_block(turn_of("system").content, text);
  } else if (!text.empty()) {
    std::string reminder(kReminderOpen);
    reminder.append(text).append(kReminderClose);
    append_block(user_turn().content, reminder);
  } else {
    // Still a turn, so that an assistant turn in front of it is not taken for a prefill.
    user_turn();
  }
  ends_with_call_ = false;
  for (std::size_t b = 0; b <= entry.content.size(); ++b) note_mark(index, b);
}

void TurnWriter::write_behind(std::string_view text) {
  std::vector<TemplateMessage>& messages = shaped_.messages;
  std::size_t end = messages.size();
  if (shaped_.continue_last) --end;
  const bool user = end > 0 && messages[end - 1].role == "user";
  const bool tool = end > 0 && messages[end - 1].role == "tool" &&
                    traits_.user_after_tool == UserAfterTool::kRefused;
  if (!user && !tool) {
    messages.insert(messages.begin() + static_cast<std::ptrdiff_t>(end), TemplateMessage{"user"});
    if (shaped_.mark && shaped_.mark->message >= end && end > 0) ++shaped_.mark->message;
    ++end;
  }
  append_block(messages[end - 1].content, text);
}

}  // namespace zerohop
