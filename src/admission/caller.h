// Whose request it is, as the door found out from its key. A value; any thread.
#pragma once

#include <memory>

#include "admission/key_records.h"
#include "admission/key_ring.h"

namespace zerohop {

/// The tenant of everybody where no keys are asked for: `default`, number 0, without limits.
const TenantRecord& open_tenant();

/// The tenant of nobody: where keys are asked for, of who has shown no good one, and of what a
/// tenant left behind that is no more. Called `(unknown)`, as none can be; number 0.
const TenantRecord& unknown_tenant();

struct Caller {
  const KeyRecord* key = nullptr;                 ///< null: no key was asked for
  const TenantRecord* tenant = &open_tenant();    ///< never null
  std::shared_ptr<const KeyRing> ring = nullptr;  ///< in which the two stand
};

}  // namespace zerohop
