// Who this instance is to its clients: pins, exclusive pools, headers made of labels, and where the
// others are. Read from the configuration once; constant afterwards, any thread.
//
//   x-anthropic-instance-id: gpu-risk-01      this one, or 421
//   x-anthropic-instance-id: gpu-risk-*       this one if its id fits
//
// A 421 says x-should-retry: false, because the same request here ends the same way, and where an
// instance of that name is, when `instance.peers` knows one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/config.h"
#include "core/error.h"
#include "http/headers.h"

namespace zerohop {

inline constexpr std::string_view kInstanceHeader = "x-anthropic-instance-id";
/// On a 421: the address of the instance that was asked for.
inline constexpr std::string_view kInstanceAddressHeader = "x-anthropic-instance-address";

class InstanceIdentity {
 public:
  /// Of a configuration that was checked.
  explicit InstanceIdentity(const InstanceConfig& config);

  /// Whether a request may be served here. `tenant_pool`: of the tenant behind its key; empty:
  /// none. Errors: kWrongInstance.
  Result<void> check(const Headers& request, std::string_view tenant_pool) const;

  /// Where an instance that fits `pin` is; nothing when nobody knows.
  std::optional<std::string> address_of(std::string_view pin) const;

  /// On every reply: the id, and the labels that have a header.
  const std::vector<HeaderField>& reply_headers() const { return reply_headers_; }

 private:
  const InstanceConfig config_;
  std::vector<HeaderField> reply_headers_;
};

/// Headers of labels that are not there, or names that no header may have. Errors: kConfiguration.
Result<void> check_identity_rules(const InstanceConfig& config);

}  // namespace zerohop
