#include "http_wire.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/check.h"

namespace zerohop::bench {
namespace {

sockaddr loopback(std::uint16_t port, std::uint32_t place = 0) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + place);
  sockaddr generic{};
  static_assert(sizeof generic == sizeof address);
  std::memcpy(&generic, &address, sizeof generic);
  return generic;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

int connect_to(std::uint16_t port) { return connect_from(0, port); }

int connect_from(std::uint32_t place, std::uint16_t port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ZH_CHECK(descriptor >= 0);
  const sockaddr own = loopback(0, place);
  if (place != 0) ZH_CHECK(bind(descriptor, &own, sizeof own) == 0);
  const sockaddr address = loopback(port);
  if (connect(descriptor, &address, sizeof address) != 0) {
    close(descriptor);
    return -1;
  }
  const int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return descriptor;
}

std::uint16_t free_port() {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ZH_CHECK(descriptor >= 0);
  const sockaddr any = loopback(0);
  ZH_CHECK(bind(descriptor, &any, sizeof any) == 0);
  sockaddr bound{};
  socklen_t length = sizeof bound;
  ZH_CHECK(getsockname(descriptor, &bound, &length) == 0);
  close(descriptor);
  sockaddr_in address{};
  std::memcpy(&address, &bound, sizeof address);
  return ntohs(address.sin_port);
}

std::string get_bytes(const std::string& path, const std::string& headers) {
  return "GET " + path + " HTTP/1.1\r\nhost: localhost\r\n" + headers + "\r\n";
}

std::string post_bytes(const std::string& path, const std::string& body,
                       const std::string& headers) {
  return "POST " + path + " HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n" +
         headers + "content-length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

bool send_all(int descriptor, const std::string& bytes) {
  std::string_view left = bytes;
  while (!left.empty()) {
    const ssize_t count = send(descriptor, left.data(), left.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    left.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::string AnswerReader::feed(std::string_view bytes) {
  unread_ += bytes;
  if (status_ == 0) read_head();
  if (status_ == 0 || complete_) return {};
  return chunked_ ? read_chunks() : read_plain();
}

void AnswerReader::read_head() {
  const std::size_t end = unread_.find("\r\n\r\n");
  if (end == std::string::npos) return;
  const std::string head = lower(std::string_view(unread_).substr(0, end + 2));
  ZH_CHECK(head.starts_with("http/1.1 "));
  status_ = static_cast<int>(number_after(head.substr(0, 12), "http/1.1 ").value_or(0));
  ZH_CHECK(status_ != 0);
  // From the line's beginning: proxies repeat such headers under longer names.
  chunked_ = head.find("\r\ntransfer-encoding: chunked") != std::string::npos;
  body_left_ = static_cast<std::size_t>(number_after(head, "\r\ncontent-length: ").value_or(0));
  complete_ = !chunked_ && body_left_ == 0;
  unread_.erase(0, end + 4);
}

std::string AnswerReader::read_plain() {
  std::string out = unread_.substr(0, body_left_);
  unread_.clear();
  body_left_ -= out.size();
  complete_ = body_left_ == 0;
  return out;
}

std::string AnswerReader::read_chunks() {
  std::string out;
  std::size_t at = 0;
  while (!complete_) {
    if (chunk_left_ == 0) {
      const std::size_t line_end = unread_.find("\r\n", at);
      if (line_end == std::string::npos) break;
      std::size_t size = 0;
      std::from_chars(unread_.data() + at, unread_.data() + line_end, size, 16);
      at = line_end + 2;
      last_chunk_ = size == 0;
      chunk_left_ = size + 2;
      continue;
    }
    const std::size_t count = std::min(chunk_left_, unread_.size() - at);
    if (count == 0) break;
    // The last two bytes of a chunk are its line end.
    const std::size_t text = chunk_left_ > 2 ? std::min(count, chunk_left_ - 2) : 0;
    out.append(unread_, at, text);
    at += count;
    chunk_left_ -= count;
    complete_ = last_chunk_ && chunk_left_ == 0;
  }
  unread_.erase(0, at);
  return out;
}

std::optional<Answer> exchange(std::uint16_t port, const std::string& path,
                               const std::string& body) {
  return exchange_bytes(port, body.empty() ? get_bytes(path) : post_bytes(path, body));
}

std::optional<Answer> exchange_bytes(std::uint16_t port, const std::string& request) {
  const int descriptor = connect_to(port);
  if (descriptor < 0) return std::nullopt;
  std::optional<Answer> answer;
  if (send_all(descriptor, request)) {
    answer.emplace();
    AnswerReader reader;
    char buffer[16384];
    while (!reader.complete()) {
      const ssize_t count = recv(descriptor, buffer, sizeof buffer, 0);
      if (count <= 0) break;
      answer->body += reader.feed({buffer, static_cast<std::size_t>(count)});
    }
    answer->status = reader.status();
    if (!reader.complete()) answer.reset();
  }
  close(descriptor);
  return answer;
}

std::optional<double> number_after(std::string_view text, std::string_view key) {
  const std::size_t place = text.rfind(key);
  if (place == std::string_view::npos) return std::nullopt;
  double number = 0;
  const char* begin = text.data() + place + key.size();
  const auto parsed = std::from_chars(begin, text.data() + text.size(), number);
  if (parsed.ec != std::errc()) return std::nullopt;
  return number;
}

std::string_view string_after(std::string_view text, std::string_view key) {
  const std::size_t place = text.find(key);
  if (place == std::string_view::npos) return {};
  std::string_view rest = text.substr(place + key.size());
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (!rest.starts_with('"')) return {};
  rest.remove_prefix(1);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == '\\') {
      ++i;
    } else if (rest[i] == '"') {
      return rest.substr(0, i);
    }
  }
  return {};
}

}  // namespace zerohop::bench
