// Fuzz target: any bytes. A text that is read is JSON by the oracle's word, and what is written
// from it reads as the same value; a text that is refused was no JSON, or had a repeated name, half
// a surrogate pair or an exponent out of reach. Seeds: tests/corpus/schema_document/.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/utf8.h"
#include "constrain/json_oracle.h"
#include "constrain/schema_document.h"

namespace zerohop {
namespace {

void check_numbers(const JsonNode& node) {
  if (node.is(JsonNode::Type::kNumber)) {
    const auto value = parse_decimal(node.text);
    ZH_CHECK(value.ok());
    const auto again = parse_decimal(to_text(*value));
    ZH_CHECK(again.ok() && *again == *value && compare(*again, *value) == 0);
  }
  for (const JsonNode& item : node.items) check_numbers(item);
  for (const auto& [name, value] : node.members) check_numbers(value);
}

void check_text(const std::string& text) {
  constexpr std::size_t kDepthMax = 64;
  const auto parsed = parse_json_node(text, {.bytes_max = 1 << 16, .depth_max = kDepthMax});
  if (!parsed.ok()) {
    ZH_CHECK(!parsed.error().message.empty());
    return;
  }
  if (text.find_first_of(" \n\r\t") == std::string::npos) ZH_CHECK(JsonOracle::accepts(text));
  const std::string written = to_json_text(*parsed);
  ZH_CHECK(JsonOracle::accepts(written) && utf8_is_valid(written));
  const auto again = parse_json_node(written);
  ZH_CHECK(again.ok() && json_equal(*again, *parsed));
  ZH_CHECK(to_json_text(*again) == written);
  check_numbers(*parsed);
}

}  // namespace
}  // namespace zerohop

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  zerohop::check_text(std::string(data, data + size));
  return 0;
}
