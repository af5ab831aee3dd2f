#include "prompt/tagged_arguments.h"

#include <algorithm>

#include "constrain/json_text.h"

namespace zerohop {
namespace {

constexpr std::string_view kSpaces = " \n\r\t";

bool is_space(char byte) { return kSpaces.find(byte) != std::string_view::npos; }

// The length of the longest end of `text` that begins `mark` without being all of it.
std::size_t half_mark_at_end(std::string_view text, std::string_view mark) {
  for (std::size_t size = std::min(text.size(), mark.size() - 1); size > 0; --size) {
    if (mark.starts_with(text.substr(text.size() - size))) return size;
  }
  return 0;
}

}  // namespace

TaggedArguments::TaggedArguments(const ToolSyntax& syntax, const ParameterKinds* kinds)
    : open_(mark_core(syntax.parameter_open)),
      middle_(key_end_mark(syntax)),
      close_(mark_core(syntax.parameter_close)),
      ends_{mark_core(syntax.arguments_close), mark_core(syntax.close)},
      next_call_(mark_core(syntax.open)),
      kinds_(kinds),
      line_begin_(syntax.parameter_middle.ends_with('\n')),
      line_end_(syntax.parameter_close.starts_with('\n')) {
  middle_rest_ = mark_core(mark_core(syntax.parameter_middle).substr(middle_.size()));
}

TaggedArguments::State TaggedArguments::feed(std::string_view& bytes, std::string& json) {
  buffer_ += bytes;
  while (step(json)) {
  }
  if (step_ == Step::kNoCall) return State::kNoCall;
  if (step_ == Step::kDone) {
    // What is left came with these bytes: the end would have been seen before otherwise, up to
    // values that were read twice.
    const std::size_t left = buffer_.size() - at_;
    if (left > bytes.size()) unread_ = buffer_.substr(at_, left - bytes.size());
    bytes.remove_prefix(bytes.size() - std::min(bytes.size(), left));
    return State::kDone;
  }
  bytes = {};
  buffer_.erase(0, at_);
  at_ = 0;
  return State::kReading;
}

bool TaggedArguments::step(std::string& json) {
  switch (step_) {
    case Step::kBetween: return step_between(json);
    case Step::kKey: return step_key();
    case Step::kValueBegin:
      if (at_ == buffer_.size()) return false;
      begin_value();
      return true;
    case Step::kValue: return json_ ? step_json_value(json) : step_value(json);
    default: return false;
  }
}

bool TaggedArguments::step_between(std::string& json) {
  while (at_ < buffer_.size() && is_space(buffer_[at_])) ++at_;
  const std::string_view rest = std::string_view(buffer_).substr(at_);
  if (rest.empty()) return false;
  if (rest.starts_with(open_)) {
    at_ += open_.size();
    begun_ = true;
    step_ = Step::kKey;
    return true;
  }
  for (const std::string_view end : {ends_[0], ends_[1], next_call_}) {
    if (end.empty() || !rest.starts_with(end)) continue;
    at_ += end.size();
    next_call_seen_ = end == next_call_;
    begun_ = true;
    finish_object(json);
    step_ = Step::kDone;
    return false;
  }
  for (const std::string_view mark : {open_, ends_[0], ends_[1], next_call_}) {
    if (mark.starts_with(rest)) return false;
  }
  if (!begun_) {
    step_ = Step::kNoCall;
    return false;
  }
  ++at_;  // words between parameters
  return true;
}

bool TaggedArguments::step_key() {
  const std::string_view rest = std::string_view(buffer_).substr(at_);
  const std::size_t end = rest.find(middle_);
  if (end == std::string_view::npos) return false;
  std::size_t next = end + middle_.size();
  if (!middle_rest_.empty()) {
    while (next < rest.size() && is_space(rest[next])) ++next;
    const std::string_view tail = rest.substr(next);
    if (tail.size() < middle_rest_.size() && middle_rest_.starts_with(tail)) return false;
    if (tail.starts_with(middle_rest_)) next += middle_rest_.size();
  }
  key_ = mark_core(rest.substr(0, end));
  at_ += next;
  step_ = Step::kValueBegin;
  return true;
}

void TaggedArguments::begin_value() {
  if (line_begin_ && buffer_[at_] == '\n') ++at_;
  step_ = Step::kValue;
  probe_ = JsonPrefix();
  probed_ = shown_ = 0;
  const ParameterKind kind = kinds_ == nullptr ? ParameterKind::kOpen : kinds_->of(key_);
  string_ = kind == ParameterKind::kString;
  json_ = kind == ParameterKind::kJson;
  streaming_ = false;
}

// Up to the mark behind a whole value, or to where it cannot be JSON.
bool TaggedArguments::step_json_value(std::string& json) {
  const std::string_view rest = std::string_view(buffer_).substr(at_);
  const std::size_t begin = rest.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return false;
  if (rest[begin] != '"') {
    probed_ += probe_.feed(rest.substr(probed_));
    if (probed_ == rest.size()) return false;
  }
  if (probe_.complete()) {
    const std::size_t behind = rest.find_first_not_of(kSpaces, probed_);
    if (behind == std::string_view::npos) return false;
    const std::string_view tail = rest.substr(behind);
    if (tail.starts_with(close_)) {
      begin_member(json);
      json += mark_core(rest.substr(0, probed_));
      at_ += behind + close_.size();
      step_ = Step::kBetween;
      return true;
    }
    if (close_.starts_with(tail)) return false;
  }
  take_for_open();
  return true;
}

void TaggedArguments::take_for_open() {
  json_ = false;
  probe_ = JsonPrefix();
  probed_ = 0;
}

bool TaggedArguments::step_value(std::string& json) {
  const std::string_view rest = std::string_view(buffer_).substr(at_);
  const std::size_t from = std::max(shown_, probed_);
  const std::size_t end = rest.find(close_, from);
  if (end != std::string_view::npos) {
    std::string_view value = rest.substr(0, end);
    if (line_end_ && value.ends_with('\n')) value.remove_suffix(1);
    finish_value(value, json);
    at_ += end + close_.size();
    step_ = Step::kBetween;
    return true;
  }
  std::size_t safe = rest.size() - half_mark_at_end(rest, close_);
  if (line_end_ && safe > 0 && rest[safe - 1] == '\n') --safe;
  stream_value(safe, json);
  return false;
}

// Whether a value that begins with `value` must be a string.
bool TaggedArguments::is_string(std::string_view value) {
  if (string_) return true;
  const std::size_t begin = value.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return false;
  if (value[begin] == '"') return string_ = true;
  while (probed_ < value.size()) {
    probed_ += probe_.feed(value.substr(probed_));
    if (probed_ == value.size()) break;
    if (!probe_.complete() || !is_space(value[probed_])) return string_ = true;
    // White space behind a whole value is fine for as long as nothing else follows.
    if (value.find_first_not_of(kSpaces, probed_) != std::string_view::npos) return string_ = true;
    break;
  }
  return false;
}

void TaggedArguments::stream_value(std::size_t safe, std::string& json) {
  const std::string_view value = std::string_view(buffer_).substr(at_, safe);
  if (value.size() <= shown_ || !is_string(value)) return;
  if (!streaming_) {
    begin_member(json);
    json += '"';
    streaming_ = true;
  }
  append_json_escaped(json, value.substr(shown_));
  shown_ = value.size();
}

void TaggedArguments::finish_value(std::string_view value, std::string& json) {
  if (streaming_) {
    if (value.size() > shown_) append_json_escaped(json, value.substr(shown_));
    json += '"';
    return;
  }
  begin_member(json);
  const std::string_view core = mark_core(value);
  if (!string_ && !core.starts_with('"') && is_json(core)) {
    json += core;
  } else {
    json += json_quoted(value);
  }
}

void TaggedArguments::begin_member(std::string& json) {
  json += any_ ? "," : "{";
  any_ = true;
  json += json_quoted(key_);
  json += ':';
}

void TaggedArguments::finish_object(std::string& json) { json += any_ ? "}" : "{}"; }

void TaggedArguments::close(std::string& json) {
  if (step_ == Step::kDone) return;
  if (step_ == Step::kValue && json_ && buffer_.find(close_, at_) != std::string::npos) {
    take_for_open();  // it was not whole at the mark, and now never will be
    while (step(json)) {
    }
    if (step_ == Step::kDone) {
      unread_ = buffer_.substr(at_);
      return;
    }
  }
  if (step_ == Step::kValue) {
    std::string value = buffer_.substr(at_);
    const bool in_text = json_ && probe_.in_string();  // where a mark is a part of it
    if (!in_text) value.resize(value.size() - half_mark_at_end(value, close_));
    if (line_end_ && value.ends_with('\n')) value.pop_back();
    if (!streaming_ && !value.empty() && !is_string(value)) {
      value = mark_core(value);
      JsonPrefix reader;
      if (reader.feed(value) == value.size()) value += reader.closing();
    }
    if (streaming_ || !value.empty()) finish_value(value, json);
  }
  finish_object(json);
  step_ = Step::kDone;
}

}  // namespace zerohop
