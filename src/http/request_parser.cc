#include "http/request_parser.h"

#include <algorithm>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/wipe.h"
#include "http/url.h"

namespace zerohop {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace bhttp = boost::beast::http;

// No method in use is longer than PROPPATCH; a first line that has no blank by then is not HTTP.
constexpr std::size_t kMethodBytesMax = 24;

// A declared length is believed up to here; memory for more is taken as the bytes come, so that
// a thousand heads cannot reserve 32 GB.
constexpr std::size_t kBodyReserveBytesMax = 1u << 20;

// Beast copies every field into memory of its own, a key among them: that is overwritten before it
// is given back.
template <class T>
struct WipingAllocator {
  using value_type = T;

  WipingAllocator() = default;
  template <class U>
  WipingAllocator(const WipingAllocator<U>&) {}  // NOLINT(google-explicit-constructor)

  T* allocate(std::size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* place, std::size_t count) {
    wipe_bytes(place, count * sizeof(T));
    std::allocator<T>().deallocate(place, count);
  }
  friend bool operator==(const WipingAllocator&, const WipingAllocator&) { return true; }
};

using BeastParser = bhttp::parser<true, bhttp::empty_body, WipingAllocator<char>>;

std::string_view to_view(beast::string_view text) { return {text.data(), text.size()}; }

std::string describe(const beast::error_code& error) {
  if (error == bhttp::error::bad_method) return "the request line has no valid method";
  if (error == bhttp::error::bad_target) return "the request target has invalid characters";
  if (error == bhttp::error::bad_version) return "only HTTP/1.0 and HTTP/1.1 are spoken here";
  if (error == bhttp::error::bad_field) return "a header name has invalid characters";
  if (error == bhttp::error::bad_value) return "a header value has invalid characters";
  if (error == bhttp::error::bad_content_length) return "Content-Length is not one plain number";
  if (error == bhttp::error::multiple_content_length) return "more than one Content-Length";
  if (error == bhttp::error::bad_transfer_encoding) {
    return "Transfer-Encoding is repeated or stands beside Content-Length";
  }
  return "malformed HTTP: " + error.message();
}

// A name or an address and a port (RFC 3986, section 3.2): no blank, path or user, by which two
// servers in a row could mean different hosts.
bool is_host(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return word || std::string_view("-._~!$&'()*+,;=:%[]").find(c) != std::string_view::npos;
  });
}

// What Beast lets pass and we do not. Empty: all is well.
std::string_view smuggling_fault(const RequestHead& head) {
  const std::size_t lengths = head.headers.count("content-length");
  const std::vector<std::string_view> codings = head.headers.all("transfer-encoding");
  if (lengths > 1) return "more than one Content-Length";
  if (lengths == 1) {
    const std::string_view value = *head.headers.find("content-length");
    const bool plain =
        !value.empty() && value.find_first_not_of("0123456789") == std::string_view::npos;
    if (!plain) return "Content-Length is not one plain number";
  }
  if (lengths > 0 && !codings.empty())
    return "Content-Length and Transfer-Encoding exclude each other";
  if (codings.size() > 1) return "more than one Transfer-Encoding";
  if (codings.size() == 1) {
    if (!equals_ignoring_case(codings[0], "chunked")) {
      return "the only Transfer-Encoding understood is chunked";
    }
    if (head.version == HttpVersion::k1_0) return "HTTP/1.0 has no Transfer-Encoding";
  }
  const std::size_t hosts = head.headers.count("host");
  if (hosts > 1) return "more than one Host";
  if (hosts == 0 && head.version == HttpVersion::k1_1) return "HTTP/1.1 requires a Host";
  if (hosts == 1 && !is_host(*head.headers.find("host"))) return "Host is no name and port";
  return {};
}

// Finds the end of a head line by line and refuses early what can never become one.
class HeadScanner {
 public:
  explicit HeadScanner(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  struct Found {
    ParseState state;
    std::size_t head_begin;
    std::size_t head_end;
  };

  Found scan(std::string_view bytes) {
    const bool too_long_unless_ended = bytes.size() > bytes_max_;
    bytes = bytes.substr(0, bytes_max_);
    if (scanned_ == 0 && bytes == "\r") return Found{ParseState::kNeedMore, 0, 0};
    if (scanned_ == 0 && bytes.starts_with("\r\n")) begin_ = line_ = scanned_ = 2;
    if (line_ == begin_ && !method_plausible(bytes.substr(begin_))) {
      const bool tls = bytes.substr(begin_).starts_with('\x16');
      return fail(tls ? "this port speaks plain HTTP, not TLS: the address begins with http://"
                      : "the request line has no valid method");
    }
    for (std::size_t feed = bytes.find('\n', scanned_); feed != std::string_view::npos;
         feed = bytes.find('\n', scanned_)) {
      if (feed == 0 || bytes[feed - 1] != '\r')
        return fail("a line ends without a carriage return");
      const std::string_view text = bytes.substr(line_, feed - 1 - line_);
      if (text.empty()) return Found{ParseState::kDone, begin_, feed + 1};
      if (line_ == begin_ && !version_plausible(text)) {
        return fail("the request line does not end in HTTP/1.0 or HTTP/1.1");
      }
      if (text.front() == ' ' || text.front() == '\t') return fail("a header line is folded");
      line_ = scanned_ = feed + 1;
    }
    scanned_ = bytes.size();
    if (!too_long_unless_ended && bytes.size() < bytes_max_) {
      return Found{ParseState::kNeedMore, 0, 0};
    }
    fault_ = Error{ErrorCode::kHeadTooLarge,
                   "request line and headers exceed " + std::to_string(bytes_max_) + " bytes",
                   "",
                   {}};
    return Found{ParseState::kFailed, 0, 0};
  }

  Error take_fault() { return std::move(fault_); }

 private:
  // `line` may still be incomplete: then what there is must be able to become a method.
  static bool method_plausible(std::string_view line) {
    const std::string_view method = line.substr(0, line.find_first_of(" \r"));
    return line.empty() || (method.size() <= kMethodBytesMax && is_http_token(method));
  }

  static bool version_plausible(std::string_view line) {
    return line.ends_with(" HTTP/1.1") || line.ends_with(" HTTP/1.0");
  }

  Found fail(std::string_view message) {
    fault_ = invalid_request("", std::string(message));
    return Found{ParseState::kFailed, 0, 0};
  }

  const std::size_t bytes_max_;
  std::size_t begin_ = 0;    // first byte of the request line
  std::size_t line_ = 0;     // first byte of the line that is not complete yet
  std::size_t scanned_ = 0;  // no line feed at or after line_ and before this
  Error fault_;
};

}  // namespace

struct RequestParser::State {
  explicit State(const RequestLimits& limits)
      : scanner(limits.head_bytes_max), chunks(limits.body_bytes_max) {
    parser.header_limit(
        static_cast<std::uint32_t>(std::min<std::size_t>(limits.head_bytes_max, UINT32_MAX)));
    parser.body_limit(boost::none);  // a declared length is judged by the caller, with a typed head
    parser.eager(false);             // stop behind the head: Beast is not asked for the body
  }

  ParseProgress fail(Error fault) {
    error = std::move(fault);
    failed = true;
    return ParseProgress{ParseState::kFailed, 0};
  }

  std::optional<Error> parse_head(std::string_view bytes);
  ParseProgress take_body_bytes(std::string_view bytes);

  HeadScanner scanner;
  BeastParser parser;
  ChunkDecoder chunks;
  RequestHead head;
  std::string body;
  std::uint64_t body_bytes_left = 0;  // of a declared length
  Error error;
  bool head_done = false;
  bool body_done = false;
  bool failed = false;
};

// `bytes` are exactly one head, from the request line to the empty line.
std::optional<Error> RequestParser::State::parse_head(std::string_view bytes) {
  beast::error_code code;
  const std::size_t consumed = parser.put(asio::buffer(bytes.data(), bytes.size()), code);
  if (code && code != bhttp::error::need_more) return invalid_request("", describe(code));
  if (!parser.is_header_done() || consumed != bytes.size()) {
    return invalid_request("", "the request head is malformed");
  }
  const auto& message = parser.get();
  head.method = std::string(to_view(message.method_string()));
  head.target = std::string(to_view(message.target()));
  head.version = message.version() == 10 ? HttpVersion::k1_0 : HttpVersion::k1_1;
  for (const auto& field : message) {
    head.headers.add(std::string(to_view(field.name_string())),
                     std::string(to_view(field.value())));
  }
  if (const std::string_view fault = smuggling_fault(head); !fault.empty()) {
    return invalid_request("", std::string(fault));
  }
  std::optional<TargetParts> parts = split_target(head.target);
  if (!parts)
    return invalid_request("", "the request target is neither a path nor an absolute URL");
  head.path = std::move(parts->path);
  head.query = std::move(parts->query);
  head.keep_alive = message.keep_alive();
  head.chunked = parser.chunked();
  // Read after smuggling_fault(): there is then one length at most, and one coding, `chunked`.
  if (const auto length = parser.content_length()) head.content_length = *length;
  return std::nullopt;
}

RequestParser::RequestParser(const RequestLimits& limits)
    : state_(std::make_unique<State>(limits)) {}

RequestParser::~RequestParser() = default;

ParseProgress RequestParser::feed_head(std::string_view bytes) {
  ZH_CHECK(!state_->head_done && !state_->failed);
  const HeadScanner::Found found = state_->scanner.scan(bytes);
  if (found.state == ParseState::kFailed) return state_->fail(state_->scanner.take_fault());
  if (found.state == ParseState::kNeedMore) return ParseProgress{ParseState::kNeedMore, 0};
  try {
    const std::string_view head = bytes.substr(found.head_begin, found.head_end - found.head_begin);
    if (std::optional<Error> fault = state_->parse_head(head))
      return state_->fail(*std::move(fault));
  } catch (const std::exception&) {
    return state_->fail(Error{ErrorCode::kInternal, "no memory for the request head", "", {}});
  }
  state_->head_done = true;
  state_->body_bytes_left = state_->head.content_length.value_or(0);
  state_->body_done = !state_->head.chunked && state_->body_bytes_left == 0;
  return ParseProgress{ParseState::kDone, found.head_end};
}

RequestHead& RequestParser::head() {
  ZH_CHECK(state_->head_done);
  return state_->head;
}

bool RequestParser::body_pending() const {
  return state_->head_done && !state_->failed && !state_->body_done;
}

ParseProgress RequestParser::State::take_body_bytes(std::string_view bytes) {
  if (head.chunked) return chunks.feed(bytes, body);
  if (body.empty()) body.reserve(std::min<std::uint64_t>(body_bytes_left, kBodyReserveBytesMax));
  const std::size_t count =
      static_cast<std::size_t>(std::min<std::uint64_t>(body_bytes_left, bytes.size()));
  body.append(bytes, 0, count);
  body_bytes_left -= count;
  return ParseProgress{body_bytes_left == 0 ? ParseState::kDone : ParseState::kNeedMore, count};
}

ParseProgress RequestParser::feed_body(std::string_view bytes) {
  ZH_CHECK(state_->head_done && !state_->failed);
  if (state_->body_done) return ParseProgress{ParseState::kDone, 0};
  try {
    const ParseProgress progress = state_->take_body_bytes(bytes);
    if (progress.state == ParseState::kFailed) return state_->fail(state_->chunks.error());
    state_->body_done = progress.state == ParseState::kDone;
    return progress;
  } catch (const std::exception&) {
    return state_->fail(Error{ErrorCode::kInternal, "no memory for the request body", "", {}});
  }
}

std::string RequestParser::take_body() { return std::move(state_->body); }

const Error& RequestParser::error() const {
  ZH_CHECK(state_->failed);
  return state_->error;
}

}  // namespace zerohop
