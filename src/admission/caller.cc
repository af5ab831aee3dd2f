#include "admission/caller.h"

namespace zerohop {

const TenantRecord& open_tenant() {
  static const TenantRecord kOpen;
  return kOpen;
}

const TenantRecord& unknown_tenant() {
  static const TenantRecord kUnknown = [] {
    TenantRecord record;
    record.name = "(unknown)";
    return record;
  }();
  return kUnknown;
}

}  // namespace zerohop
