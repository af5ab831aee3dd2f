#include "store/store_error.h"

namespace zerohop {

Error client_error(const StoreError& error) {
  switch (error.fault) {
    case StoreFault::kFull:
      return Error{ErrorCode::kOverloaded, "the server has no room to keep this", "",
                   std::chrono::seconds(60)};
    case StoreFault::kBusy:
      return Error{ErrorCode::kOverloaded, "the server's store is busy", "",
                   std::chrono::seconds(1)};
    case StoreFault::kCorrupt:
    case StoreFault::kNewer:
    case StoreFault::kUnavailable: break;
  }
  return Error{ErrorCode::kInternal, "the server's store failed", "", {}};
}

Error startup_error(const StoreError& error) {
  return Error{ErrorCode::kConfiguration, error.message, "", {}};
}

}  // namespace zerohop
