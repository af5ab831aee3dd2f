// What the Messages API defines about tools by type alone: the client tools whose schema a request
// does not carry, the members of toolsets, and the tools that only the hosted API can run.
//
// One data table each. A type of a newer date than the table knows is read as the newest known one
// of its family, so that a client with a new SDK is served. Internal to api/; pure functions over
// constant data; any thread. Source: Messages API, tools.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace zerohop {

/// A tool that the client runs and whose schema is fixed by its type.
struct KnownTool {
  std::string_view type;  ///< such as `bash_20250124`
  std::string_view name;  ///< the only one that the protocol allows
  std::string_view description;
  std::string_view schema;  ///< one JSON object, compact
};

/// Null when `type` is none.
const KnownTool* find_known_tool(std::string_view type);

/// One tool of a toolset.
struct ToolsetMember {
  std::string_view name;
  std::string_view description;
  /// Names of rows of the field table, a space between two; `!` behind a required one.
  std::string_view fields;
};

struct Toolset {
  std::string_view type;  ///< such as `browser_toolset_20260801`
  std::string_view name;  ///< the `toolset_name` of its calls
  std::span<const ToolsetMember> members;
};

/// Null when `type` is none.
const Toolset* find_toolset(std::string_view type);

/// The input schema of a member: one JSON object, compact.
std::string member_schema(const ToolsetMember& member);

/// True for tools that only the hosted API runs: search, fetch, code execution, and the like.
bool is_server_tool(std::string_view type);

}  // namespace zerohop
