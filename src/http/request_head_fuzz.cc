// libFuzzer: any bytes through the parser of the sessions, cut in three ways. Corpus:
// tests/corpus/request_head.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/request_parser_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(static_cast<const void*>(data));
  zerohop::check_request(std::string_view(bytes, size));
  return 0;
}
