#include "chat_load.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "bench_clock.h"

namespace zerohop::bench {
namespace {

constexpr double kSilenceSecondsMax = 600;

int count_after(std::string_view text, std::string_view key) {
  return static_cast<int>(number_after(text, key).value_or(0));
}

std::string message(std::string_view role, const std::string& content) {
  return R"({"role":")" + std::string(role) + R"(","content":")" + content + R"("})";
}

}  // namespace

std::string ChatBody::json() const {
  std::string messages = system.empty() ? "" : message("system", system);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (!messages.empty()) messages += ',';
    messages += message(i % 2 == 0 ? "user" : "assistant", turns[i]);
  }
  return R"({"model":"smollm2-135m","temperature":0,"stream":true,)"
         R"("stream_options":{"include_usage":true},"max_tokens":)" +
         std::to_string(max_tokens) + (endless ? R"(,"logit_bias":{"0":-100,"2":-100})" : "") +
         R"(,"messages":[)" + messages + "]}";
}

ChatLoad::~ChatLoad() {
  for (const auto& connection : connections_) close(connection->descriptor);
}

std::size_t ChatLoad::start(const ChatBody& body) {
  auto connection = std::make_unique<Connection>();
  connection->index = logs_.size();
  ChatLog log;
  log.sent_at = now_seconds();
  connection->descriptor = connect_to(port_);
  if (connection->descriptor < 0 ||
      !send_all(connection->descriptor,
                post_bytes("/v1/chat/completions", body.json(), body.headers))) {
    if (connection->descriptor >= 0) close(connection->descriptor);
    log.ended_at = now_seconds();
    log.end = ChatEnd::kBroken;
    log.trouble = "cannot connect";
  } else {
    connections_.push_back(std::move(connection));
  }
  const std::size_t index = logs_.size();
  logs_.push_back(std::move(log));
  if (logs_[index].end == ChatEnd::kBroken && on_end_) on_end_(index);
  return index;
}

void ChatLoad::abort(std::size_t index) {
  for (std::size_t place = 0; place < connections_.size(); ++place) {
    if (connections_[place]->index == index) {
      finish(place, ChatEnd::kAborted);
      return;
    }
  }
}

bool ChatLoad::poll_once(double seconds) {
  std::vector<pollfd> polls;
  polls.reserve(connections_.size());
  for (const auto& connection : connections_) {
    polls.push_back(pollfd{connection->descriptor, POLLIN, 0});
  }
  const int ready = poll(polls.data(), polls.size(), static_cast<int>(seconds * 1e3) + 1);
  if (ready <= 0) return false;
  // From the back: take() removes what has ended.
  for (std::size_t place = polls.size(); place-- > 0;) {
    if (polls[place].revents != 0 && place < connections_.size() &&
        connections_[place]->descriptor == polls[place].fd) {
      take(place);
    }
  }
  return true;
}

void ChatLoad::run_until(const std::function<bool()>& done) {
  while (!connections_.empty() && !done()) {
    if (!poll_once(kSilenceSecondsMax)) return;
  }
}

void ChatLoad::run_for(double seconds) {
  const double until = now_seconds() + seconds;
  for (double left = seconds; left > 0; left = until - now_seconds()) poll_once(left);
}

void ChatLoad::take(std::size_t place) {
  Connection& connection = *connections_[place];
  ChatLog& log = logs_[connection.index];
  char buffer[65536];
  const ssize_t count = recv(connection.descriptor, buffer, sizeof buffer, MSG_DONTWAIT);
  if (count < 0 && errno == EAGAIN) return;
  if (count <= 0) {
    finish(place, ChatEnd::kBroken);
    return;
  }
  const std::string body = connection.reader.feed({buffer, static_cast<std::size_t>(count)});
  log.status = connection.reader.status();
  if (log.status != 0 && log.status != 200) {
    log.trouble += body;
  } else {
    connection.unread += body;
    take_events(connection, now_seconds());
  }
  if (!connection.reader.complete()) return;
  if (log.status != 200) {
    finish(place, ChatEnd::kRefused);
  } else {
    finish(place,
           log.finish_reason.empty() || !log.trouble.empty() ? ChatEnd::kBroken : ChatEnd::kWhole);
  }
}

void ChatLoad::take_events(Connection& connection, double at) {
  std::size_t begin = 0;
  std::size_t end = 0;
  while ((end = connection.unread.find("\n\n", begin)) != std::string::npos) {
    const std::string_view event = std::string_view(connection.unread).substr(begin, end - begin);
    if (event.starts_with("data: {")) take_data(logs_[connection.index], event.substr(6), at);
    begin = end + 2;
  }
  connection.unread.erase(0, begin);
}

void ChatLoad::take_data(ChatLog& log, std::string_view data, double at) {
  if (data.starts_with(R"({"error")")) {
    log.trouble = data;
    return;
  }
  const std::string_view text = string_after(data, R"("content":)");
  if (!text.empty()) {
    log.text_times.push_back(at);
    log.text += text;
  }
  const std::string_view reason = string_after(data, R"("finish_reason":)");
  if (!reason.empty()) log.finish_reason = reason;
  if (data.find(R"("prompt_tokens":)") != std::string_view::npos) {
    log.prompt_tokens = count_after(data, R"("prompt_tokens":)");
    log.cached_tokens = count_after(data, R"("cached_tokens":)");
    log.output_tokens = count_after(data, R"("completion_tokens":)");
  }
}

void ChatLoad::finish(std::size_t place, ChatEnd end) {
  const std::size_t index = connections_[place]->index;
  close(connections_[place]->descriptor);
  connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(place));
  logs_[index].ended_at = now_seconds();
  logs_[index].end = end;
  if (on_end_ && end != ChatEnd::kAborted) on_end_(index);
}

}  // namespace zerohop::bench
