#include "prompt/json_answer.h"

#include "prompt/parameter_kinds.h"
#include "prompt/tool_syntax.h"

namespace zerohop {
namespace {

constexpr std::string_view kSpaces = " \n\r\t";
constexpr std::size_t kWordsBytesMax = 16;  // longer than a fence: enough to know that it is none

bool is_space(char byte) { return kSpaces.find(byte) != std::string_view::npos; }

// A code fence and the white space behind it.
bool is_fence(std::string_view words) {
  if (words.empty() || !is_space(words.back())) return false;
  if (!words.starts_with("```json") && !words.starts_with("``` ") && !words.starts_with("```\n")) {
    return false;
  }
  return words.find_first_not_of(kSpaces, words.find_first_of(kSpaces)) == std::string_view::npos;
}

// Whether a value can begin with `byte` behind `words`.
bool may_begin(JsonRoot root, std::string_view words, char byte) {
  constexpr std::string_view kScalarBegins = "\"-0123456789tfn";
  if (byte == '{') return true;
  if (root == JsonRoot::kObject) return false;
  if (byte == '[') return true;
  return kScalarBegins.find(byte) != std::string_view::npos && (words.empty() || is_fence(words));
}

// Remembers the words in front of the value, without the white space at their beginning.
void add_word(std::string& words, char byte) {
  if (words.size() < kWordsBytesMax && !(words.empty() && is_space(byte))) words += byte;
}

}  // namespace

bool is_json_format(OutputFormat format) {
  return format == OutputFormat::kJson || format == OutputFormat::kJsonSchema;
}

JsonRoot json_root_of(const OutputRules& rules) {
  const bool object = rules.format == OutputFormat::kJson ||
                      (rules.format == OutputFormat::kJsonSchema && is_object_schema(rules.schema));
  return object ? JsonRoot::kObject : JsonRoot::kAny;
}

std::string_view answer_prefill(const OutputPlan& plan) {
  if (plan.start != OutputStart::kText) return {};
  std::string_view prefill = plan.prefill;
  if (!plan.thinking) return prefill;
  const std::string_view mark = mark_core(plan.thinking->close);
  const std::size_t closed = mark.empty() ? std::string_view::npos : prefill.rfind(mark);
  if (closed != std::string_view::npos) prefill.remove_prefix(closed + mark.size());
  return prefill;
}

std::optional<std::size_t> begun_json(JsonRoot root, std::string_view prefill) {
  std::string words;
  for (std::size_t at = 0; at < prefill.size(); ++at) {
    if (may_begin(root, words, prefill[at])) {
      JsonPrefix reader({.root = root});
      const std::string_view rest = prefill.substr(at);
      // Behind words, a value that is whole was one of them.
      const bool first = words.empty() || is_fence(words);
      if (reader.feed(rest) == rest.size() && (first || !reader.complete())) return at;
    }
    add_word(words, prefill[at]);
  }
  return std::nullopt;
}

JsonAnswer::JsonAnswer(JsonRoot root, std::string_view prefill)
    : root_(root), value_({.root = root}) {
  if (const auto begin = begun_json(root, prefill)) {
    std::string shown;
    feed(prefill.substr(*begin), shown);
    if (!candidate_.empty()) begin_with_candidate(shown);
    if (!done_) value_.assume_shown();
  } else {
    for (const char byte : prefill) add_word(words_, byte);
  }
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
      add_word(words_, candidate_.front());
      candidate_.clear();
    } else if (!candidate_.empty()) {
      candidate_ += byte;
    }
    if (candidate_.empty() && may_begin(root_, words_, byte)) {
      candidate_ = byte;
      probe_ = JsonPrefix();
      probe_.feed(candidate_);
    } else if (candidate_.empty()) {
      add_word(words_, byte);
    }
    if (candidate_is_sure()) begin_with_candidate(json);
  }
  return taken;
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
  value_.feed(candidate_, json);
  candidate_.clear();
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
