// For tests: reads the bytes of an Anthropic stream as the strictest client would and names the
// first rule that they break. Written against the protocol, not against AnthropicStream. Source:
// Messages API, streaming (framing, sequence, what client accumulators require).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api/json_place.h"

namespace zerohop {

class AnthropicStreamChecker {
 public:
  /// `stream` holds whole frames. May be called again with what follows.
  void feed(std::string_view stream) {
    while (!stream.empty() && fault_.empty()) {
      const std::size_t end = stream.find("\n\n");
      if (end == std::string_view::npos) return fail("a frame is cut off");
      read_frame(stream.substr(0, end));
      stream.remove_prefix(end + 2);
    }
  }

  /// Empty while every rule holds.
  const std::string& fault() const { return fault_; }
  /// message_stop or error has been seen.
  bool ended() const { return ended_; }
  bool failed() const { return failed_; }
  const std::string& text() const { return text_; }
  const std::string& stop_reason() const { return stop_reason_; }
  std::size_t blocks() const { return blocks_; }
  std::size_t input_tokens() const { return input_tokens_; }
  std::size_t output_tokens() const { return output_tokens_; }

 private:
  void fail(std::string what) {
    if (fault_.empty()) fault_ = std::move(what);
  }

  void read_frame(std::string_view frame) {
    constexpr std::string_view kEvent = "event: ";
    constexpr std::string_view kData = "\ndata: ";
    const std::size_t split = frame.find(kData);
    if (!frame.starts_with(kEvent) || split == std::string_view::npos) {
      return fail("a frame must be an event line and a data line");
    }
    const std::string_view name = frame.substr(kEvent.size(), split - kEvent.size());
    const std::string_view data = frame.substr(split + kData.size());
    if (data.find('\n') != std::string_view::npos || data.find('\r') != std::string_view::npos) {
      return fail("data must be one line");
    }
    const auto document = parse_json(data);
    if (!document.ok()) return fail(document.error().message);
    const JsonPlace root(document->root());
    if (text_at(root, "type") != name) return fail("data.type must equal the event name");
    if (ended_) return fail("nothing may follow the end");
    read_event(name, root);
  }

  void read_event(std::string_view name, const JsonPlace& data) {
    if (name == "ping") return;
    if (name == "error") return read_error(data);
    if (name == "message_start") return read_start(data);
    if (!started_) return fail("message_start must come first");
    if (name == "content_block_start") return read_block_start(data);
    if (name == "content_block_delta") return read_delta(data);
    if (name == "content_block_stop") return read_block_stop(data);
    if (name == "message_delta") return read_message_delta(data);
    if (name == "message_stop") return read_message_stop();
    fail("unknown event " + std::string(name));
  }

  void read_error(const JsonPlace& data) {
    const auto error = data.find("error");
    if (!error || text_at(*error, "type").empty() || text_at(*error, "message").empty()) {
      return fail("an error needs type and message");
    }
    ended_ = failed_ = true;
  }

  void read_start(const JsonPlace& data) {
    if (started_) return fail("message_start came twice");
    started_ = true;
    const auto message = data.find("message");
    if (!message) return fail("message_start needs a message");
    if (text_at(*message, "id").empty() || text_at(*message, "role") != "assistant" ||
        text_at(*message, "type") != "message") {
      return fail("the message needs id, type and role");
    }
    if (message->find("stop_reason")) return fail("stop_reason must be null at the start");
    const auto content = message->find("content");
    if (!content || !content->array_size(0).ok()) return fail("content must be [] at the start");
    input_tokens_ = read_usage(*message);
  }

  void read_block_start(const JsonPlace& data) {
    if (open_) return fail("a block is still open");
    if (delta_seen_) return fail("no block may follow message_delta");
    if (number_at(data, "index") != blocks_) return fail("indices must run without gaps");
    const auto block = data.find("content_block");
    if (!block || text_at(*block, "type") != "text") return fail("the block needs a known type");
    const auto text = block->find("text");
    if (!text || !text->is_string() || !text->string().value().empty()) {
      return fail("a text block starts with an empty text");
    }
    open_ = true;
    block_has_text_ = false;
  }

  void read_delta(const JsonPlace& data) {
    if (!open_ || number_at(data, "index") != blocks_) return fail("delta of a block not open");
    const auto delta = data.find("delta");
    if (!delta || text_at(*delta, "type") != "text_delta") return fail("a text block needs text");
    const auto text = delta->find("text");
    if (!text || !text->is_string()) return fail("text_delta needs text");
    text_.append(text->string().value());
    block_has_text_ = block_has_text_ || !text->string().value().empty();
  }

  void read_block_stop(const JsonPlace& data) {
    if (!open_ || number_at(data, "index") != blocks_) return fail("stop of a block not open");
    if (!block_has_text_) return fail("an empty block");
    open_ = false;
    ++blocks_;
  }

  void read_message_delta(const JsonPlace& data) {
    if (open_) return fail("a block is still open at message_delta");
    if (delta_seen_) return fail("message_delta came twice");
    delta_seen_ = true;
    const auto delta = data.find("delta");
    if (!delta) return fail("message_delta needs a delta");
    stop_reason_ = text_at(*delta, "stop_reason");
    if (stop_reason_.empty()) return fail("message_delta needs a stop_reason");
    if (delta->find("stop_sequence").has_value() != (stop_reason_ == "stop_sequence")) {
      return fail("stop_sequence must be there exactly when it is the reason");
    }
    if (read_usage(data) != input_tokens_) fail("the input counts changed");
  }

  void read_message_stop() {
    if (!delta_seen_) return fail("message_stop without message_delta");
    ended_ = true;
  }

  // Returns the sum of the three disjoint input counters.
  std::size_t read_usage(const JsonPlace& parent) {
    const auto usage = parent.find("usage");
    if (!usage) {
      fail("usage is missing");
      return 0;
    }
    output_tokens_ = number_at(*usage, "output_tokens");
    return number_at(*usage, "input_tokens") + number_at(*usage, "cache_read_input_tokens") +
           number_at(*usage, "cache_creation_input_tokens");
  }

  static std::string text_at(const JsonPlace& parent, std::string_view key) {
    const auto place = parent.find(key);
    return place && place->is_string() ? std::string(place->string().value()) : std::string();
  }

  std::size_t number_at(const JsonPlace& parent, std::string_view key) {
    const auto place = parent.find(key);
    const auto number = place ? place->integer({0, 4'294'967'295}) : Result<std::int64_t>(-1);
    if (number.ok() && *number >= 0) return static_cast<std::size_t>(*number);
    fail(std::string(key) + " must be a count");
    return 0;
  }

  std::string fault_;
  bool started_ = false;
  bool open_ = false;
  bool block_has_text_ = false;
  bool delta_seen_ = false;
  bool ended_ = false;
  bool failed_ = false;
  std::size_t blocks_ = 0;  // closed ones; the index of an open one
  std::size_t input_tokens_ = 0;
  std::size_t output_tokens_ = 0;
  std::string text_;
  std::string stop_reason_;
};

}  // namespace zerohop
