// A JSON text as it was written: keys in their order, numbers with all their digits. For schemas,
// whose numbers must not go through a double and whose key order is the order of generation.
//
// Strict RFC 8259; depth and size are bounded; duplicate keys are an error (a schema that says two
// things means neither). Immutable; any thread.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace zerohop {

class JsonNode {
 public:
  enum class Type : std::uint8_t { kNull, kFalse, kTrue, kNumber, kString, kArray, kObject };

  Type type = Type::kNull;
  std::string text;                                       ///< number as written; string decoded
  std::vector<JsonNode> items;                            ///< of an array
  std::vector<std::pair<std::string, JsonNode>> members;  ///< of an object; names decoded

  bool is(Type wanted) const { return type == wanted; }
  /// The member of that name, or nullptr.
  const JsonNode* find(std::string_view name) const;
  /// Equal as JSON values: 1 = 1.0 = 1e0, members in any order.
  friend bool json_equal(const JsonNode& a, const JsonNode& b);
};

struct JsonLimits {
  std::size_t bytes_max = 4 << 20;
  std::size_t depth_max = 128;
  std::size_t nodes_max = 500'000;
};

/// The error names the byte offset.
Result<JsonNode> parse_json_node(std::string_view text, const JsonLimits& limits = {});

/// Compact JSON text; strings with the escapes that are needed, numbers as they were written.
std::string to_json_text(const JsonNode& node);

/// A JSON number's exact value: sign × digits × 10^exponent, no leading or trailing zeros in
/// `digits`; zero has none.
struct Decimal {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;  ///< |exponent| ≤ 10^9; texts beyond are an error

  /// Of the point, counted from the front of `digits`: the value is 0.digits × 10^place.
  std::int64_t place() const { return exponent + static_cast<std::int64_t>(digits.size()); }

  /// By value: -1, 0 or 1.
  friend int compare(const Decimal& a, const Decimal& b);
  friend bool operator==(const Decimal&, const Decimal&) = default;
  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) {
    return compare(a, b) <=> 0;
  }
};
Result<Decimal> parse_decimal(std::string_view number);
/// The value of a whole number of at most 18 digits; nothing for any other.
std::optional<std::int64_t> small_integer(const Decimal& value);
std::string to_text(const Decimal& value);  ///< plain digits where short, else with an exponent

}  // namespace zerohop
