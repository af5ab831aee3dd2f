// How a request is read; from the server's configuration and the key's. A plain value.
#pragma once

#include <cstdint>

#include "core/limits.h"

namespace zerohop {

enum class Strictness : std::uint8_t {
  kLenient,  ///< fills gaps that scripts in the field leave
  kStrict,   ///< refuses what the hosted API refuses
};

struct ParseOptions {
  Strictness strictness = Strictness::kLenient;
  /// For requests that name none. Unused when strict.
  std::uint32_t default_max_tokens = limits::kDefaultMaxTokens;

  bool strict() const { return strictness == Strictness::kStrict; }
};

}  // namespace zerohop
