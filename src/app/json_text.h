// A text inside a JSON object, for what was not checked against a schema: the server's own files
// and replies. Pure; any thread.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <optional>
#include <string_view>
#include <utility>

namespace zerohop {

/// The text under `key`; empty where there is none or something else.
inline std::string_view text_at(const boost::json::object& object, std::string_view key) {
  const boost::json::value* value = object.if_contains(key);
  const boost::json::string* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string_view() : std::string_view(text->data(), text->size());
}

/// The number under `key`; 0 where there is none or something else.
inline double number_at(const boost::json::object& object, std::string_view key) {
  const boost::json::value* value = object.if_contains(key);
  return value != nullptr && value->is_number() ? value->to_number<double>() : 0;
}

/// The array under `key`; null where there is none or something else.
inline const boost::json::array* array_at(const boost::json::object& object, std::string_view key) {
  const boost::json::value* value = object.if_contains(key);
  return value == nullptr ? nullptr : value->if_array();
}

/// `text` as an object; nothing where it is none.
inline std::optional<boost::json::object> object_in(std::string_view text) {
  boost::system::error_code fault;
  boost::json::value value = boost::json::parse(text, fault);
  if (fault || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

}  // namespace zerohop
