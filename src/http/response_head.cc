#include "http/response_head.h"

#include <algorithm>
#include <array>
#include <utility>

#include "http/headers.h"

namespace zerohop {
namespace {

constexpr std::array<std::pair<int, std::string_view>, 29> kPhrases{{
    {100, "Continue"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {529, "Overloaded"},
}};

bool belongs_to_framing(std::string_view name) {
  return equals_ignoring_case(name, "content-length") ||
         equals_ignoring_case(name, "transfer-encoding") ||
         equals_ignoring_case(name, "connection") || equals_ignoring_case(name, "date");
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ");
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    const bool control = (byte < 0x20 && c != '\t') || byte == 0x7f;
    out.push_back(control ? ' ' : c);
  }
  out.append("\r\n");
}

}  // namespace

std::string_view reason_phrase(int status) {
  const auto found = std::find_if(kPhrases.begin(), kPhrases.end(),
                                  [status](const auto& entry) { return entry.first == status; });
  return found == kPhrases.end() ? std::string_view("Status") : found->second;
}

bool status_forbids_body(int status) {
  return (status >= 100 && status < 200) || status == 204 || status == 304;
}

std::string write_response_head(const ResponseHead& head, const ResponseFraming& framing) {
  std::string out;
  out.reserve(512);  // a typical head with rate-limit fields has 400 bytes
  out.append("HTTP/1.1 ").append(std::to_string(head.status)).append(" ");
  out.append(reason_phrase(head.status)).append("\r\n");
  for (const HeaderField& field : head.headers) {
    if (!is_http_token(field.name) || belongs_to_framing(field.name)) continue;
    append_field(out, field.name, field.value);
  }
  if (!framing.date.empty()) append_field(out, "date", framing.date);
  if (!framing.connection.empty()) append_field(out, "connection", framing.connection);
  switch (framing.body) {
    case ResponseFraming::Body::kLength:
      append_field(out, "content-length", std::to_string(framing.content_length));
      break;
    case ResponseFraming::Body::kChunked: append_field(out, "transfer-encoding", "chunked"); break;
    case ResponseFraming::Body::kUntilClose:
    case ResponseFraming::Body::kNone: break;
  }
  out.append("\r\n");
  return out;
}

}  // namespace zerohop
