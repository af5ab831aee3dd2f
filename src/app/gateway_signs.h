// Marks of gateways and proxies that stand in front of this server. What they do (keys, limits,
// retries, caches, guardrails) this process does too and with better knowledge, so one that was
// forgotten there costs latency and hides addresses: it is counted, shown in /v1/system_info and
// told in the log once.
//
// A mark is a header field that a product adds by itself, from one table; its value is looked at
// only in Via, which names products (RFC 9110, section 7.6.3). Values are never kept: a client may
// send anything. I/O thread only.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "http/headers.h"

namespace zerohop {

/// In the order of gateway_name().
enum class Gateway : std::uint8_t {
  kAkamai,
  kApisix,
  kAws,
  kAzure,
  kBifrost,
  kCaddy,
  kCloudflare,
  kEnvoy,
  kFastly,
  kGoogle,
  kHelicone,
  kKong,
  kLitellm,
  kNginx,
  kPortkey,
  kTraefik,
  kTyk,
  kVarnish,
  kVercel,
  kOther,  ///< Via, Forwarded or X-Forwarded-* without a mark of any of these
};
inline constexpr std::size_t kGateways = static_cast<std::size_t>(Gateway::kOther) + 1;

std::string_view gateway_name(Gateway gateway);

/// A set of gateways: bit by number.
using GatewaySet = std::uint32_t;
static_assert(kGateways <= 32);
constexpr GatewaySet set_of(Gateway gateway) { return GatewaySet{1} << static_cast<int>(gateway); }

/// Which ones left a mark in `headers`; 0: none.
GatewaySet gateways_of(const Headers& headers);

/// What has been seen since the start.
class GatewaySightings {
 public:
  struct Sighting {
    std::uint64_t requests = 0;
    TimePoint last{};
  };

  /// One request. Returns those that were seen for the first time.
  GatewaySet note(GatewaySet seen, TimePoint now);
  const Sighting& of(Gateway gateway) const { return seen_[static_cast<std::size_t>(gateway)]; }

 private:
  std::array<Sighting, kGateways> seen_{};
};

/// Calls `use` for each member of `set`.
template <class Use>
void for_each_gateway(GatewaySet set, Use use) {
  for (std::size_t i = 0; i < kGateways; ++i) {
    if ((set >> i & 1) != 0) use(static_cast<Gateway>(i));
  }
}

}  // namespace zerohop
