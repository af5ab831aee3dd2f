// Which parameters of a tool are strings and which can be none, by the tool's schema.
//
// Where calls are written with tags (ToolSyntaxKind::kTagged), a string stands as it is and any
// other value as JSON. `12` may be either, and `["</parameter>"]` is one value or a broken one: who
// reads it has to know, and who constrains it must agree. So both ask here (output_planner.h,
// tagged_call.h).
//
// What is said holds for every reading of the schema, and nothing is said where a keyword leaves it
// open: `type`, `enum`, `const`, references within the schema and the combining keywords count,
// also around `properties`; `not`, `if` and the like narrow a schema and are not looked at.
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zerohop {

enum class ParameterKind : std::uint8_t {
  kString,  ///< always a string
  kJson,    ///< never one
  kOpen,
};

struct ParameterKinds {
  std::vector<std::string> strings;
  std::vector<std::string> json;

  ParameterKind of(std::string_view name) const;
  friend bool operator==(const ParameterKinds&, const ParameterKinds&) = default;
};

/// Of the properties that the schema names. Nothing is known of a text that is no schema, or one
/// that takes too much work.
ParameterKinds parameter_kinds(std::string_view schema);

/// Whether every value that satisfies the schema is an object.
bool is_object_schema(std::string_view schema);

}  // namespace zerohop
