// Properties of code points that patterns may name: \p{Letter}, \p{Lu}, \p{Script=Greek}.
//
// Unicode 15.0. Complete: all general categories with their groups and long names, all scripts (a
// script may be named alone, which ECMA-262 lacks but patterns in the wild have), Any, ASCII,
// Assigned, Alphabetic, Lowercase, Uppercase, Emoji, ID_Start, White_Space and a few more of one
// value. Script_Extensions and others are unknown. Pure; any thread.
#pragma once

#include <optional>
#include <string_view>

#include "constrain/code_point_set.h"

namespace zerohop {

/// `expression` is what stands between the braces. Nothing: there is no such property here.
std::optional<CodePointSet> unicode_property(std::string_view expression);

}  // namespace zerohop
