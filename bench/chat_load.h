// Streamed chat requests over loopback from one thread, in the dialect that this server and its
// peer both speak (/v1/chat/completions), so that both get the same bytes. What goes wrong is
// recorded, not fatal: a load may abort requests and may be refused.
//
// One thread owns a ChatLoad.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http_wire.h"

namespace zerohop::bench {

/// How a request ended.
enum class ChatEnd : std::uint8_t {
  kRunning,
  kWhole,    ///< a stop reason and the end mark arrived
  kRefused,  ///< another status than 200
  kBroken,   ///< an error inside the stream, or the stream ended early
  kAborted,  ///< by us
};

/// One request and what was seen of it. Times are those of now_seconds().
struct ChatLog {
  double sent_at = 0;
  std::vector<double> text_times;  ///< arrival of each piece of text
  double ended_at = 0;
  std::string text;  ///< of the answer, as the JSON had it (escaped)
  std::string finish_reason;
  std::string trouble;  ///< body of a refusal, or the error of a broken stream
  int status = 0;       ///< of HTTP; 0: none arrived
  int prompt_tokens = 0;
  int cached_tokens = 0;  ///< of the prompt
  int output_tokens = 0;
  ChatEnd end = ChatEnd::kRunning;

  /// From sending to the first text; to the end when there was none.
  double first_text_seconds() const {
    return (text_times.empty() ? ended_at : text_times.front()) - sent_at;
  }
  double total_seconds() const { return ended_at - sent_at; }
};

/// The parts of a request body.
struct ChatBody {
  std::string system;  ///< JSON-escaped, like all text here; empty: none
  /// User and assistant in turn, the user first.
  std::vector<std::string> turns;
  int max_tokens = 16;
  /// Bans the end-of-turn tokens of the default model, so that answers have their full length.
  bool endless = true;
  std::string headers = {};  ///< whole lines

  std::string json() const;
};

class ChatLoad {
 public:
  explicit ChatLoad(std::uint16_t port) : port_(port) {}
  ~ChatLoad();
  ChatLoad(const ChatLoad&) = delete;
  ChatLoad& operator=(const ChatLoad&) = delete;

  /// Sends one more request on a connection of its own. Returns its index.
  std::size_t start(const ChatBody& body);

  /// Closes the connection of a request that still runs.
  void abort(std::size_t index);

  /// Called for each request that ends, except by abort(); may call start() and abort().
  void set_on_end(std::function<void(std::size_t)> callback) { on_end_ = std::move(callback); }

  /// Waits for something to arrive, at most `seconds`, and takes it. False when nothing came.
  bool poll_once(double seconds);

  /// Reads until `done()`, all requests have ended, or nothing at all arrives for ten minutes.
  void run_until(const std::function<bool()>& done);
  void run() {
    run_until([] { return false; });
  }
  /// Reads for that long, whatever runs.
  void run_for(double seconds);

  std::size_t running() const { return connections_.size(); }
  const ChatLog& log(std::size_t index) const { return logs_[index]; }
  const std::vector<ChatLog>& logs() const { return logs_; }

 private:
  struct Connection {
    std::size_t index = 0;
    int descriptor = -1;
    AnswerReader reader;
    std::string unread;
  };
  void take(std::size_t place);
  void take_events(Connection& connection, double at);
  void take_data(ChatLog& log, std::string_view data, double at);
  void finish(std::size_t place, ChatEnd end);

  const std::uint16_t port_;
  std::function<void(std::size_t)> on_end_;
  std::vector<std::unique_ptr<Connection>> connections_;  // those that run
  std::vector<ChatLog> logs_;
};

}  // namespace zerohop::bench
