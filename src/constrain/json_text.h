// Pieces of JSON text for code that may not hold a JSON library: quoting and reading strings, and
// the members of an object as they stand.
//
// Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zerohop {

/// Appends `text` with everything escaped that a JSON string cannot hold as it is; without quotes.
/// Bytes from 0x80 on are copied, so a text may be given in parts that cut characters.
void append_json_escaped(std::string& json, std::string_view text);

/// `text` as a JSON string, in quotes.
std::string json_quoted(std::string_view text);

/// The text that the JSON string `json` stands for. `json` begins with its quote. Its end may be
/// missing, and half an escape there is left out; otherwise it is valid.
std::string json_unquoted(std::string_view json);

struct JsonMember {
  std::string key;
  std::string_view value;  ///< its JSON, a part of the object's text
};

/// The members of `object`, in order; nothing when it is no JSON object.
std::optional<std::vector<JsonMember>> json_members(std::string_view object);

/// `text` is one JSON value, with white space around it perhaps.
bool is_json(std::string_view text);

}  // namespace zerohop
