#include "http/proxy_header.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "base/whole_number.h"

namespace zerohop {
namespace {

using State = ProxyScan::State;

constexpr std::string_view kV1Start = "PROXY ";
constexpr std::string_view kV2Start("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr std::size_t kV2FixedBytes = 16;

ProxyScan fail(std::string_view fault) {
  ProxyScan scan;
  scan.state = State::kFailed;
  scan.fault = fault;
  return scan;
}

ProxyScan found(std::size_t bytes, const IpAddress& source) {
  ProxyScan scan;
  scan.state = State::kHeader;
  scan.bytes = bytes;
  scan.source = source;
  return scan;
}

// `bytes` are, or may still become, text that begins with `start`.
bool may_begin(std::string_view bytes, std::string_view start) {
  return start.starts_with(bytes.substr(0, start.size()));
}

// ---- Version 1: a line of text ----

bool is_port(std::string_view text) {
  const bool padded = text.size() > 1 && text.front() == '0';
  return !padded && whole_number<std::uint16_t>(text).has_value();
}

// Up to the next blank, which is taken along.
std::string_view take_word(std::string_view& rest) {
  const std::size_t blank = std::min(rest.find(' '), rest.size());
  const std::string_view word = rest.substr(0, blank);
  rest.remove_prefix(std::min(blank + 1, rest.size()));
  return word;
}

std::optional<IpAddress> address_of(std::string_view text, bool v6) {
  if ((text.find(':') != text.npos) != v6) return std::nullopt;
  return IpAddress::parse(text);
}

// `line`: behind "PROXY ", without its end.
ProxyScan read_v1(std::string_view line, std::size_t bytes) {
  if (line == "UNKNOWN" || line.starts_with("UNKNOWN ")) return found(bytes, IpAddress());
  if (std::count(line.begin(), line.end(), ' ') != 4) return fail("the PROXY line is malformed");
  std::string_view rest = line;
  const std::string_view family = take_word(rest);
  if (family != "TCP4" && family != "TCP6") return fail("the PROXY line names no known protocol");
  const bool v6 = family == "TCP6";
  const std::optional<IpAddress> source = address_of(take_word(rest), v6);
  const std::optional<IpAddress> destination = address_of(take_word(rest), v6);
  if (!source || !destination) return fail("an address in the PROXY line is malformed");
  const bool ports = is_port(take_word(rest)) && is_port(rest);
  if (!ports) return fail("a port in the PROXY line is malformed");
  return found(bytes, *source);
}

ProxyScan scan_v1(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, kProxyV1BytesMax);
  const std::size_t feed = head.find('\n');
  if (feed == head.npos) {
    if (head.size() == kProxyV1BytesMax) return fail("the PROXY line has no end");
    return {};
  }
  if (head[feed - 1] != '\r') return fail("the PROXY line ends without a carriage return");
  return read_v1(head.substr(kV1Start.size(), feed - 1 - kV1Start.size()), feed + 1);
}

// ---- Version 2: binary ----

std::uint8_t byte_at(std::string_view bytes, std::size_t place) {
  return static_cast<std::uint8_t>(bytes[place]);
}

std::size_t short_at(std::string_view bytes, std::size_t place) {
  return std::size_t{byte_at(bytes, place)} << 8 | byte_at(bytes, place + 1);
}

constexpr std::uint8_t kTlvChecksum = 0x03;

// Castagnoli, reflected (RFC 9260, appendix A). The four bytes at `zeroed` count as zero.
std::uint32_t crc32c(std::string_view bytes, std::size_t zeroed) {
  std::uint32_t crc = 0xffffffff;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    crc ^= i >= zeroed && i < zeroed + 4 ? 0 : byte_at(bytes, i);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78U : 0U);
  }
  return ~crc;
}

// Type, length in two bytes, value; one after the other from `place` to the end of the header.
// Empty: all is well.
std::string_view tlv_fault(std::string_view header, std::size_t place) {
  while (place < header.size()) {
    if (header.size() - place < 3) return "a field of the PROXY header is cut off";
    const std::size_t value = place + 3;
    const std::size_t length = short_at(header, place + 1);
    if (length > header.size() - value) return "a field of the PROXY header is cut off";
    if (byte_at(header, place) == kTlvChecksum) {
      if (length != 4) return "the checksum of the PROXY header is malformed";
      const std::uint32_t told =
          static_cast<std::uint32_t>(short_at(header, value) << 16 | short_at(header, value + 2));
      if (told != crc32c(header, value)) return "the checksum of the PROXY header is wrong";
    }
    place = value + length;
  }
  return {};
}

template <std::size_t N>
std::array<std::uint8_t, N> bytes_at(std::string_view bytes, std::size_t place) {
  std::array<std::uint8_t, N> out;
  for (std::size_t i = 0; i < N; ++i) out[i] = byte_at(bytes, place + i);
  return out;
}

// Family and transport in one byte, and how many bytes of addresses and ports come with them.
struct AddressKind {
  std::uint8_t value;
  std::size_t bytes;
};
constexpr std::array<AddressKind, 4> kAddressKinds{{
    {0x00, 0},    // not said
    {0x11, 12},   // TCP over IPv4
    {0x21, 36},   // TCP over IPv6
    {0x31, 216},  // Unix stream
}};

ProxyScan read_v2(std::string_view header) {
  const std::uint8_t command = byte_at(header, 12) & 0x0f;
  const std::uint8_t value = byte_at(header, 13);
  const auto kind = std::find_if(kAddressKinds.begin(), kAddressKinds.end(),
                                 [value](const AddressKind& k) { return k.value == value; });
  // The balancer's own connection: whatever address it gives is to be ignored.
  if (command == 0) return found(header.size(), IpAddress());
  if (kind == kAddressKinds.end()) return fail("the PROXY header is of no stream protocol");
  if (header.size() - kV2FixedBytes < kind->bytes) {
    return fail("the PROXY header has no room for its addresses");
  }
  // Where the family is not said, what follows is not said either.
  if (value == 0) return found(header.size(), IpAddress());
  const std::string_view fault = tlv_fault(header, kV2FixedBytes + kind->bytes);
  if (!fault.empty()) return fail(fault);
  IpAddress source;
  if (value == 0x11) source = IpAddress::v4(bytes_at<4>(header, kV2FixedBytes));
  if (value == 0x21) source = IpAddress::v6(bytes_at<16>(header, kV2FixedBytes));
  return found(header.size(), source);
}

ProxyScan scan_v2(std::string_view bytes) {
  if (bytes.size() < kV2FixedBytes) return {};
  if (byte_at(bytes, 12) >> 4 != 2) return fail("the PROXY header has another version");
  if ((byte_at(bytes, 12) & 0x0f) > 1) return fail("the PROXY header has an unknown command");
  const std::size_t total = kV2FixedBytes + short_at(bytes, 14);
  if (total > kProxyV2BytesMax) return fail("the PROXY header is too long");
  if (bytes.size() < total) return {};
  return read_v2(bytes.substr(0, total));
}

}  // namespace

ProxyScan scan_proxy_header(std::string_view bytes) {
  if (may_begin(bytes, kV2Start))
    return bytes.size() < kV2Start.size() ? ProxyScan() : scan_v2(bytes);
  if (may_begin(bytes, kV1Start))
    return bytes.size() < kV1Start.size() ? ProxyScan() : scan_v1(bytes);
  ProxyScan scan;
  scan.state = State::kNone;
  return scan;
}

}  // namespace zerohop
