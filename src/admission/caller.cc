#include "admission/caller.h"

namespace zerohop {

const TenantRecord& open_tenant() {
  static const TenantRecord kOpen;
  return kOpen;
}

}  // namespace zerohop
