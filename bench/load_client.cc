#include "load_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string_view>

#include "base/check.h"
#include "http_wire.h"

namespace zerohop::bench {
namespace {

int connected(std::uint16_t port) {
  const int descriptor = connect_to(port);
  ZH_CHECK(descriptor >= 0);
  return descriptor;
}

void send_request(int descriptor, const std::string& path, const std::string& body) {
  ZH_CHECK(send_all(descriptor, post_bytes(path, body)));
}

int count_after(std::string_view text, std::string_view key) {
  return static_cast<int>(number_after(text, key).value_or(0));
}

// The bytes of the first whole answer in `bytes`; 0 when it is not all there. Crashes on anything
// but 200.
std::size_t answer_size(std::string_view bytes) {
  const std::size_t head = bytes.find("\r\n\r\n");
  if (head == std::string_view::npos) return 0;
  ZH_CHECK(bytes.starts_with("HTTP/1.1 200"));
  const auto length =
      static_cast<std::size_t>(count_after(bytes.substr(0, head), "content-length: "));
  return bytes.size() < head + 4 + length ? 0 : head + 4 + length;
}

}  // namespace

StreamGroup::~StreamGroup() {
  for (const Socket& socket : sockets_) {
    if (socket.descriptor >= 0) close(socket.descriptor);
  }
}

std::size_t StreamGroup::start(std::string body) {
  Socket socket;
  socket.descriptor = connected(port_);
  StreamLog log;
  log.body = std::move(body);
  log.sent_at = now_seconds();
  send_request(socket.descriptor, "/v1/messages", log.body);
  sockets_.push_back(std::move(socket));
  logs_.push_back(std::move(log));
  return logs_.size() - 1;
}

bool StreamGroup::all_ended() const {
  for (const Socket& socket : sockets_) {
    if (socket.descriptor >= 0) return false;
  }
  return true;
}

void StreamGroup::poll_once() {
  std::vector<pollfd> polls;
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < sockets_.size(); ++i) {
    if (sockets_[i].descriptor < 0) continue;
    polls.push_back(pollfd{sockets_[i].descriptor, POLLIN, 0});
    indices.push_back(i);
  }
  ZH_CHECK(poll(polls.data(), polls.size(), 60'000) > 0);
  for (std::size_t i = 0; i < polls.size(); ++i) {
    if (polls[i].revents != 0) take(indices[i]);
  }
}

void StreamGroup::take(std::size_t index) {
  char buffer[16384];
  const ssize_t count = recv(sockets_[index].descriptor, buffer, sizeof buffer, 0);
  ZH_CHECK(count > 0);
  sockets_[index].unread.append(buffer, static_cast<std::size_t>(count));
  parse(index, now_seconds());
}

void StreamGroup::parse(std::size_t index, double at) {
  Socket& socket = sockets_[index];
  StreamLog& log = logs_[index];
  std::size_t end = 0;
  while ((end = socket.unread.find("\n\n")) != std::string::npos) {
    const std::string_view frame = std::string_view(socket.unread).substr(0, end);
    if (frame.find("event: content_block_delta") != std::string_view::npos) {
      log.delta_times.push_back(at);
    } else if (frame.find("event: message_delta") != std::string_view::npos) {
      log.output_tokens = count_after(frame, "\"output_tokens\":");
    } else if (frame.find("event: message_stop") != std::string_view::npos) {
      log.finished_at = at;
    }
    ZH_CHECK(frame.find("event: error") == std::string_view::npos);
    socket.unread.erase(0, end + 2);
  }
  if (log.finished_at > 0) {
    close(socket.descriptor);
    socket.descriptor = -1;
  }
}

PlainClient::PlainClient(std::uint16_t port) : descriptor_(connected(port)) {}
PlainClient::~PlainClient() { close(descriptor_); }

std::string PlainClient::post(const std::string& path, const std::string& body) {
  send_request(descriptor_, path, body);
  std::string bytes;
  while (answer_size(bytes) == 0) {
    char buffer[16384];
    const ssize_t count = recv(descriptor_, buffer, sizeof buffer, 0);
    ZH_CHECK(count > 0);
    bytes.append(buffer, static_cast<std::size_t>(count));
  }
  return bytes.substr(bytes.find("\r\n\r\n") + 4);
}

double RequestPump::run(const std::function<std::string()>& next, double seconds) const {
  std::vector<pollfd> polls;
  std::vector<std::string> unread(connections);
  for (std::size_t i = 0; i < connections; ++i) {
    polls.push_back(pollfd{connected(port), POLLIN, 0});
    send_request(polls.back().fd, path, next());
  }
  const double begin = now_seconds();
  double now = begin;
  double answers = 0;
  while (now < begin + seconds) {
    ZH_CHECK(poll(polls.data(), polls.size(), 60'000) > 0);
    for (std::size_t i = 0; i < polls.size(); ++i) {
      if (polls[i].revents == 0) continue;
      char buffer[16384];
      const ssize_t count = recv(polls[i].fd, buffer, sizeof buffer, 0);
      ZH_CHECK(count > 0);
      unread[i].append(buffer, static_cast<std::size_t>(count));
      if (answer_size(unread[i]) == 0) continue;
      unread[i].clear();
      ++answers;
      send_request(polls[i].fd, path, next());
    }
    now = now_seconds();
  }
  for (const pollfd& entry : polls) close(entry.fd);
  return answers / (now - begin);
}

}  // namespace zerohop::bench
