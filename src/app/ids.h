// Ids that clients see. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/random.h"

namespace zerohop {

/// `prefix` and 24 random letters and digits, 142 bits: ids must never repeat, because agents merge
/// messages and drop calls that share one.
inline std::string make_id(std::string_view prefix) {
  constexpr std::size_t kIdCharacters = 24;
  return std::string(prefix) + os_random_text(kIdCharacters);
}

}  // namespace zerohop
