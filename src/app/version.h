// The program's version; equal to the one in CMakeLists.txt (a test compares).
#pragma once

#include <string_view>

namespace zerohop {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace zerohop
