#include "prompt/mark_scanner.h"

#include <algorithm>
#include <cstring>

namespace zerohop {

void MarkScanner::add(std::string_view text, MarkKind kind) {
  if (text.empty()) return;
  for (const Mark& mark : marks_) {
    if (mark.text == text) return;
  }
  marks_.push_back({std::string(text), kind});
  bool& first = first_[static_cast<unsigned char>(text.front())];
  if (!first) ++first_count_;
  first = true;
  only_first_ = text.front();
}

std::size_t MarkScanner::next_first_byte(std::string_view text, std::size_t from) const {
  if (first_count_ == 0) return text.size();
  if (first_count_ == 1) {
    const void* at = std::memchr(text.data() + from, only_first_, text.size() - from);
    return at == nullptr ? text.size()
                         : static_cast<std::size_t>(static_cast<const char*>(at) - text.data());
  }
  while (from < text.size() && !first_[static_cast<unsigned char>(text[from])]) ++from;
  return from;
}

MarkScanner::Match MarkScanner::match_at(std::string_view rest) const {
  Match match;
  for (const Mark& mark : marks_) {
    if (rest.starts_with(mark.text)) {
      if (match.mark == nullptr || match.mark->text.size() < mark.text.size()) match.mark = &mark;
    } else if (rest.size() < mark.text.size() && mark.text.starts_with(rest)) {
      match.may_grow = true;
    }
  }
  return match;
}

MarkScanner::Found MarkScanner::find(std::string_view text, TextEnd end) const {
  for (std::size_t at = next_first_byte(text, 0); at < text.size();
       at = next_first_byte(text, at + 1)) {
    const Match match = match_at(text.substr(at));
    if (match.may_grow && end == TextEnd::kOpen) return {at, nullptr};
    if (match.mark != nullptr) return {at, match.mark};
  }
  return {text.size(), nullptr};
}

}  // namespace zerohop
