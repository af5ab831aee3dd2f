#include "api/json_place.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "api/json_writer.h"
#include "base/utf8.h"

namespace zerohop {
namespace {

// Every integer up to here has its own double; above, 1e300 "is whole" only by rounding.
constexpr double kExactIntegerMax = 9007199254740992.0;

std::string number_text(double number) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return std::string(digits.data(), end);
}

constexpr std::size_t kShownBytes = 40;

std::string quoted_start(std::string_view text) {
  std::string shown(text.substr(0, kShownBytes));
  if (text.size() > kShownBytes) {
    shown.resize(shown.size() - utf8_incomplete_suffix(shown));
    shown.append("…");
  }
  std::string quoted;
  append_json_string(shown, quoted);
  return quoted;
}

std::string digits_start(std::string_view digits) {
  std::string shown(digits.substr(0, kShownBytes));
  return digits.size() > kShownBytes ? shown.append("…") : shown;
}

std::string describe(const boost::json::value& value) {
  if (const auto digits = if_exact_number(value)) return digits_start(*digits);
  switch (value.kind()) {
    case boost::json::kind::null: return "null";
    case boost::json::kind::bool_: return value.get_bool() ? "true" : "false";
    case boost::json::kind::int64: return std::to_string(value.get_int64());
    case boost::json::kind::uint64: return std::to_string(value.get_uint64());
    case boost::json::kind::double_:
      return std::isfinite(value.get_double()) ? number_text(value.get_double())
                                               : "a number too large to hold";
    case boost::json::kind::string: return quoted_start(value.get_string());
    case boost::json::kind::array: return "an array";
    case boost::json::kind::object: return "an object";
  }
  return "something else";
}

std::optional<std::int64_t> whole_number(const boost::json::value& value) {
  if (const auto* integer = value.if_int64()) return *integer;
  // An uint64 is above every range asked for; an exact number is no integer of 64 bits.
  const double* number = value.if_double();
  if (number == nullptr || !(std::fabs(*number) <= kExactIntegerMax)) return std::nullopt;
  if (std::trunc(*number) != *number) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

}  // namespace

std::optional<JsonPlace> JsonPlace::find(std::string_view key) const& {
  const auto* object = value_->if_object();
  if (object == nullptr) return std::nullopt;
  const auto* member = object->if_contains(key);
  if (member == nullptr || member->is_null()) return std::nullopt;
  return JsonPlace(*member, *this, key, 0);
}

Result<JsonPlace> JsonPlace::require(std::string_view key) const& {
  if (const auto found = find(key)) return *found;
  return JsonPlace(*value_, *this, key, 0).error("is required");
}

JsonPlace JsonPlace::element(std::size_t index) const& {
  return JsonPlace(value_->get_array()[index], *this, {}, index);
}

std::string_view JsonPlace::text_or_empty(std::string_view key) const {
  const auto place = find(key);
  const auto* text = place ? if_text(*place->value_) : nullptr;
  return text == nullptr ? std::string_view() : std::string_view(text->data(), text->size());
}

std::size_t JsonPlace::elements() const {
  const auto* array = value_->if_array();
  return array == nullptr ? 0 : array->size();
}

Result<void> JsonPlace::expect_object() const {
  if (!value_->is_object()) return expected("an object");
  return {};
}

Result<std::size_t> JsonPlace::array_size(std::size_t most) const {
  const auto* array = value_->if_array();
  if (array == nullptr) return expected("an array");
  if (array->size() > most) {
    return error("must have at most " + std::to_string(most) + " entries, got " +
                 std::to_string(array->size()));
  }
  return array->size();
}

Result<std::string_view> JsonPlace::string() const {
  const auto* text = if_text(*value_);
  if (text == nullptr) return expected("a string");
  return std::string_view(text->data(), text->size());
}

Result<bool> JsonPlace::boolean() const {
  const bool* value = value_->if_bool();
  if (value == nullptr) return expected("true or false");
  return *value;
}

Result<std::int64_t> JsonPlace::integer(IntegerRange range) const {
  const auto number = whole_number(*value_);
  if (!number || *number < range.low || *number > range.high) {
    return expected("an integer from " + std::to_string(range.low) + " to " +
                    std::to_string(range.high));
  }
  return *number;
}

Result<double> JsonPlace::number(NumberRange range) const {
  double number = std::nan("");
  if (const double* real = value_->if_double()) number = *real;
  if (const auto* integer = value_->if_int64()) number = static_cast<double>(*integer);
  if (const auto* natural = value_->if_uint64()) number = static_cast<double>(*natural);
  if (const auto digits = if_exact_number(*value_)) {
    number = std::strtod(std::string(*digits).c_str(), nullptr);
  }
  if (!(number >= range.low && number <= range.high)) {
    return expected("a number from " + number_text(range.low) + " to " + number_text(range.high));
  }
  return number;
}

std::string JsonPlace::path() const {
  if (parent_ == nullptr) return {};
  std::string path = parent_->path();
  if (key_.empty()) return path + "[" + std::to_string(index_) + "]";
  if (!path.empty()) path.push_back('.');
  return path.append(key_);
}

Error JsonPlace::error(std::string message) const {
  if (parent_ == nullptr) return invalid_request({}, "the request body " + std::move(message));
  return invalid_request(path(), std::move(message));
}

Error JsonPlace::expected(std::string_view wanted) const {
  return error("must be " + std::string(wanted) + ", got " + describe(*value_));
}

}  // namespace zerohop
