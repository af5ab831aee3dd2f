// The part of the configuration that limits requests, read: what keys and tenants may use that say
// nothing themselves, and what tokens cost. Plain values; any thread.
#pragma once

#include "admission/limits.h"
#include "admission/price_table.h"
#include "app/config.h"
#include "core/error.h"

namespace zerohop {

struct LimitSettings {
  Limits key_defaults;
  Limits tenant_defaults;
  PriceTable prices;

  /// Errors: kConfiguration, with the path of the key.
  static Result<LimitSettings> from_config(const LimitsConfig& config);
};

}  // namespace zerohop
