// Header fields of a message: an ordered list with case-insensitive names (RFC 9110, section 5.1).
//
// A list and not a map, because real requests carry 10 to 20 fields, a scan over them is faster
// than hashing, and fields may repeat (`anthropic-beta` does). Plain values; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zerohop {

struct HeaderField {
  std::string name;
  std::string value;
};

/// Of ASCII letters; other bytes stay.
constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// ASCII letters compare without case; other bytes as they are.
bool equals_ignoring_case(std::string_view left, std::string_view right);

/// A token of RFC 9110, section 5.6.2: what a method or a header name may consist of; not empty.
bool is_http_token(std::string_view text);

/// Whether a comma-separated list such as the value of `Connection` or `Expect` holds `token`.
bool list_has_token(std::string_view list, std::string_view token);

class Headers {
 public:
  using const_iterator = std::vector<HeaderField>::const_iterator;

  void add(std::string name, std::string value);

  /// Value of the first field of that name. The view lives as long as this list is not changed.
  std::optional<std::string_view> find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name).has_value(); }
  /// Values of all fields of that name, in order of arrival. Views as above.
  std::vector<std::string_view> all(std::string_view name) const;
  std::size_t count(std::string_view name) const;

  /// Overwrites the values of that name with zeros, so that a secret is not left in freed memory.
  void wipe(std::string_view name);

  const_iterator begin() const { return fields_.begin(); }
  const_iterator end() const { return fields_.end(); }
  std::size_t size() const { return fields_.size(); }
  bool empty() const { return fields_.empty(); }
  void reserve(std::size_t count) { fields_.reserve(count); }

 private:
  std::vector<HeaderField> fields_;
};

}  // namespace zerohop
