#include "prompt/tool_call_reader.h"

#include <algorithm>
#include <utility>

#include "constrain/json_text.h"

namespace zerohop {
namespace {

constexpr std::size_t kNameBytesMax = 256;        // the longest that clients use is 128
constexpr std::size_t kBehindNameBytesMax = 128;  // an id, a type, a channel

bool is_space(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

void skip_spaces(std::string_view& bytes) {
  while (!bytes.empty() && is_space(bytes.front())) bytes.remove_prefix(1);
}

// What a name that stands without quotes can hold. A colon is not among it: some forms end the name
// with one.
bool is_name_byte(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '_' || byte == '-' || byte == '.' || byte == '/' ||
         code >= 0x80;
}

}  // namespace

ToolCallReader::ToolCallReader(const ToolSyntax& syntax, ToolCallReaderOptions options)
    : syntax_(syntax), options_(options) {}

CallState ToolCallReader::feed(std::string_view& bytes, SegmentSink& sink) {
  while (!bytes.empty()) {
    const CallState state = step(bytes, sink);
    if (state != CallState::kReading) return state;
  }
  return CallState::kReading;
}

CallState ToolCallReader::step(std::string_view& bytes, SegmentSink& sink) {
  switch (step_) {
    case Step::kName: return read_name(bytes, sink);
    case Step::kAfterName: return read_after_name(bytes, sink);
    case Step::kTagged: return read_tagged(bytes, sink);
    case Step::kKey:
    case Step::kNameValue:
    case Step::kArgumentsString:
    case Step::kSkipped: return read_scalar(bytes, sink);
    case Step::kArguments: return read_arguments(bytes, sink);
    default:
      skip_spaces(bytes);
      return bytes.empty() ? CallState::kReading : step_punctuation(bytes, sink);
  }
}

// At a byte that is no white space.
CallState ToolCallReader::step_punctuation(std::string_view& bytes, SegmentSink& sink) {
  const char byte = bytes.front();
  switch (step_) {
    case Step::kBody: return begin_body(bytes, sink);
    case Step::kNamedArguments: return begin_named_arguments(bytes, sink);
    case Step::kValue: return begin_value(bytes, sink);
    case Step::kBetween:
      if (byte != '{' && !(array_ && (byte == ',' || byte == ']'))) return CallState::kDone;
      bytes.remove_prefix(1);
      if (byte == '{') begin_object();
      return byte == ']' ? CallState::kDone : CallState::kReading;
    case Step::kKeyOrEnd:
      if (byte == '"') {
        step_ = Step::kKey;
        begin_scalar();
        return CallState::kReading;
      }
      break;
    case Step::kColon:
      if (byte != ':') return fail(sink);
      bytes.remove_prefix(1);
      step_ = Step::kValue;
      return CallState::kReading;
    default:  // kCommaOrEnd
      if (byte != ',') break;
      bytes.remove_prefix(1);
      step_ = Step::kKeyOrEnd;
      return CallState::kReading;
  }
  if (byte != '}') return fail(sink);
  bytes.remove_prefix(1);
  return close_object(sink);
}

CallState ToolCallReader::begin_body(std::string_view& bytes, SegmentSink& sink) {
  const char byte = bytes.front();
  if (byte == '{') {
    bytes.remove_prefix(1);
    begin_object();
  } else if (byte == '[' && !array_ && options_.opening == CallOpening::kMarked) {
    bytes.remove_prefix(1);
    array_ = true;
  } else if (is_named() && !array_) {
    step_ = Step::kName;
    named_body_ = true;
  } else {
    return fail(sink);
  }
  return CallState::kReading;
}

void ToolCallReader::begin_object() {
  step_ = Step::kKeyOrEnd;
  objects_ = 1;
  open_ = arguments_seen_ = false;
  name_.clear();
  json_.clear();
  arguments_ = JsonRepair({.root = JsonRoot::kObject});
}

CallState ToolCallReader::read_name(std::string_view& bytes, SegmentSink& sink) {
  text_ += bytes.front();
  bytes.remove_prefix(1);
  const std::string_view before = mark_core(syntax_.before_name);
  if (!before_name_) {
    if (before.starts_with(text_) && text_.size() < before.size()) return CallState::kReading;
    before_name_ = true;
    if (!before.empty() && text_ == before) {
      text_.clear();
      return CallState::kReading;
    }
  }
  if (may_become_offered(text_)) return CallState::kReading;
  const std::size_t size = name_size(text_);
  if (size > kNameBytesMax || size == 0) return fail(sink);
  if (size == text_.size()) return CallState::kReading;
  name_ = text_.substr(0, size);
  const std::string rest = text_.substr(size);  // more than a byte when BEFORE_NAME was half there
  text_.clear();
  step_ = Step::kAfterName;
  std::string_view unread = rest;
  return feed(unread, sink);
}

const OfferedTool* ToolCallReader::offered(std::string_view name) const {
  if (options_.offered == nullptr) return nullptr;
  const auto found = std::ranges::find(*options_.offered, name, &OfferedTool::name);
  return found == options_.offered->end() ? nullptr : &*found;
}

bool ToolCallReader::may_become_offered(std::string_view text) const {
  return options_.offered != nullptr &&
         std::ranges::any_of(*options_.offered, [text](const OfferedTool& tool) {
           return std::string_view(tool.name).starts_with(text);
         });
}

// Of the name in front of `text`, which is not the beginning of an offered one alone.
std::size_t ToolCallReader::name_size(std::string_view text) const {
  std::size_t longest = 0;
  for (std::size_t i = 0; options_.offered != nullptr && i < options_.offered->size(); ++i) {
    const std::string& name = (*options_.offered)[i].name;
    const bool ends = text.size() > name.size() && !is_name_byte(text[name.size()]);
    if (ends && text.starts_with(name)) longest = std::max(longest, name.size());
  }
  if (longest > 0) return longest;
  const auto end = std::ranges::find_if_not(text, is_name_byte);
  return static_cast<std::size_t>(end - text.begin());
}

CallState ToolCallReader::read_after_name(std::string_view& bytes, SegmentSink& sink) {
  const std::string_view mark = mark_core(syntax_.after_name);
  const bool tagged = syntax_.kind == ToolSyntaxKind::kTagged;
  if (tagged && mark.empty()) {
    step_ = Step::kTagged;
    begin_tagged();
    return CallState::kReading;
  }
  if (!tagged && bytes.front() == '{') {  // the mark was forgotten
    step_ = Step::kNamedArguments;
    return CallState::kReading;
  }
  text_ += bytes.front();
  bytes.remove_prefix(1);
  if (std::string_view(text_).ends_with(mark)) {
    step_ = tagged ? Step::kTagged : Step::kNamedArguments;
    if (tagged) begin_tagged();
    return CallState::kReading;
  }
  return text_.size() < kBehindNameBytesMax ? CallState::kReading : fail(sink);
}

void ToolCallReader::begin_tagged() {
  const OfferedTool* tool = offered(name_);
  tagged_.emplace(syntax_, tool == nullptr ? nullptr : &tool->parameters);
}

CallState ToolCallReader::begin_named_arguments(std::string_view& bytes, SegmentSink& sink) {
  arguments_seen_ = true;
  if (bytes.front() == '{') {
    step_ = Step::kArguments;
    begin_call(sink);
    return CallState::kReading;
  }
  const std::string_view close = mark_core(syntax_.close);
  if (!close.empty() && bytes.front() == close.front()) return finish_call(sink);  // no arguments
  return fail(sink);
}

CallState ToolCallReader::read_tagged(std::string_view& bytes, SegmentSink& sink) {
  const TaggedArguments::State state = tagged_->feed(bytes, json_);
  if (state == TaggedArguments::State::kNoCall) return fail(sink);
  if (tagged_->begun() && !open_) begin_call(sink);
  if (open_) give_arguments(sink);
  if (state == TaggedArguments::State::kReading) return CallState::kReading;
  const bool next_call = tagged_->ended_by_next_call();
  unread_ = tagged_->take_unread();
  finish_call(sink);
  if (!next_call || options_.count == CallCount::kOne) return CallState::kDone;
  tagged_.reset();
  named_body_ = before_name_ = false;
  step_ = Step::kBody;
  const std::string again = std::exchange(unread_, {});
  std::string_view rest = again;
  const CallState begun = feed(rest, sink);
  unread_ += rest;
  return begun;
}

CallState ToolCallReader::begin_value(std::string_view& bytes, SegmentSink& sink) {
  const char byte = bytes.front();
  const bool is_arguments =
      key_ == syntax_.arguments_key || key_ == "arguments" || key_ == "parameters";
  step_ = Step::kSkipped;
  if ((key_ == "name" || key_ == syntax_.name_key) && name_.empty()) {
    if (byte != '"') return fail(sink);
    step_ = Step::kNameValue;
  } else if (is_arguments && !arguments_seen_) {
    arguments_seen_ = true;
    if (byte == '{') {
      step_ = Step::kArguments;
      if (!name_.empty()) begin_call(sink);
      return CallState::kReading;
    }
    if (byte == '"') step_ = Step::kArgumentsString;
  } else if (key_ == "function" && byte == '{' && objects_ == 1) {
    bytes.remove_prefix(1);
    objects_ = 2;
    step_ = Step::kKeyOrEnd;
    return CallState::kReading;
  } else if (options_.opening == CallOpening::kBare && key_ != "type" && key_ != "id") {
    return fail(sink);
  }
  begin_scalar();
  return CallState::kReading;
}

void ToolCallReader::begin_scalar() {
  scalar_ = JsonRepair();
  text_.clear();
}

// A key, or a value that is needed as a whole or not at all.
CallState ToolCallReader::read_scalar(std::string_view& bytes, SegmentSink& sink) {
  bytes.remove_prefix(scalar_.feed(bytes, text_));
  if (scalar_.broken()) return fail(sink);
  if (step_ == Step::kSkipped) text_.clear();
  if (!scalar_.complete()) return CallState::kReading;
  const Step read = step_;
  step_ = Step::kCommaOrEnd;
  if (read == Step::kKey) {
    key_ = json_unquoted(text_);
    step_ = Step::kColon;
  } else if (read == Step::kNameValue) {
    name_ = json_unquoted(text_);
    const bool known = offered(name_) != nullptr;
    if (!known) name_ = mark_core(name_);
    if (name_.size() > kNameBytesMax) name_.clear();
    if (name_.empty()) return fail(sink);
    const bool bare = options_.opening == CallOpening::kBare;
    if (bare && !known && options_.offered != nullptr) return fail(sink);
    if (!json_.empty()) begin_call(sink);
  } else if (read == Step::kArgumentsString) {
    take_string_arguments();
    if (!name_.empty()) begin_call(sink);
  }
  return CallState::kReading;
}

// text_ is a JSON string, perhaps cut off, that may hold the object.
void ToolCallReader::take_string_arguments() {
  const std::string object = json_unquoted(text_);
  arguments_.feed(mark_core(object), json_);  // takes nothing but an object
}

CallState ToolCallReader::read_arguments(std::string_view& bytes, SegmentSink& sink) {
  bytes.remove_prefix(arguments_.feed(bytes, json_));
  if (open_) give_arguments(sink);
  if (arguments_.broken()) return fail(sink);
  if (!arguments_.complete()) return CallState::kReading;
  if (named_body_) return finish_call(sink);
  step_ = Step::kCommaOrEnd;
  return CallState::kReading;
}

CallState ToolCallReader::close_object(SegmentSink& sink) {
  if (--objects_ > 0) {
    step_ = Step::kCommaOrEnd;
    return CallState::kReading;
  }
  const bool bare = options_.opening == CallOpening::kBare;
  if (name_.empty() || (bare && !arguments_seen_)) return fail(sink);
  return finish_call(sink);
}

void ToolCallReader::begin_call(SegmentSink& sink) {
  open_ = true;
  ++calls_begun_;
  sink.call_begin(name_);
  give_arguments(sink);
}

void ToolCallReader::give_arguments(SegmentSink& sink) {
  if (json_.empty()) return;
  sink.call_arguments(json_);
  json_.clear();
}

// Gives out what is missing of the current call, whose name is known.
CallState ToolCallReader::finish_call(SegmentSink& sink) {
  if (!open_) begin_call(sink);
  if (tagged_) {
    tagged_->close(json_);
    unread_ += tagged_->take_unread();
  } else if (arguments_.begun()) {
    arguments_.close(json_);
  } else {
    json_ = "{}";
  }
  give_arguments(sink);
  sink.call_end();
  open_ = false;
  name_.clear();
  step_ = Step::kBetween;
  // Models put several objects behind one open mark, as a list or not.
  const bool more = !named_body_ && options_.opening == CallOpening::kMarked;
  return more && options_.count == CallCount::kAny ? CallState::kReading : CallState::kDone;
}

// At a byte that cannot be part of the call. JSON that has told a name was meant as one.
CallState ToolCallReader::fail(SegmentSink& sink) {
  const bool meant = !named_body_ && options_.opening == CallOpening::kMarked && !name_.empty();
  if (open_ || meant) finish_call(sink);
  return begun() ? CallState::kBroken : CallState::kNoCall;
}

void ToolCallReader::be_sure(SegmentSink& sink) {
  if (open_ || name_.empty()) return;
  if (tagged_) tagged_->be_sure();
  begin_call(sink);
}

CallState ToolCallReader::end(SegmentSink& sink) {
  if (step_ == Step::kArgumentsString && !name_.empty()) take_string_arguments();
  const bool sure = options_.opening == CallOpening::kMarked || arguments_seen_;
  const bool named = named_body_ && step_ != Step::kName && step_ != Step::kAfterName;
  if (open_ || (!name_.empty() && (named || (!named_body_ && sure)))) finish_call(sink);
  return begun() ? CallState::kDone : CallState::kNoCall;
}

}  // namespace zerohop
