#include "admission/auth_attempts.h"

#include <algorithm>
#include <cstring>

#include "base/random.h"

namespace zerohop {

AuthAttempts::Bucket& AuthAttempts::bucket_of(const IpAddress& address) {
  std::uint64_t halves[2];
  static_assert(sizeof halves == sizeof address.bytes());
  std::memcpy(halves, address.bytes().data(), sizeof halves);
  const std::uint64_t hash = mix64(mix64(halves[0] ^ seed_) ^ halves[1]);
  auto& set = sets_[hash % kSets];
  const auto found = std::ranges::find_if(
      set, [&address](const Bucket& bucket) { return bucket.used && bucket.address == address; });
  if (found != set.end()) return *found;
  const auto oldest = std::ranges::min_element(set, [](const Bucket& left, const Bucket& right) {
    return left.used != right.used ? !left.used : left.empty_at < right.empty_at;
  });
  *oldest = Bucket{address, true, false, {}};
  return *oldest;
}

AuthAttempts::Verdict AuthAttempts::failed(const IpAddress& address, TimePoint now) {
  Bucket& bucket = bucket_of(address.subscriber());
  const TimePoint begin = std::max(bucket.empty_at, now);
  const TimePoint full = now + kBurst * kRefill;
  if (begin + kRefill <= full) {
    bucket.empty_at = begin + kRefill;
    bucket.over = false;
    return {};
  }
  const bool first = !bucket.over;
  bucket.over = true;
  return {false, first, begin + kRefill - full};
}

}  // namespace zerohop
