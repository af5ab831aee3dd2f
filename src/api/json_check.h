// JSON text that is handed on as it is: what a model wrote, byte by byte, numbers with all their
// digits. Internal to api/; pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace zerohop {

/// True: `text` is one JSON object in valid UTF-8, nested at most 512 levels, with nothing but
/// white space around it. Makes no tree.
bool is_json_object(std::string_view text);

/// Appends `text`, which is valid JSON, without the white space between its parts.
void append_compact_json(std::string_view text, std::string& out);

}  // namespace zerohop
