// Reads an answer as the strictest official client would and names the first rule that it breaks.
//
// Written from the protocol (Messages API, streaming and response; SSE of WHATWG HTML), not from
// the code that writes it: it has its own reader of lines and looks at plain JSON values. Bytes may
// come in pieces of any size.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zerohop {

/// What a client knows when the answer is over, streamed or whole.
struct SeenAnswer {
  std::string message_id;
  std::string text;
  std::string stop_reason;
  std::optional<std::string> stop_sequence;
  std::uint64_t input_tokens = 0;
  std::uint64_t cache_creation_tokens = 0;
  std::uint64_t cache_read_tokens = 0;
  std::uint64_t output_tokens = 0;
  std::string error_type;  ///< of an `error` event; empty when there was none
};

class SseChecker {
 public:
  void feed(std::string_view bytes);

  /// Empty while every rule holds.
  const std::string& fault() const { return fault_; }
  /// message_stop or error has come, and the last frame is whole.
  bool ended() const { return (stopped_ || failed_) && line_.empty() && !frame_open(); }
  bool failed() const { return failed_; }
  const SeenAnswer& answer() const { return answer_; }

 private:
  void fail(std::string what) {
    if (fault_.empty()) fault_ = std::move(what);
  }
  bool frame_open() const { return !event_.empty() || !data_.empty(); }
  void read_line();
  void read_frame();
  void read_event(const boost::json::object& data);
  void read_message_start(const boost::json::object& data);
  void read_block_start(const boost::json::object& data);
  void read_block_delta(const boost::json::object& data);
  void read_block_stop(const boost::json::object& data);
  void read_message_delta(const boost::json::object& data);
  void read_error(const boost::json::object& data);
  void read_index(const boost::json::object& data, std::int64_t wanted);

  std::string fault_;
  SeenAnswer answer_;

  // The reader of lines
  std::string line_;
  std::string event_;
  std::string data_;

  // The machine of the message
  bool started_ = false;
  bool block_open_ = false;
  bool block_has_delta_ = false;
  bool delta_seen_ = false;
  bool stopped_ = false;
  bool failed_ = false;
  std::int64_t blocks_closed_ = 0;
};

/// Reads the body of an answer that was not streamed. Returns the fault; empty when it is right.
std::string read_whole_answer(std::string_view body, SeenAnswer& answer);

/// Reads an error body. Returns the fault; empty when it is right.
std::string read_error_body(std::string_view body, std::string& error_type);

}  // namespace zerohop
