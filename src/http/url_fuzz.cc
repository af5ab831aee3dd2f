// libFuzzer: request targets and queries.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "http/url.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerohop;
  const std::string_view text(static_cast<const char*>(static_cast<const void*>(data)), size);
  const std::optional<std::string> strict = percent_decode(text, BadEscapes::kRefuse);
  const std::optional<std::string> kept = percent_decode(text, BadEscapes::kKeep);
  ZH_CHECK(kept.has_value());
  ZH_CHECK(!strict || *strict == *kept);
  if (const std::optional<TargetParts> parts = split_target(text)) {
    ZH_CHECK(parts->path == "*" || normalise_path(parts->path) == parts->path);
    static_cast<void>(query_parameter(parts->query, "name"));
  }
  static_cast<void>(query_parameter(text, "a"));
  return 0;
}
