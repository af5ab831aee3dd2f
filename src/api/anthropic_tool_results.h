// Results of tools, those that the client ran and those that another server ran, as blocks that a
// text model can read. Internal to api/; the rules are those of anthropic_request.h. Pure
// functions; any thread.
#pragma once

#include <string_view>

#include "api/json_place.h"
#include "api/parse_options.h"
#include "core/content.h"
#include "core/error.h"

namespace zerohop {

/// A `tool_result` block: content a string, absent, null, or an array of text, image, document,
/// search_result, tool_reference and browser_state.
Result<ToolResultBlock> parse_tool_result(const JsonPlace& block, const ParseOptions& options);

/// True for `web_search_tool_result` and all its relatives.
bool is_server_result(std::string_view type);

/// A block for which is_server_result(type). Whatever its content looks like, something readable
/// comes out: these blocks were written by a server and are given back unchanged, so a client could
/// not repair one.
Result<ToolResultBlock> parse_server_result(const JsonPlace& block, const ParseOptions& options);

}  // namespace zerohop
