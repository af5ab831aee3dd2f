// Values that a conversation names for the arguments of tools: what their calls are likely to hold
// (constrain/soft_bias.h), and what they should hold and cannot.
//
// For tools that ask for it (ToolDefinition::live_arguments), each property at the top of the
// schema is looked for in
//
//   earlier calls       of that tool: members of that name in their input
//   results of tools    members of that name at any depth, where the text is JSON
//   texts of the user   `name: value`, `name = value` and `name value` with a digit in it, the name
//                       also with blanks in place of its underscores
//
// Later mentions come first, and a bounded number of them counts. Linear in the conversation for
// each property.
//
// Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "constrain/soft_bias.h"
#include "core/request.h"

namespace zerohop {

/// The newest values of one argument that are kept.
inline constexpr std::size_t kLiveValuesMax = 32;

/// A value that the conversation names and the schema's enum does not have.
struct ToolConflict {
  std::string tool;
  std::string argument;
  std::string value;  ///< as JSON
};

struct LiveValues {
  std::vector<SoftRule> rules;
  std::vector<ToolConflict> conflicts;
};

LiveValues live_values(const Conversation& conversation);

}  // namespace zerohop
