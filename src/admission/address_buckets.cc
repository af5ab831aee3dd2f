#include "admission/address_buckets.h"

#include <algorithm>
#include <span>

#include "base/check.h"
#include "base/random.h"

namespace zerohop {
namespace {

std::uint64_t half_of(const IpAddress& address, std::size_t from) {
  std::uint64_t half = 0;
  for (std::size_t i = from; i < from + 8; ++i) half = half << 8 | address.bytes()[i];
  return half;
}

}  // namespace

// Mixed twice with the seed, so that nobody can choose addresses that meet.
std::size_t AddressHash::operator()(const IpAddress& address) const {
  return static_cast<std::size_t>(
      mix64(mix64(half_of(address, 0) ^ seed) ^ half_of(address, 8) ^ seed));
}

AddressBuckets::AddressBuckets(const AddressBucketsShape& shape, std::uint64_t seed)
    : shape_(shape), hash_{seed}, buckets_(shape.sets * shape.ways) {
  ZH_CHECK(!buckets_.empty() && shape_.per_minute > 0);
}

AddressBuckets::Verdict AddressBuckets::take(const IpAddress& peer, TimePoint now) {
  Bucket& bucket = bucket_of(peer.subscriber(), now);
  if (bucket.room->try_take(1, now)) {
    bucket.over = false;
    return {};
  }
  const bool first = !bucket.over;
  bucket.over = true;
  return {false, first, bucket.room->wait_for(1, now)};
}

AddressBuckets::Bucket& AddressBuckets::bucket_of(const IpAddress& address, TimePoint now) {
  const std::size_t first = hash_(address) % shape_.sets * shape_.ways;
  const std::span<Bucket> set(buckets_.data() + first, shape_.ways);
  const auto known = std::ranges::find_if(
      set, [&address](const Bucket& bucket) { return bucket.room && bucket.address == address; });
  if (known != set.end()) return *known;
  Bucket* fullest = nullptr;
  Duration least{};
  for (Bucket& bucket : set) {
    const Duration owed = bucket.room ? bucket.room->full_in(now) : Duration(-1);
    if (fullest != nullptr && owed >= least) continue;
    fullest = &bucket;
    least = owed;
  }
  fullest->address = address;
  fullest->over = false;
  fullest->room.emplace(shape_.per_minute, now);
  return *fullest;
}

}  // namespace zerohop
