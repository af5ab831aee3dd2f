#include "admission/address_limits.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "base/check.h"

namespace zerohop {
AddressConnection::~AddressConnection() {
  if (limits_ != nullptr) limits_->disconnect(address_);
}

AddressLimits::AddressLimits(AddressRules rules, std::uint64_t seed)
    : hash_{seed}, connections_(0, hash_) {
  set_rules(std::move(rules));
}

void AddressLimits::set_rules(AddressRules rules) {
  const std::uint32_t before = std::exchange(rules_, std::move(rules)).requests_per_minute;
  if (rules_.requests_per_minute == before) return;
  requests_.reset();
  if (rules_.requests_per_minute == 0) return;
  requests_.emplace(AddressBucketsShape{kSets, kWays, rules_.requests_per_minute}, hash_.seed);
}

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
  if (!requests_ || !is_limited(peer)) return {};
  const AddressBuckets::Verdict verdict = requests_->take(peer, now);
  if (verdict.within) return {};
  Error error;
  error.code = ErrorCode::kRateLimited;
  error.message = "this address may send " + std::to_string(rules_.requests_per_minute) +
                  " requests a minute (server.address_requests_per_minute)";
  error.retry_after = std::max(std::chrono::ceil<std::chrono::milliseconds>(verdict.retry_in),
                               std::chrono::milliseconds(1));
  return error;
}

}  // namespace zerohop
