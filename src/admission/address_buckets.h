// AddressBuckets: so many a minute for each address, in a table of fixed size.
//
// IPv6 addresses count by their first 64 bits, of which one customer has all
// (IpAddress::subscriber()). One that is not known is one of its own: that of all Unix sockets.
//
// The table is sets of a few places each; a seed that nobody knows decides which addresses meet in
// a set. A new address takes there the place of the one whose bucket is nearest to full, which has
// asked least lately: whoever comes with many addresses displaces his own, and can make a busy one
// start anew at most.
//
//   address ─ mix with seed ─▶ set ─▶ known: its bucket
//                                └──▶ new: a free place, else that of the fullest bucket
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "admission/gcra.h"
#include "base/clock.h"
#include "base/ip_address.h"

namespace zerohop {

/// Where an address stands in a table; of whole addresses, not of subscribers.
struct AddressHash {
  std::uint64_t seed = 0;  ///< unknown to peers
  std::size_t operator()(const IpAddress& address) const;
};

struct AddressBucketsShape {
  std::size_t sets = 0;
  std::size_t ways = 0;          ///< places of a set
  std::uint64_t per_minute = 0;  ///< of one address, all of them at once if it likes; above 0
};

class AddressBuckets {
 public:
  AddressBuckets(const AddressBucketsShape& shape, std::uint64_t seed);

  struct Verdict {
    bool within = true;   ///< there was room
    bool first = false;   ///< … and it is the first time that there was none
    Duration retry_in{};  ///< until there is room again
  };

  /// One more of `peer`.
  Verdict take(const IpAddress& peer, TimePoint now);

 private:
  struct Bucket {
    IpAddress address;
    std::optional<Gcra> room;  // none: free
    bool over = false;         // was refused since there was room last
  };

  Bucket& bucket_of(const IpAddress& address, TimePoint now);

  const AddressBucketsShape shape_;
  const AddressHash hash_;
  std::vector<Bucket> buckets_;
};

}  // namespace zerohop
