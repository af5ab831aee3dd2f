// One value of a JSON tree together with its place, such as `messages[2].content[0].type`.
//
// Every complaint about a field is made here, so that all have one form: the field is the path, the
// message is `must be …, got …` (docs/STYLE.md, rule 7: parse into a type that cannot be wrong).
// A place is three words; its path is only put together when there is something to complain about.
//
//   ZH_ASSIGN_OR_RETURN(const std::string_view text, place.string());
//   if (const auto top_k = body.find("top_k")) …          // absent and null are the same
//
// A place refers to its parent: a parent must be a named variable that outlives the child (the
// overloads for temporaries are deleted). Internal to api/; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/json_numbers.h"
#include "api/json_reader.h"
#include "core/error.h"

namespace zerohop {

/// Bounds that belong to the range.
struct IntegerRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
};
struct NumberRange {
  double low = 0;
  double high = 0;
};

class JsonPlace {
 public:
  /// The whole body; its path is empty.
  explicit JsonPlace(const boost::json::value& root) : value_(&root) {}

  const boost::json::value& value() const { return *value_; }
  bool is_string() const { return if_text(*value_) != nullptr; }
  bool is_array() const { return value_->is_array(); }

  /// The member `key` (a literal: the place keeps the view); nothing when this is no object, has no
  /// such member, or the member is null.
  std::optional<JsonPlace> find(std::string_view key) const&;
  std::optional<JsonPlace> find(std::string_view key) const&& = delete;
  /// As find(), but absence is the error `KEY: is required`.
  Result<JsonPlace> require(std::string_view key) const&;
  Result<JsonPlace> require(std::string_view key) const&& = delete;
  /// A member that the caller found by going through this object itself; keeps the view of `key`.
  JsonPlace member(std::string_view key, const boost::json::value& value) const& {
    return JsonPlace(value, *this, key, 0);
  }
  JsonPlace member(std::string_view key, const boost::json::value& value) const&& = delete;
  /// Element `index` of this array; index < size.
  JsonPlace element(std::size_t index) const&;
  JsonPlace element(std::size_t index) const&& = delete;

  /// The member `key` when it is a string, else empty: for members that only inform.
  std::string_view text_or_empty(std::string_view key) const;
  /// The number of elements of an array; 0 of anything else.
  std::size_t elements() const;

  Result<void> expect_object() const;
  /// The number of elements; an error when this is no array or has more than `most`.
  Result<std::size_t> array_size(std::size_t most) const;
  /// Lives as long as the document.
  Result<std::string_view> string() const;
  Result<bool> boolean() const;
  /// Whole numbers in any spelling: 1, 1.0 and 1e0 are the same.
  Result<std::int64_t> integer(IntegerRange range) const;
  /// Finite.
  Result<double> number(NumberRange range) const;

  std::string path() const;
  /// kInvalidRequest at this place. For the whole body, which has no path, the message says so.
  Error error(std::string message) const;
  /// `must be WANTED, got VALUE`, the value cut to a short length.
  Error expected(std::string_view wanted) const;

 private:
  JsonPlace(const boost::json::value& value, const JsonPlace& parent, std::string_view key,
            std::size_t index)
      : value_(&value), parent_(&parent), key_(key), index_(index) {}

  const boost::json::value* value_;
  const JsonPlace* parent_ = nullptr;
  std::string_view key_;  // empty: an element of an array
  std::size_t index_ = 0;
};

}  // namespace zerohop
