// The terminals of Lark's library `common` that %import may name, as patterns.
//
// Constant text; any thread.
#pragma once

#include <string_view>

namespace zerohop {

/// The ECMA-262 pattern of common.NAME; empty when there is no such terminal.
std::string_view lark_common_pattern(std::string_view name);

}  // namespace zerohop
