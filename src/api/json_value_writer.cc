#include "api/json_value_writer.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <charconv>
#include <limits>
#include <string_view>

#include "api/json_numbers.h"
#include "api/json_writer.h"

namespace zerohop {
namespace {

namespace json = boost::json;

template <class Number>
void append_number(Number number, std::string& out) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

void append_real(double number, std::string& out) {
  constexpr double kMost = std::numeric_limits<double>::max();
  append_number(std::clamp(number, -kMost, kMost), out);
}

void append_array(const json::array& array, std::string& out) {
  char separator = '[';
  for (const json::value& element : array) {
    out.push_back(separator);
    append_json_value(element, out);
    separator = ',';
  }
  out.append(array.empty() ? "[]" : "]");
}

void append_object(const json::object& object, std::string& out) {
  char separator = '{';
  for (const auto& member : object) {
    out.push_back(separator);
    append_json_string(std::string_view(member.key().data(), member.key().size()), out);
    out.push_back(':');
    append_json_value(member.value(), out);
    separator = ',';
  }
  out.append(object.empty() ? "{}" : "}");
}

}  // namespace

void append_json_value(const json::value& value, std::string& out) {
  switch (value.kind()) {
    case json::kind::null: out.append("null"); break;
    case json::kind::bool_: out.append(value.get_bool() ? "true" : "false"); break;
    case json::kind::int64: append_number(value.get_int64(), out); break;
    case json::kind::uint64: append_number(value.get_uint64(), out); break;
    case json::kind::double_: append_real(value.get_double(), out); break;
    case json::kind::string: {
      if (const auto digits = if_exact_number(value)) {
        out.append(*digits);
        break;
      }
      const json::string& text = value.get_string();
      append_json_string(std::string_view(text.data(), text.size()), out);
      break;
    }
    case json::kind::array: append_array(value.get_array(), out); break;
    case json::kind::object: append_object(value.get_object(), out); break;
  }
}

std::string json_text(const json::value& value) {
  std::string text;
  append_json_value(value, text);
  return text;
}

}  // namespace zerohop
