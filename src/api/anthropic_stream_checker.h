// For tests: reads the bytes of an Anthropic stream as the strictest client would and names the
// first rule that they break. Written against the protocol, not against AnthropicStream. Source:
// Messages API, streaming (framing, sequence, what client accumulators require).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "api/json_place.h"

namespace zerohop {

/// A block as a client has it when the stream is over.
struct SeenBlock {
  std::string type;
  std::string text;  ///< of tool_use: the JSON of its input
  std::string signature;
  std::string id;
  std::string name;
  friend bool operator==(const SeenBlock&, const SeenBlock&) = default;
};

class AnthropicStreamChecker {
 public:
  enum class Profile { kFull, kFolded };
  explicit AnthropicStreamChecker(Profile profile = Profile::kFull) : profile_(profile) {}

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
  const std::vector<SeenBlock>& blocks() const { return blocks_; }
  /// All text blocks, joined.
  std::string text() const {
    std::string text;
    for (const SeenBlock& block : blocks_) {
      if (block.type == "text") text += block.text;
    }
    return text;
  }
  const std::string& stop_reason() const { return stop_reason_; }
  std::size_t input_tokens() const { return input_tokens_; }  ///< all three counters
  std::size_t output_tokens() const { return output_tokens_; }

 private:
  bool folded() const { return profile_ == Profile::kFolded; }

  void fail(std::string what) {
    if (fault_.empty()) fault_ = std::move(what);
  }

  void read_frame(std::string_view frame) {
    constexpr std::string_view kEvent = "event: ";
    constexpr std::string_view kData = "\ndata: ";
    if (frame.starts_with(':') && frame.find('\n') == std::string_view::npos) return;  // a comment
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
    if (root.text_or_empty("type") != name) return fail("data.type must equal the event name");
    if (ended_) return fail("nothing may follow the end");
    read_event(name, root);
  }

  void read_event(std::string_view name, const JsonPlace& data) {
    if (name == "error") return read_error(data);
    if (name == "message_start") return read_start(data);
    if (!started_) return fail("message_start must come first");
    if (name == "content_block_delta") return read_delta(data);
    if (name == "message_stop") return read_message_stop(data);
    if (folded()) return fail("not an event of the folded profile: " + std::string(name));
    if (name == "ping") return;
    if (name == "content_block_start") return read_block_start(data);
    if (name == "content_block_stop") return read_block_stop(data);
    if (name == "message_delta") return read_message_delta(data);
    fail("unknown event " + std::string(name));
  }

  void read_error(const JsonPlace& data) {
    const auto error = data.find("error");
    if (!error || error->text_or_empty("type").empty() || error->text_or_empty("message").empty()) {
      return fail("an error needs type and message");
    }
    ended_ = failed_ = true;
  }

  void read_start(const JsonPlace& data) {
    if (started_) return fail("message_start came twice");
    started_ = true;
    const auto message = data.find("message");
    if (!message) return fail("message_start needs a message");
    if (message->text_or_empty("id").empty() || message->text_or_empty("role") != "assistant" ||
        message->text_or_empty("type") != "message") {
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
    if (number_at(data, "index") != blocks_.size()) return fail("indices must run without gaps");
    const auto block = data.find("content_block");
    if (!block) return fail("a block start needs its block");
    begin_block(*block);
  }

  void begin_block(const JsonPlace& block) {
    SeenBlock seen;
    seen.type = block.text_or_empty("type");
    if (seen.type == "text") {
      if (!has_empty(block, "text")) return fail("a text block starts with an empty text");
    } else if (seen.type == "thinking") {
      if (!has_empty(block, "thinking") || !has_empty(block, "signature")) {
        return fail("a thinking block starts with empty thinking and signature");
      }
    } else if (seen.type == "tool_use") {
      seen.id = block.text_or_empty("id");
      seen.name = block.text_or_empty("name");
      const auto input = block.find("input");
      if (seen.id.empty() || seen.name.empty()) return fail("a call needs id and name");
      if (!input || !input->value().is_object() || !input->value().get_object().empty()) {
        return fail("a call starts with input {}");
      }
      const auto caller = block.find("caller");
      if (!caller || caller->text_or_empty("type") != "direct") return fail("caller is missing");
    } else {
      return fail("the block needs a known type");
    }
    for (const SeenBlock& other : blocks_) {
      if (!seen.id.empty() && other.id == seen.id) return fail("ids of calls must be unique");
    }
    open_ = true;
    blocks_.push_back(std::move(seen));
    has_payload_ = false;
  }

  // Without block starts, a new index or a new kind of delta begins a block.
  void begin_folded_block(const JsonPlace& data, std::string_view delta_type) {
    const std::size_t index = number_at(data, "index");
    if (open_ && index + 1 == blocks_.size()) return;
    if (open_) finish_block();
    if (index != blocks_.size()) return fail("indices must run without gaps");
    if (const auto block = data.find("content_block")) return begin_block(*block);
    if (delta_type == "input_json_delta") return fail("a call must say its name");
    SeenBlock seen;
    seen.type = delta_type == "text_delta" ? "text" : "thinking";
    open_ = true;
    blocks_.push_back(std::move(seen));
    has_payload_ = false;
  }

  void read_delta(const JsonPlace& data) {
    const auto delta = data.find("delta");
    if (!delta) return fail("a delta is missing");
    const std::string type(delta->text_or_empty("type"));
    if (folded()) begin_folded_block(data, type);
    if (!open_ || number_at(data, "index") + 1 != blocks_.size()) {
      return fail("delta of a block not open");
    }
    SeenBlock& block = blocks_.back();
    if (!block.signature.empty()) return fail("nothing may follow a signature");
    if (type == "text_delta" && block.type == "text") return take(*delta, "text");
    if (type == "thinking_delta" && block.type == "thinking") return take(*delta, "thinking");
    if (type == "input_json_delta" && block.type == "tool_use") {
      return take(*delta, "partial_json");
    }
    if (type != "signature_delta" || block.type != "thinking") {
      return fail(type + " does not belong into a " + block.type + " block");
    }
    block.signature = delta->text_or_empty("signature");
    if (block.signature.empty()) return fail("an empty signature");
  }

  void take(const JsonPlace& delta, std::string_view key) {
    const auto payload = delta.find(key);
    if (!payload || !payload->is_string()) return fail("the delta needs " + std::string(key));
    blocks_.back().text.append(payload->string().value());
    has_payload_ = has_payload_ || !payload->string().value().empty();
  }

  void read_block_stop(const JsonPlace& data) {
    if (!open_ || number_at(data, "index") + 1 != blocks_.size()) {
      return fail("stop of a block not open");
    }
    finish_block();
  }

  void finish_block() {
    const SeenBlock& block = blocks_.back();
    open_ = false;
    if (block.type == "thinking") {
      if (block.signature.empty()) fail("a thinking block without signature");
      return;
    }
    if (!has_payload_) return fail("an empty block");
    if (block.type != "tool_use") return;
    const auto input = parse_json(block.text);
    if (!input.ok() || !input->root().is_object()) fail("the input of a call is no JSON object");
  }

  void read_message_delta(const JsonPlace& data) {
    if (open_) return fail("a block is still open at message_delta");
    if (delta_seen_) return fail("message_delta came twice");
    delta_seen_ = true;
    read_end(data);
  }

  // Stop reason and usage, in whichever event they come.
  void read_end(const JsonPlace& data) {
    const auto delta = data.find("delta");
    if (!delta) return fail("message_delta needs a delta");
    stop_reason_ = delta->text_or_empty("stop_reason");
    if (stop_reason_.empty()) return fail("message_delta needs a stop_reason");
    if (delta->find("stop_sequence").has_value() != (stop_reason_ == "stop_sequence")) {
      return fail("stop_sequence must be there exactly when it is the reason");
    }
    bool calls = false;
    for (const SeenBlock& block : blocks_) calls = calls || block.type == "tool_use";
    if (calls && stop_reason_ == "end_turn") return fail("a turn with calls ends for tool_use");
    if (read_usage(data) != input_tokens_) fail("the input counts changed");
  }

  void read_message_stop(const JsonPlace& data) {
    if (folded()) {
      if (open_) finish_block();
      read_end(data);
    } else if (!delta_seen_) {
      return fail("message_stop without message_delta");
    }
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

  // False when the member is missing, no string, or not empty.
  static bool has_empty(const JsonPlace& parent, std::string_view key) {
    const auto place = parent.find(key);
    return place && place->is_string() && place->string().value().empty();
  }

  std::size_t number_at(const JsonPlace& parent, std::string_view key) {
    const auto place = parent.find(key);
    const auto number = place ? place->integer({0, 4'294'967'295}) : Result<std::int64_t>(-1);
    if (number.ok() && *number >= 0) return static_cast<std::size_t>(*number);
    fail(std::string(key) + " must be a count");
    return 0;
  }

  const Profile profile_;
  std::string fault_;
  bool started_ = false;
  bool open_ = false;         // the last block
  bool has_payload_ = false;  // of the open block
  bool delta_seen_ = false;
  bool ended_ = false;
  bool failed_ = false;
  std::vector<SeenBlock> blocks_;
  std::size_t input_tokens_ = 0;
  std::size_t output_tokens_ = 0;
  std::string stop_reason_;
};

}  // namespace zerohop
