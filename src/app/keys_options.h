// What `zerohop keys …` was asked to do, as read from the command line. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/key_fields.h"

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

struct KeysOptions : KeyFields {
  KeysAction action = KeysAction::kList;
  /// Keys, the tenant, or the file, as the action has it.
  std::vector<std::string> words;
  bool json = false;

  // prune
  std::uint32_t ended_days = 90;
};

}  // namespace zerohop
