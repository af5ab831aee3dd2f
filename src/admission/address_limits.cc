#include "admission/address_limits.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <string>

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

AddressConnection::~AddressConnection() {
  if (limits_ != nullptr) limits_->disconnect(address_);
}

// Mixed twice with the seed, so that nobody can choose addresses that meet.
std::size_t AddressLimits::Hash::operator()(const IpAddress& address) const {
  return static_cast<std::size_t>(
      mix64(mix64(half_of(address, 0) ^ seed) ^ half_of(address, 8) ^ seed));
}

AddressLimits::AddressLimits(AddressRules rules, std::uint64_t seed)
    : rules_(std::move(rules)),
      hash_{seed},
      connections_(0, hash_),
      buckets_(rules_.requests_per_minute == 0 ? 0 : kSets * kWays) {}

AddressLimits::~AddressLimits() { ZH_CHECK(connections_.empty()); }

bool AddressLimits::is_limited(const IpAddress& peer) const {
  return peer.known() && std::ranges::none_of(rules_.exempt, [&peer](const IpNetwork& network) {
           return network.contains(peer);
         });
}

std::optional<AddressConnection> AddressLimits::connect(const IpAddress& peer) {
  if (rules_.connections_max == 0 || !is_limited(peer)) return AddressConnection();
  const IpAddress address = peer.subscriber();
  std::uint32_t& open = connections_[address];
  if (open >= rules_.connections_max) return std::nullopt;
  ++open;
  return AddressConnection(this, address);
}

void AddressLimits::disconnect(const IpAddress& address) {
  const auto found = connections_.find(address);
  ZH_CHECK(found != connections_.end() && found->second > 0);
  if (--found->second == 0) connections_.erase(found);
}

Result<void> AddressLimits::take_request(const IpAddress& peer, TimePoint now) {
  if (rules_.requests_per_minute == 0 || !is_limited(peer)) return {};
  Gcra& bucket = bucket_of(peer.subscriber(), now);
  if (bucket.try_take(1, now)) return {};
  Error error;
  error.code = ErrorCode::kRateLimited;
  error.message = "this address may send " + std::to_string(rules_.requests_per_minute) +
                  " requests a minute (server.address_requests_per_minute)";
  error.retry_after =
      std::max(std::chrono::ceil<std::chrono::milliseconds>(bucket.wait_for(1, now)),
               std::chrono::milliseconds(1));
  return error;
}

Gcra& AddressLimits::bucket_of(const IpAddress& address, TimePoint now) {
  const std::span<Bucket> set(buckets_.data() + hash_(address) % kSets * kWays, kWays);
  const auto known = std::ranges::find_if(set, [&address](const Bucket& bucket) {
    return bucket.requests && bucket.address == address;
  });
  if (known != set.end()) return *known->requests;
  Bucket* oldest = nullptr;
  Duration least{};
  for (Bucket& bucket : set) {
    const Duration owed = bucket.requests ? bucket.requests->full_in(now) : Duration(-1);
    if (oldest != nullptr && owed >= least) continue;
    oldest = &bucket;
    least = owed;
  }
  oldest->address = address;
  return oldest->requests.emplace(rules_.requests_per_minute, now);
}

}  // namespace zerohop
