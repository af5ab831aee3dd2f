#include "chain/plan_load.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <memory>
#include <utility>

#include "base/check.h"
#include "bench_clock.h"
#include "chain/chat_reply.h"
#include "http_wire.h"

namespace zerohop::bench {
namespace {

// Waits end at least so often, so that give-up times need no timers.
constexpr double kTickSeconds = 0.05;

class Run {
 public:
  Run(const PlanLoad& load, const std::vector<PlannedRequest>& plan) : load_(load), plan_(plan) {
    // The kernel adds up to 50 µs to a wait unless it is told otherwise.
    prctl(PR_SET_TIMERSLACK, 1UL);
    figures_.results.resize(plan.size());
    for (std::size_t i = 0; i < plan.size(); ++i) {
      figures_.results[i].index = i;
      bytes_.push_back(post_bytes(load.path, plan[i].body, load.headers));
    }
    const std::size_t wanted = load.clients != 0 ? load.clients : load.warm_connections;
    for (std::size_t i = 0; i < wanted; ++i) add_client();
    begin_ = now_seconds();
  }
  ~Run() {
    for (const auto& client : clients_) hang_up(*client);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  PlanFigures open_loop() {
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      for (double left = plan_[i].due - elapsed(); left > 0; left = plan_[i].due - elapsed()) {
        take(std::min(left, kTickSeconds));
      }
      send(i, plan_[i].due);
      take(0);
    }
    return drain();
  }

  PlanFigures closed_loop() {
    std::size_t next = 0;
    while (next < plan_.size()) {
      while (next < plan_.size() && busy() < load_.clients) {
        send(next, elapsed());
        ++next;
      }
      if (next < plan_.size()) take(kTickSeconds);
    }
    return drain();
  }

 private:
  struct Client {
    int descriptor = -1;
    std::size_t index = 0;  // of its request
    bool busy = false;
    bool repeated = false;  // sent once more on a fresh connection
    std::unique_ptr<ChatReply> reply;
  };

  double elapsed() const { return now_seconds() - begin_; }

  static void hang_up(Client& client) {
    if (client.descriptor >= 0) close(client.descriptor);
    client.descriptor = -1;
  }

  void connect(Client& client) {
    hang_up(client);
    client.descriptor = connect_to(load_.port);
    if (client.descriptor >= 0) ++figures_.connections;
  }

  Client& add_client() {
    clients_.push_back(std::make_unique<Client>());
    connect(*clients_.back());
    return *clients_.back();
  }

  std::size_t busy() const {
    return static_cast<std::size_t>(std::count_if(clients_.begin(), clients_.end(),
                                                  [](const auto& client) { return client->busy; }));
  }

  // There is no connection, the server has closed it, or it says something that nobody asked for.
  static bool stale(const Client& client) {
    char byte = 0;
    return recv(client.descriptor, &byte, 1, MSG_DONTWAIT | MSG_PEEK) >= 0 || errno != EAGAIN;
  }

  Client& idle_client() {
    for (const auto& client : clients_) {
      if (client->busy) continue;
      if (stale(*client)) connect(*client);
      return *client;
    }
    return add_client();
  }

  void send(std::size_t index, double due) {
    PlanResult& result = figures_.results[index];
    result.due = due;
    result.sent = elapsed();
    Client& client = idle_client();
    client.repeated = false;
    begin_request(client, index);
  }

  void begin_request(Client& client, std::size_t index) {
    client.index = index;
    client.busy = true;
    client.reply = std::make_unique<ChatReply>(plan_[index].streamed());
    if (client.descriptor < 0) {  // nobody listens
      end(client, PlanEnd::kBroken);
      return;
    }
    // When the other side has gone, the next read says so.
    send_all(client.descriptor, bytes_[index]);
  }

  // Waits for answers, at most `seconds`, and takes what came; ends what has had its time.
  void take(double seconds) {
    std::vector<pollfd> polls;
    std::vector<Client*> owners;
    for (const auto& client : clients_) {
      if (!client->busy) continue;
      polls.push_back(pollfd{client->descriptor, POLLIN, 0});
      owners.push_back(client.get());
    }
    timespec limit{};
    limit.tv_nsec = static_cast<long>(std::max(seconds, 0.0) * 1e9);
    if (ppoll(polls.data(), polls.size(), &limit, nullptr) > 0) {
      for (std::size_t i = 0; i < polls.size(); ++i) {
        if (polls[i].revents != 0) read(*owners[i]);
      }
    }
    for (Client* client : owners) {
      const double give_up = plan_[client->index].give_up;
      if (client->busy && give_up > 0 &&
          elapsed() > figures_.results[client->index].sent + give_up) {
        end(*client, PlanEnd::kGivenUp);
      }
    }
  }

  void read(Client& client) {
    char buffer[65536];
    const ssize_t count = recv(client.descriptor, buffer, sizeof buffer, MSG_DONTWAIT);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      lost(client);
      return;
    }
    ChatReply& reply = *client.reply;
    reply.feed({buffer, static_cast<std::size_t>(count)}, elapsed());
    if (!reply.complete()) return;
    end(client, reply.whole()           ? PlanEnd::kWhole
                : reply.status() != 200 ? PlanEnd::kRefused
                                        : PlanEnd::kBroken);
  }

  void lost(Client& client) {
    if (client.reply->begun() || client.repeated) {
      end(client, PlanEnd::kBroken);
      return;
    }
    connect(client);
    client.repeated = true;
    begin_request(client, client.index);
  }

  void end(Client& client, PlanEnd how) {
    PlanResult& result = figures_.results[client.index];
    ChatReply& reply = *client.reply;
    result.ended = elapsed();
    result.end = how;
    result.status = reply.status();
    result.text_times = reply.text_times();
    result.text = reply.text();
    result.finish_reason = reply.finish_reason();
    result.trouble = reply.trouble();
    result.prompt_tokens = reply.prompt_tokens();
    result.cached_tokens = reply.cached_tokens();
    result.output_tokens = reply.output_tokens();
    client.busy = false;
    if (how == PlanEnd::kGivenUp || how == PlanEnd::kBroken) hang_up(client);
  }

  PlanFigures drain() {
    const double until = elapsed() + load_.drain_seconds;
    while (busy() > 0 && elapsed() < until) take(kTickSeconds);
    figures_.seconds = elapsed();
    for (const auto& client : clients_) {
      if (client->busy) end(*client, PlanEnd::kGivenUp);
    }
    return std::move(figures_);
  }

  const PlanLoad& load_;
  const std::vector<PlannedRequest>& plan_;
  std::vector<std::string> bytes_;
  std::vector<std::unique_ptr<Client>> clients_;
  PlanFigures figures_;
  double begin_ = 0;
};

}  // namespace

const char* name_of(PlanEnd end) {
  switch (end) {
    case PlanEnd::kWhole: return "whole";
    case PlanEnd::kRefused: return "refused";
    case PlanEnd::kBroken: return "broken";
    case PlanEnd::kGivenUp: return "given_up";
  }
  return "";
}

PlanFigures run_plan(const PlanLoad& load, const std::vector<PlannedRequest>& plan) {
  Run run(load, plan);
  return load.clients != 0 ? run.closed_loop() : run.open_loop();
}

}  // namespace zerohop::bench
