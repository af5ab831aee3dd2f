// What one address may ask of the server before anybody looks at keys: so many open connections,
// and so many requests a minute.
//
// IPv6 addresses count by their first 64 bits, of which one customer has all
// (IpAddress::subscriber()). Networks that are exempt (loopback by default) and Unix sockets have
// no limits. Failures to show a good key are counted elsewhere (auth_attempts.h).
//
// Memory is bounded whatever comes: an address is remembered for its connections only while it has
// some, so there are never more than the listener allows; and its requests are remembered in a
// table of fixed size (address_buckets.h).
//
// I/O thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "admission/address_buckets.h"
#include "base/clock.h"
#include "base/ip_address.h"
#include "core/error.h"

namespace zerohop {

struct AddressRules {
  std::uint32_t connections_max = 0;      ///< 0: no limit
  std::uint32_t requests_per_minute = 0;  ///< likewise
  std::vector<IpNetwork> exempt;
};

class AddressLimits;

/// The right to one connection; dropping it returns it. The limits outlive it.
class [[nodiscard]] AddressConnection {
 public:
  AddressConnection() = default;
  AddressConnection(AddressConnection&& other) noexcept
      : limits_(std::exchange(other.limits_, nullptr)), address_(other.address_) {}
  AddressConnection& operator=(AddressConnection&&) = delete;
  ~AddressConnection();

 private:
  friend class AddressLimits;
  AddressConnection(AddressLimits* limits, const IpAddress& address)
      : limits_(limits), address_(address) {}

  AddressLimits* limits_ = nullptr;  // null: an address without limits
  IpAddress address_;
};

class AddressLimits {
 public:
  static constexpr std::size_t kSets = 2'048;
  static constexpr std::size_t kWays = 8;

  /// `seed` decides which addresses share a set; unknown to peers.
  AddressLimits(AddressRules rules, std::uint64_t seed);
  ~AddressLimits();
  AddressLimits(const AddressLimits&) = delete;
  AddressLimits& operator=(const AddressLimits&) = delete;

  /// What holds from now on. Connections that are open stay counted as they are; with another
  /// number of requests a minute everybody starts anew.
  void set_rules(AddressRules rules);

  /// One more connection of `peer`; nothing when it has too many.
  std::optional<AddressConnection> connect(const IpAddress& peer);

  /// One more request of `peer`. Errors: kRateLimited, with how long until there is room.
  Result<void> take_request(const IpAddress& peer, TimePoint now);

  /// With open connections.
  std::size_t addresses_connected() const { return connections_.size(); }

 private:
  friend class AddressConnection;

  bool is_limited(const IpAddress& peer) const;
  void disconnect(const IpAddress& address);

  AddressRules rules_;
  const AddressHash hash_;
  std::unordered_map<IpAddress, std::uint32_t, AddressHash> connections_;  // each above 0
  std::optional<AddressBuckets> requests_;                                 // none: no limit
};

}  // namespace zerohop
