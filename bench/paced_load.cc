#include "paced_load.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <deque>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "bench_clock.h"
#include "http_wire.h"

namespace zerohop::bench {
namespace {

// Without an answer for so long the server counts as hanging.
constexpr double kSilenceSecondsMax = 30;
constexpr std::uint64_t kArrivalSeed = 77;

// One that no load of this program has used. Not the first ones: others may count those as well.
std::uint32_t fresh_address() {
  static std::uint32_t used = 256;
  return ++used;
}

class Connections {
 public:
  Connections(const PacedLoad& load, LoadFigures& figures)
      : load_(load), figures_(figures), begin_(now_seconds()) {
    // The kernel adds up to 50 µs to a wait unless it is told otherwise.
    prctl(PR_SET_TIMERSLACK, 1UL);
    clients_.resize(load.connections);
    polls_.resize(load.connections, pollfd{-1, POLLIN, 0});
    for (std::size_t i = 0; i < clients_.size(); ++i) open(i);
  }
  ~Connections() {
    for (const pollfd& entry : polls_) {
      if (entry.fd >= 0) close(entry.fd);
    }
  }
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  std::size_t idle() const { return idle_.size(); }
  std::size_t busy() const { return clients_.size() - idle_.size(); }

  /// Sends the next request; its latency counts from `since`. There must be an idle connection.
  void send(double since) {
    const std::size_t index = idle_.front();
    idle_.pop_front();
    Client& client = clients_[index];
    if (load_.requests_per_connection != 0 && client.sent == load_.requests_per_connection) {
      open(index);
      idle_.pop_back();
    }
    client.busy = true;
    client.since = since;
    client.sent_late = now_seconds() - since;
    client.request = next_request_++ % load_.requests.size();
    client.reader = AnswerReader();
    ++client.sent;
    const std::string& bytes = load_.requests[client.request];
    if (!send_all(polls_[index].fd, bytes)) lost(index);
  }

  /// Waits for answers, at most `seconds`, and takes what came.
  void take(double seconds) {
    timespec limit{};
    if (seconds > 0) {
      limit.tv_sec = static_cast<time_t>(seconds);
      limit.tv_nsec = static_cast<long>((seconds - std::floor(seconds)) * 1e9);
    }
    if (ppoll(polls_.data(), polls_.size(), &limit, nullptr) <= 0) return;
    for (std::size_t i = 0; i < polls_.size(); ++i) {
      if (polls_[i].revents != 0) read(i);
    }
  }

 private:
  struct Client {
    AnswerReader reader;
    bool busy = false;
    double since = 0;
    double sent_late = 0;
    std::size_t request = 0;
    std::size_t sent = 0;
  };

  void open(std::size_t index) {
    if (polls_[index].fd >= 0) close(polls_[index].fd);
    const std::uint32_t place = load_.requests_per_connection == 0 ? 0 : fresh_address();
    polls_[index].fd = connect_from(place, load_.port);
    ZH_CHECK(polls_[index].fd >= 0);
    clients_[index].sent = 0;
    idle_.push_back(index);
  }

  // The connection has ended; one that was idle is only replaced.
  void lost(std::size_t index) {
    if (!std::exchange(clients_[index].busy, false)) {
      idle_.erase(std::find(idle_.begin(), idle_.end(), index));
    } else {
      ++figures_.broken;
    }
    open(index);
  }

  void read(std::size_t index) {
    char buffer[16384];
    const ssize_t count = recv(polls_[index].fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (count <= 0) {
      lost(index);
      return;
    }
    Client& client = clients_[index];
    client.reader.feed({buffer, static_cast<std::size_t>(count)});
    if (!client.reader.complete()) return;
    const double now = now_seconds();
    figures_.answers.push_back({client.reader.status(), client.request, now - client.since,
                                client.sent_late, now - begin_});
    client.busy = false;
    idle_.push_back(index);
  }

  const PacedLoad& load_;
  LoadFigures& figures_;
  const double begin_;
  std::vector<Client> clients_;
  std::vector<pollfd> polls_;
  std::deque<std::size_t> idle_;
  std::size_t next_request_ = 0;
};

// Waits for what is still to come. What does not come counts as broken.
void drain(Connections& connections, LoadFigures& figures) {
  const double until = now_seconds() + kSilenceSecondsMax;
  while (connections.busy() > 0 && now_seconds() < until) connections.take(0.1);
  figures.broken += connections.busy();
}

std::vector<double> due_times(const OpenLoop& loop) {
  Random random(kArrivalSeed);
  std::vector<double> times;
  double at = 0;
  while (at < loop.seconds) {
    times.push_back(at);
    const double gap = loop.arrivals == Arrivals::kEven ? 1 : -std::log(1 - random.uniform());
    at += gap / loop.rate;
  }
  return times;
}

}  // namespace

std::vector<double> LoadFigures::latencies(int status) const {
  std::vector<double> values;
  for (const LoadAnswer& answer : answers) {
    if (status == 0 || answer.status == status) values.push_back(answer.latency);
  }
  return values;
}

std::string LoadFigures::statuses() const {
  std::map<int, std::size_t> counts;
  for (const LoadAnswer& answer : answers) ++counts[answer.status];
  std::string text;
  for (const auto& [status, count] : counts) {
    text += (text.empty() ? "" : ", ") + std::to_string(status) + " ×" + std::to_string(count);
  }
  if (broken > 0) text += ", no answer ×" + std::to_string(broken);
  return text;
}

LoadFigures run_closed(const PacedLoad& load, const ClosedLoop& loop) {
  LoadFigures figures;
  Connections connections(load, figures);
  const double begin = now_seconds();
  std::size_t sent = 0;
  const auto more = [&] { return loop.answers_max == 0 || sent < loop.answers_max; };
  while (now_seconds() < begin + loop.seconds && more()) {
    while (connections.idle() > 0 && more()) {
      connections.send(now_seconds());
      ++sent;
    }
    connections.take(1);
  }
  drain(connections, figures);
  figures.seconds = now_seconds() - begin;
  return figures;
}

LoadFigures run_open(const PacedLoad& load, const OpenLoop& loop) {
  LoadFigures figures;
  Connections connections(load, figures);
  const double begin = now_seconds();
  for (const double time : due_times(loop)) {
    while (true) {
      const double left = begin + time - now_seconds();
      if (left <= 0 && connections.idle() > 0) break;
      connections.take(left > 0 ? left : 1);
    }
    connections.send(begin + time);
  }
  drain(connections, figures);
  figures.seconds = now_seconds() - begin;
  return figures;
}

}  // namespace zerohop::bench
