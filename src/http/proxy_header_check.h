// What holds for scan_proxy_header() whatever the bytes; for its tests and its fuzz target.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/check.h"
#include "http/proxy_header.h"

namespace zerohop {

/// Scans `bytes` cut at every position up to the largest header. A decision, once made, is final,
/// whatever follows; a header is found with its last byte and not before.
inline ProxyScan check_proxy_header(std::string_view bytes) {
  const ProxyScan whole = scan_proxy_header(bytes);
  const std::size_t last = std::min(bytes.size(), kProxyV2BytesMax + 1);
  bool decided = false;
  for (std::size_t length = 0; length <= last; ++length) {
    const ProxyScan cut = scan_proxy_header(bytes.substr(0, length));
    if (cut.state == ProxyScan::State::kNeedMore) {
      ZH_CHECK(!decided);
      continue;
    }
    if (!decided && cut.state == ProxyScan::State::kHeader) ZH_CHECK(cut.bytes == length);
    decided = true;
    ZH_CHECK(cut.state == whole.state && cut.bytes == whole.bytes);
    ZH_CHECK(cut.source == whole.source && cut.fault == whole.fault);
    ZH_CHECK((cut.state == ProxyScan::State::kFailed) == !cut.fault.empty());
  }
  ZH_CHECK(decided == (whole.state != ProxyScan::State::kNeedMore));
  ZH_CHECK(decided || bytes.size() <= kProxyV2BytesMax);
  return whole;
}

}  // namespace zerohop
