#include "prompt/json_answer.h"

#include <algorithm>

namespace zerohop {
namespace {

constexpr std::string_view kSpaces = " \n\r\t";
constexpr std::size_t kWordsBytesMax = 16;  // longer than a fence: enough to know that it is none

bool is_space(char byte) { return kSpaces.find(byte) != std::string_view::npos; }

}  // namespace

JsonAnswer::JsonAnswer(JsonRoot root, std::string_view prefill)
    : root_(root), value_({.root = root}) {
  std::string shown;
  feed(prefill, shown);
  if (begun()) value_.assume_shown();
  candidate_shown_ = candidate_.size();
}

void JsonAnswer::feed(std::string_view bytes, std::string& json) {
  if (done_) return;
  if (!begun()) bytes.remove_prefix(look_for_value(bytes, json));
  if (!begun()) return;
  value_.feed(bytes, json);
  if (!value_.complete() && !value_.broken()) return;
  value_.close(json);
  done_ = true;
}

// Takes bytes until the value begins, which appends its first ones to `json`; says how many.
std::size_t JsonAnswer::look_for_value(std::string_view bytes, std::string& json) {
  std::size_t taken = 0;
  while (taken < bytes.size() && !begun()) {
    const char byte = bytes[taken++];
    if (!candidate_.empty() && probe_.feed({&byte, 1}) == 0) {
      add_word(candidate_.front());
      candidate_.clear();
      candidate_shown_ = 0;
    } else if (!candidate_.empty()) {
      candidate_ += byte;
    }
    if (candidate_.empty() && may_begin(byte)) {
      candidate_ = byte;
      probe_ = JsonPrefix();
      probe_.feed(candidate_);
    } else if (candidate_.empty()) {
      add_word(byte);
    }
    if (candidate_is_sure()) begin_with_candidate(json);
  }
  return taken;
}

bool JsonAnswer::may_begin(char byte) const {
  constexpr std::string_view kScalarBegins = "\"-0123456789tfn";
  if (byte == '{') return true;
  if (root_ == JsonRoot::kObject) return false;
  if (byte == '[') return true;
  if (kScalarBegins.find(byte) == std::string_view::npos) return false;
  return words_.empty() ||
         (is_space(words_.back()) &&
          (words_.starts_with("```json") || words_.starts_with("``` ") ||
           words_.starts_with("```\n")) &&
          words_.find_first_not_of(kSpaces, words_.find_first_of(kSpaces)) == std::string::npos);
}

bool JsonAnswer::candidate_is_sure() const {
  if (candidate_.empty()) return false;
  switch (candidate_.front()) {
    case '{':
    case '[': return candidate_.size() > 1 && !is_space(candidate_.back());
    case 't':
    case 'f':
    case 'n': return probe_.complete();
    default: return true;
  }
}

void JsonAnswer::begin_with_candidate(std::string& json) {
  std::string beginning;
  value_.feed(candidate_, beginning);
  json += beginning.substr(std::min(candidate_shown_, beginning.size()));
  candidate_.clear();
}

// Remembers the words in front of the value, without the white space at their beginning.
void JsonAnswer::add_word(char byte) {
  if (words_.size() < kWordsBytesMax && !(words_.empty() && is_space(byte))) words_ += byte;
}

void JsonAnswer::close(std::string& json) {
  if (done_) return;
  if (!candidate_.empty() && (candidate_.front() == '{' || candidate_.front() == '[')) {
    begin_with_candidate(json);
  }
  if (begun()) {
    value_.close(json);
  } else {
    json += "{}";
  }
  done_ = true;
}

}  // namespace zerohop
