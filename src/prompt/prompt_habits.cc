#include "prompt/prompt_habits.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <variant>

#include "prompt/conversation_shape.h"

namespace zerohop {
namespace {

constexpr std::string_view kBillingHeader = "x-anthropic-billing-header";
constexpr std::string_view kEllipsis = "\xe2\x80\xa6";

// A pattern cut at its wildcards.
struct Pattern {
  std::vector<std::string_view> literals;  // none empty
  bool open_end = false;                   // the last wildcard runs to the line's end
};

Pattern parse_pattern(std::string_view text) {
  Pattern pattern;
  std::size_t begin = 0;
  const auto cut = [&](std::size_t end, std::size_t wildcard) {
    if (end > begin) pattern.literals.push_back(text.substr(begin, end - begin));
    begin = end + wildcard;
    pattern.open_end = begin == text.size() && wildcard > 0;
  };
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t wildcard = text[i] == '*'                          ? 1
                                 : text.substr(i).starts_with(kEllipsis) ? kEllipsis.size()
                                                                         : 0;
    if (wildcard > 0) cut(i, wildcard);
    i += std::max<std::size_t>(wildcard, 1);
  }
  if (begin < text.size()) cut(text.size(), 0);
  return pattern;
}

// The first match in `line` at or behind `from`.
std::optional<ByteRange> match_in(std::string_view line, const Pattern& pattern, std::size_t from) {
  if (pattern.literals.empty()) return std::nullopt;
  const std::size_t begin = line.find(pattern.literals.front(), from);
  std::size_t end = begin;
  for (const std::string_view literal : pattern.literals) {
    if (end == std::string_view::npos) return std::nullopt;
    end = line.find(literal, end);
    if (end != std::string_view::npos) end += literal.size();
  }
  if (begin == std::string_view::npos || end == std::string_view::npos) return std::nullopt;
  return ByteRange{begin, pattern.open_end ? line.size() : end};
}

class Mover {
 public:
  Mover(const std::vector<Pattern>& patterns, HabitCounts& counts)
      : patterns_(patterns), counts_(counts) {}

  void clean(std::string& text) {
    std::string kept;
    bool changed = false;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t newline = std::min(text.find('\n', begin), text.size());
      std::string line = text.substr(begin, newline - begin);
      const bool has_moved = take_from(line);
      changed = changed || has_moved;
      if (!has_moved || !trim_space(line).empty()) {
        kept.append(line);
        if (newline < text.size()) kept.push_back('\n');
      }
      begin = newline + 1;
    }
    if (changed) text = kept;
  }

  const std::string& moved() const { return moved_; }

 private:
  bool take_from(std::string& line) {
    bool any = false;
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
      while (const std::optional<ByteRange> match = match_in(line, patterns_[i], 0)) {
        if (!moved_.empty()) moved_.push_back('\n');
        moved_.append(line, match->begin, match->size());
        line.erase(match->begin, match->size());
        ++counts_.moved[i];
        any = true;
      }
    }
    return any;
  }

  const std::vector<Pattern>& patterns_;
  HabitCounts& counts_;
  std::string moved_;
};

// Whether the line was there.
bool strip_header(std::string& text) {
  if (!text.starts_with(kBillingHeader)) return false;
  const std::size_t line_end = text.find('\n');
  text.erase(0, line_end == std::string::npos ? text.size() : line_end);
  text.erase(0, text.find_first_not_of("\r\n"));
  return true;
}

// Calls visit(text) for each text of the system prompt.
template <class Visit>
void visit_system_texts(Conversation& conversation, Visit visit) {
  for (TextBlock& block : conversation.system) visit(block.text);
  for (Message& message : conversation.messages) {
    if (message.role != Role::kSystem) return;
    for (ContentBlock& block : message.content) {
      if (auto* text = std::get_if<TextBlock>(&block)) visit(text->text);
    }
  }
}

}  // namespace

HabitCounts apply_prompt_habits(const PromptHabits& habits, Conversation& conversation) {
  HabitCounts counts;
  counts.moved.resize(habits.volatile_patterns.size());
  if (habits.strip_billing_header) {
    bool first = true;
    visit_system_texts(conversation, [&](std::string& text) {
      if (first && strip_header(text)) ++counts.billing_headers;
      first = false;
    });
  }
  if (habits.volatile_patterns.empty()) return counts;
  std::vector<Pattern> patterns;
  for (const std::string& text : habits.volatile_patterns) patterns.push_back(parse_pattern(text));
  Mover mover(patterns, counts);
  visit_system_texts(conversation, [&](std::string& text) { mover.clean(text); });
  if (mover.moved().empty()) return counts;
  std::string& context = conversation.volatile_context;
  if (!context.empty()) context.push_back('\n');
  context.append(mover.moved());
  return counts;
}

}  // namespace zerohop
