// A text inside a JSON object, for what was not checked against a schema: the server's own files
// and replies. Pure; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <string_view>

namespace zerohop {

/// The text under `key`; empty where there is none or something else.
inline std::string_view text_at(const boost::json::object& object, std::string_view key) {
  const boost::json::value* value = object.if_contains(key);
  const boost::json::string* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string_view() : std::string_view(text->data(), text->size());
}

}  // namespace zerohop
