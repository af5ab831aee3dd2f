#include "sse_checker.h"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <boost/system/error_code.hpp>
#include <utility>

namespace zerohop {
namespace {

namespace json = boost::json;

std::optional<json::object> parse_object(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

const json::object* object_at(const json::object& parent, std::string_view key) {
  const json::value* value = parent.if_contains(key);
  return value == nullptr ? nullptr : value->if_object();
}

// Empty when absent or of another type.
std::string text_at(const json::object& parent, std::string_view key) {
  const json::value* value = parent.if_contains(key);
  const json::string* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string() : std::string(text->data(), text->size());
}

bool is_string_at(const json::object& parent, std::string_view key) {
  const json::value* value = parent.if_contains(key);
  return value != nullptr && value->is_string();
}

bool is_null_at(const json::object& parent, std::string_view key) {
  const json::value* value = parent.if_contains(key);
  return value != nullptr && value->is_null();
}

std::optional<std::uint64_t> count_at(const json::object& parent, std::string_view key) {
  const json::value* value = parent.if_contains(key);
  if (value == nullptr || !value->is_int64() || value->get_int64() < 0) return std::nullopt;
  return static_cast<std::uint64_t>(value->get_int64());
}

// Returns the fault.
std::string read_usage(const json::object& parent, SeenAnswer& answer) {
  const json::object* usage = object_at(parent, "usage");
  if (usage == nullptr) return "usage is missing";
  const auto input = count_at(*usage, "input_tokens");
  const auto created = count_at(*usage, "cache_creation_input_tokens");
  const auto cached = count_at(*usage, "cache_read_input_tokens");
  const auto output = count_at(*usage, "output_tokens");
  if (!input || !created || !cached || !output) return "a counter of usage is missing";
  answer.input_tokens = *input;
  answer.cache_creation_tokens = *created;
  answer.cache_read_tokens = *cached;
  answer.output_tokens = *output;
  return {};
}

// The fields of a message that are known before anything is generated. Returns the fault.
std::string read_head(const json::object& message, SeenAnswer& answer) {
  answer.message_id = text_at(message, "id");
  if (!answer.message_id.starts_with("msg_")) return "a message id begins with msg_";
  if (text_at(message, "type") != "message") return "the type of a message is message";
  if (text_at(message, "role") != "assistant") return "the role of an answer is assistant";
  if (text_at(message, "model").empty()) return "a message names its model";
  return {};
}

std::string read_stop(const json::object& parent, SeenAnswer& answer) {
  answer.stop_reason = text_at(parent, "stop_reason");
  if (answer.stop_reason.empty()) return "stop_reason is missing";
  if (answer.stop_reason == "stop_sequence") {
    if (!is_string_at(parent, "stop_sequence")) return "the stop sequence must be named";
    answer.stop_sequence = text_at(parent, "stop_sequence");
  } else if (!is_null_at(parent, "stop_sequence")) {
    return "stop_sequence must be null where none matched";
  }
  return {};
}

}  // namespace

void SseChecker::feed(std::string_view bytes) {
  for (const char byte : bytes) {
    if (byte == '\n') {
      read_line();
      line_.clear();
    } else {
      line_.push_back(byte);
    }
  }
}

void SseChecker::read_line() {
  if (line_.find('\r') != std::string::npos) return fail("a line holds a carriage return");
  if (line_.empty()) {
    // An empty line after a comment dispatches nothing.
    if (frame_open()) read_frame();
    event_.clear();
    data_.clear();
  } else if (line_.starts_with(":")) {
    if (frame_open()) fail("a comment inside a frame");
  } else if (line_.starts_with("event: ") && !frame_open()) {
    event_ = line_.substr(7);
  } else if (line_.starts_with("data: ") && !event_.empty() && data_.empty()) {
    data_ = line_.substr(6);
  } else {
    fail("a frame is one event line and one data line, got: " + line_);
  }
}

void SseChecker::read_frame() {
  const auto data = parse_object(data_);
  if (!data) return fail("data is no JSON object: " + data_);
  if (text_at(*data, "type") != event_) return fail("data.type must equal the event name");
  if (stopped_ || failed_) return fail(event_ + " after the end");
  read_event(*data);
}

void SseChecker::read_event(const json::object& data) {
  if (event_ == "ping") return;
  if (event_ == "error") return read_error(data);
  if (event_ == "message_start") return read_message_start(data);
  if (!started_) return fail(event_ + " before message_start");
  if (event_ == "content_block_start") return read_block_start(data);
  if (event_ == "content_block_delta") return read_block_delta(data);
  if (event_ == "content_block_stop") return read_block_stop(data);
  if (event_ == "message_delta") return read_message_delta(data);
  if (event_ != "message_stop") return fail("unknown event " + event_);
  if (!delta_seen_) return fail("message_stop without message_delta");
  stopped_ = true;
}

void SseChecker::read_message_start(const json::object& data) {
  if (started_) return fail("message_start came twice");
  started_ = true;
  const json::object* message = object_at(data, "message");
  if (message == nullptr) return fail("message_start without message");
  if (std::string fault = read_head(*message, answer_); !fault.empty()) return fail(fault);
  const json::value* content = message->if_contains("content");
  if (content == nullptr || !content->is_array() || !content->get_array().empty()) {
    return fail("content must be [] at the start");
  }
  if (!is_null_at(*message, "stop_reason") || !is_null_at(*message, "stop_sequence")) {
    return fail("no stop reason is known at the start");
  }
  if (std::string fault = read_usage(*message, answer_); !fault.empty()) return fail(fault);
}

void SseChecker::read_index(const json::object& data, std::int64_t wanted) {
  const auto index = count_at(data, "index");
  if (!index || static_cast<std::int64_t>(*index) != wanted) fail("indices must run without gaps");
}

void SseChecker::read_block_start(const json::object& data) {
  if (block_open_) return fail("a block is still open");
  if (delta_seen_) return fail("a block after message_delta");
  read_index(data, blocks_closed_);
  const json::object* block = object_at(data, "content_block");
  if (block == nullptr || text_at(*block, "type") != "text") return fail("unknown block type");
  if (!is_string_at(*block, "text") || !text_at(*block, "text").empty()) {
    return fail("a text block starts with empty text");
  }
  block_open_ = true;
  block_has_delta_ = false;
}

void SseChecker::read_block_delta(const json::object& data) {
  if (!block_open_) return fail("a delta without an open block");
  read_index(data, blocks_closed_);
  const json::object* delta = object_at(data, "delta");
  if (delta == nullptr || text_at(*delta, "type") != "text_delta") {
    return fail("a text block takes text_delta");
  }
  const std::string text = text_at(*delta, "text");
  if (text.empty()) return fail("an empty delta");
  answer_.text += text;
  block_has_delta_ = true;
}

void SseChecker::read_block_stop(const json::object& data) {
  if (!block_open_) return fail("a stop without an open block");
  if (!block_has_delta_) return fail("a block needs one delta at least");
  read_index(data, blocks_closed_);
  block_open_ = false;
  ++blocks_closed_;
}

void SseChecker::read_message_delta(const json::object& data) {
  if (block_open_) return fail("message_delta while a block is open");
  if (delta_seen_) return fail("message_delta came twice");
  delta_seen_ = true;
  const json::object* delta = object_at(data, "delta");
  if (delta == nullptr) return fail("message_delta without delta");
  if (std::string fault = read_stop(*delta, answer_); !fault.empty()) return fail(fault);
  const SeenAnswer before = answer_;
  if (std::string fault = read_usage(data, answer_); !fault.empty()) return fail(fault);
  if (before.input_tokens != answer_.input_tokens ||
      before.cache_creation_tokens != answer_.cache_creation_tokens ||
      before.cache_read_tokens != answer_.cache_read_tokens) {
    fail("the input counters changed after message_start");
  }
}

void SseChecker::read_error(const json::object& data) {
  const json::object* error = object_at(data, "error");
  if (error == nullptr || text_at(*error, "message").empty()) return fail("error without message");
  answer_.error_type = text_at(*error, "type");
  if (answer_.error_type.empty()) return fail("error without type");
  failed_ = true;
}

std::string read_whole_answer(std::string_view body, SeenAnswer& answer) {
  const auto message = parse_object(body);
  if (!message) return "the body is no JSON object";
  if (std::string fault = read_head(*message, answer); !fault.empty()) return fault;
  const json::value* content = message->if_contains("content");
  if (content == nullptr || !content->is_array()) return "content must be an array";
  for (const json::value& block : content->get_array()) {
    if (!block.is_object() || text_at(block.get_object(), "type") != "text") return "unknown block";
    const std::string text = text_at(block.get_object(), "text");
    if (text.empty()) return "an empty block";
    answer.text += text;
  }
  if (std::string fault = read_stop(*message, answer); !fault.empty()) return fault;
  return read_usage(*message, answer);
}

std::string read_error_body(std::string_view body, std::string& error_type) {
  const auto document = parse_object(body);
  if (!document || text_at(*document, "type") != "error") return "no error object";
  const json::object* error = object_at(*document, "error");
  if (error == nullptr || text_at(*error, "message").empty()) return "an error without message";
  error_type = text_at(*error, "type");
  return error_type.empty() ? "an error without type" : "";
}

}  // namespace zerohop
