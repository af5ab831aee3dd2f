// What one address may ask of the server before anybody looks at keys: so many open connections,
// and so many requests a minute.
//
// IPv6 addresses count by their first 64 bits, of which one customer has all
// (IpAddress::subscriber()). Networks that are exempt (loopback by default) and Unix sockets have
// no limits. Failures to show a good key are counted elsewhere (auth_attempts.h).
//
// Memory is bounded whatever comes: an address is remembered for its connections only while it has
// some, so there are never more than the listener allows; and its requests are remembered in a
// table of fixed size. A new address takes there the place of the one in its set that has asked
// least lately, as its bucket is nearest to full: whoever comes with many addresses displaces his
// own, and can make a busy one start anew at most.
//
// I/O thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "admission/gcra.h"
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

  /// One more connection of `peer`; nothing when it has too many.
  std::optional<AddressConnection> connect(const IpAddress& peer);

  /// One more request of `peer`. Errors: kRateLimited, with how long until there is room.
  Result<void> take_request(const IpAddress& peer, TimePoint now);

  /// With open connections.
  std::size_t addresses_connected() const { return connections_.size(); }

 private:
  friend class AddressConnection;

  struct Hash {
    std::uint64_t seed;
    std::size_t operator()(const IpAddress& address) const;
  };
  struct Bucket {
    IpAddress address;
    std::optional<Gcra> requests;  // none: free
  };

  bool is_limited(const IpAddress& peer) const;
  Gcra& bucket_of(const IpAddress& address, TimePoint now);
  void disconnect(const IpAddress& address);

  const AddressRules rules_;
  const Hash hash_;
  std::unordered_map<IpAddress, std::uint32_t, Hash> connections_;  // each above 0
  std::vector<Bucket> buckets_;                                     // sets of kWays
};

}  // namespace zerohop
