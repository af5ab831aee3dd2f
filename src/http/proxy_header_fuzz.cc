// libFuzzer: any bytes where a PROXY header may stand, cut at every position. Corpus:
// tests/corpus/proxy_header.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/proxy_header_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(static_cast<const void*>(data));
  zerohop::check_proxy_header(std::string_view(bytes, size));
  return 0;
}
