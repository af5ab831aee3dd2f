#include "base/wipe.h"

#include <cstring>

namespace zerohop {

void wipe_bytes(void* bytes, std::size_t count) {
  if (count > 0) ::explicit_bzero(bytes, count);
}

}  // namespace zerohop
