// Fuzz target: any bytes as a line of a file of cases. It is a case, or an error with a message;
// what is read has an id. Seeds: tests/corpus/constrain_cases/.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "app/constrain_cases.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerohop;
  const CaseLine line{{reinterpret_cast<const char*>(data), size}, 7};
  const std::optional<ConstraintText> otherwise =
      ConstraintText{ConstraintText::Language::kRegex, "a*"};
  for (const bool beside : {false, true}) {
    const auto parsed = parse_case(line, beside ? otherwise : std::nullopt);
    if (parsed.ok()) {
      ZH_CHECK(parsed->id == case_id(line));
    } else {
      ZH_CHECK(!parsed.error().message.empty());
      ZH_CHECK(parsed.error().code == ErrorCode::kInvalidRequest);
    }
  }
  return 0;
}
