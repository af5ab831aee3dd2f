// IpAddress and IpNetwork: who is at the other end, as a value. Texts are those of inet_pton and
// RFC 5952; an IPv4 address that came through an IPv6 socket (`::ffff:192.0.2.1`) is the IPv4 one,
// so that one host is one address. Plain values; any thread.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace zerohop {

class IpAddress {
 public:
  enum class Family : std::uint8_t { kNone, kV4, kV6 };

  /// Nobody's: the peer of a Unix socket, or one that a balancer did not name.
  IpAddress() = default;
  static IpAddress v4(std::span<const std::uint8_t, 4> bytes);
  static IpAddress v6(std::span<const std::uint8_t, 16> bytes);
  /// `192.0.2.1`, `2001:db8::1`. Nothing for anything else: no port, no zone, no brackets.
  static std::optional<IpAddress> parse(std::string_view text);

  bool known() const { return family_ != Family::kNone; }
  Family family() const { return family_; }
  bool is_loopback() const;
  /// Of an IPv6 address its first 64 bits, which one customer holds all of; IPv4 as it is.
  IpAddress subscriber() const;
  /// As parse() reads it; empty when not known.
  std::string text() const;

  /// 16 bytes in network order; IPv4 is mapped (`::ffff:a.b.c.d`).
  const std::array<std::uint8_t, 16>& bytes() const { return bytes_; }
  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;

 private:
  std::array<std::uint8_t, 16> bytes_{};
  Family family_ = Family::kNone;
};

/// All addresses that begin with the same bits.
class IpNetwork {
 public:
  /// `10.0.0.0/8`, `2001:db8::/32`, or one address. Nothing where the text is malformed or where
  /// bits behind the prefix are set (`10.0.0.1/8`): that is a misunderstanding.
  static std::optional<IpNetwork> parse(std::string_view text);

  bool contains(const IpAddress& address) const;
  std::string text() const;

 private:
  IpAddress first_;
  std::size_t prefix_bits_ = 0;  // of the 16 bytes
};

}  // namespace zerohop
