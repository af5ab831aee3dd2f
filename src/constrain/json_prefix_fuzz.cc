// Fuzz target: whatever was taken and its closing are one valid value, and reader and oracle agree
// on what is one (below the reader's limit of nesting, which no shorter text can pass).
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "constrain/json_oracle.h"
#include "constrain/json_prefix.h"
#include "constrain/json_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerohop;
  if (size == 0) return 0;
  std::string text(size - 1, '\0');
  for (std::size_t i = 1; i < size; ++i) text[i - 1] = static_cast<char>(data[i]);
  const bool object = data[0] % 2 == 1;
  JsonPrefix reader({.root = object ? JsonRoot::kObject : JsonRoot::kAny});
  const std::size_t taken = reader.feed(text);
  const std::string whole = text.substr(0, taken) + reader.closing();
  ZH_CHECK(object ? JsonOracle::accepts_object(whole) : JsonOracle::accepts(whole));

  if (text.size() < 512) ZH_CHECK(is_json(text) == JsonOracle::accepts(text));
  ZH_CHECK(json_unquoted(json_quoted(text)) == text);
  if (const auto members = json_members(text)) {
    for (const JsonMember& member : *members) ZH_CHECK(JsonOracle::accepts(member.value));
  }
  return 0;
}
