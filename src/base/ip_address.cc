#include "base/ip_address.h"

#include <arpa/inet.h>

#include <algorithm>

#include "base/whole_number.h"

namespace zerohop {
namespace {

constexpr std::size_t kMappedBytes = 12;  // 80 zeros and 16 ones in front of a mapped IPv4 address

bool is_mapped(std::span<const std::uint8_t, 16> bytes) {
  return std::all_of(bytes.begin(), bytes.begin() + 10, [](std::uint8_t b) { return b == 0; }) &&
         bytes[10] == 0xff && bytes[11] == 0xff;
}

// Bits of the prefix that are set beyond `bits`.
bool has_bits_behind(const std::array<std::uint8_t, 16>& bytes, std::size_t bits) {
  for (std::size_t bit = bits; bit < 128; ++bit) {
    if ((bytes[bit / 8] >> (7 - bit % 8) & 1) != 0) return true;
  }
  return false;
}

std::optional<std::size_t> parse_bits(std::string_view text) {
  const auto bits = whole_number<std::size_t>(text);
  const bool padded = text.size() > 1 && text.front() == '0';
  return !padded && bits.value_or(129) <= 128 ? bits : std::nullopt;
}

}  // namespace

IpAddress IpAddress::v4(std::span<const std::uint8_t, 4> bytes) {
  IpAddress address;
  address.family_ = Family::kV4;
  address.bytes_[10] = address.bytes_[11] = 0xff;
  std::copy(bytes.begin(), bytes.end(), address.bytes_.begin() + kMappedBytes);
  return address;
}

IpAddress IpAddress::v6(std::span<const std::uint8_t, 16> bytes) {
  if (is_mapped(bytes)) return v4(bytes.subspan<kMappedBytes, 4>());
  IpAddress address;
  address.family_ = Family::kV6;
  std::copy(bytes.begin(), bytes.end(), address.bytes_.begin());
  return address;
}

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  // inet_pton needs a closing zero, and would stop at one inside.
  if (text.size() >= INET6_ADDRSTRLEN || text.find('\0') != text.npos) return std::nullopt;
  const std::string copy(text);
  std::array<std::uint8_t, 4> four{};
  if (inet_pton(AF_INET, copy.c_str(), four.data()) == 1) return v4(four);
  std::array<std::uint8_t, 16> sixteen{};
  if (inet_pton(AF_INET6, copy.c_str(), sixteen.data()) == 1) return v6(sixteen);
  return std::nullopt;
}

bool IpAddress::is_loopback() const {
  if (family_ == Family::kV4) return bytes_[kMappedBytes] == 127;
  return family_ == Family::kV6 && bytes_.back() == 1 &&
         std::all_of(bytes_.begin(), bytes_.end() - 1, [](std::uint8_t b) { return b == 0; });
}

IpAddress IpAddress::subscriber() const {
  IpAddress network = *this;
  if (family_ == Family::kV6) std::fill(network.bytes_.begin() + 8, network.bytes_.end(), 0);
  return network;
}

std::string IpAddress::text() const {
  if (family_ == Family::kNone) return {};
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  const bool four = family_ == Family::kV4;
  const void* from = four ? bytes_.data() + kMappedBytes : bytes_.data();
  inet_ntop(four ? AF_INET : AF_INET6, from, buffer.data(), buffer.size());
  return buffer.data();
}

std::optional<IpNetwork> IpNetwork::parse(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::optional<IpAddress> address = IpAddress::parse(text.substr(0, slash));
  if (!address) return std::nullopt;
  const bool four = address->family() == IpAddress::Family::kV4;
  IpNetwork network;
  network.first_ = *address;
  network.prefix_bits_ = 128;
  if (slash < text.size()) {
    const std::optional<std::size_t> bits = parse_bits(text.substr(slash + 1));
    if (!bits || (four && *bits > 32)) return std::nullopt;
    network.prefix_bits_ = four ? *bits + 8 * kMappedBytes : *bits;
  }
  if (has_bits_behind(network.first_.bytes(), network.prefix_bits_)) return std::nullopt;
  return network;
}

bool IpNetwork::contains(const IpAddress& address) const {
  if (address.family() != first_.family()) return false;
  const std::size_t whole = prefix_bits_ / 8;
  const auto& mine = first_.bytes();
  const auto& other = address.bytes();
  if (!std::equal(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(whole), other.begin())) {
    return false;
  }
  const std::size_t rest = prefix_bits_ % 8;
  return rest == 0 || mine[whole] >> (8 - rest) == other[whole] >> (8 - rest);
}

std::string IpNetwork::text() const {
  const bool four = first_.family() == IpAddress::Family::kV4;
  return first_.text() + "/" + std::to_string(prefix_bits_ - (four ? 8 * kMappedBytes : 0));
}

}  // namespace zerohop
