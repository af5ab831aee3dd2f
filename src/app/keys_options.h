// What `zerohop keys …` was asked to do, as read from the command line. Plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/limits.h"
#include "core/tenant.h"

namespace zerohop {

enum class KeysAction : std::uint8_t {
  kCreate,
  kList,
  kRevoke,
  kLimits,
  kListTenants,
  kSetTenant,
  kDeleteTenant,
  kBackup,
  kPrune,
};

/// Limits as flags name them; nothing as number: the limit goes.
using LimitChanges = std::vector<std::pair<const LimitField*, LimitNumber>>;

struct KeysOptions {
  KeysAction action = KeysAction::kList;
  /// Keys, the tenant, or the file, as the action has it.
  std::vector<std::string> words;
  bool json = false;

  // create, list
  std::optional<std::string> tenant;
  // create
  std::string name;
  std::optional<std::uint32_t> expires_days;
  // create, limits, tenants set
  LimitChanges limits;
  // tenants set: what is absent stays as it is
  std::optional<double> weight;
  std::optional<PriorityClass> priority;
  std::optional<std::string> pool;
  std::optional<std::vector<std::string>> models;
  // prune
  std::uint32_t ended_days = 90;
};

}  // namespace zerohop
