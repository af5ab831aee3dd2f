// A small load generator: raw HTTP over loopback, one thread, poll(). It keeps its own cost low,
// since it shares the cores with what it measures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench_clock.h"

namespace zerohop::bench {

/// One streamed request and what was seen of it. Times are those of now_seconds().
struct StreamLog {
  std::string body;  ///< of the request, JSON
  double sent_at = 0;
  std::vector<double> delta_times;  ///< arrival of each content_block_delta
  double finished_at = 0;           ///< message_stop
  int output_tokens = 0;
};

/// Streams that run side by side on connections of their own.
class StreamGroup {
 public:
  explicit StreamGroup(std::uint16_t port) : port_(port) {}
  ~StreamGroup();

  /// Sends one more request. Returns its index.
  std::size_t start(std::string body);

  /// Reads until `done` is true for the group, or all streams have ended.
  template <class Done>
  void read_until(Done done) {
    while (!all_ended() && !done(logs_)) poll_once();
  }
  void read_all() {
    read_until([](const std::vector<StreamLog>&) { return false; });
  }

  const std::vector<StreamLog>& logs() const { return logs_; }

 private:
  struct Socket {
    int descriptor = -1;
    std::string unread;
  };
  bool all_ended() const;
  void poll_once();
  void take(std::size_t index);
  void parse(std::size_t index, double at);

  const std::uint16_t port_;
  std::vector<Socket> sockets_;
  std::vector<StreamLog> logs_;
};

/// One keep-alive connection for whole answers.
class PlainClient {
 public:
  explicit PlainClient(std::uint16_t port);
  ~PlainClient();
  /// Sends and waits for the answer; returns its body. Crashes on anything but 200.
  std::string post(const std::string& path, const std::string& body);

 private:
  int descriptor_;
};

/// Requests for whole answers on `connections` keep-alive connections, each with one outstanding
/// request, from one thread.
struct RequestPump {
  std::uint16_t port = 0;
  std::string path;
  std::size_t connections = 32;

  /// Sends the bodies that `next` gives until `seconds` have passed. Returns answers per second.
  double run(const std::function<std::string()>& next, double seconds) const;
};

}  // namespace zerohop::bench
