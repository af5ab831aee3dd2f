// Fuzz target: any bytes. What is found lies inside the text, in order and apart; in the redacted
// text nothing is found, and redacting it again changes nothing. Seeds: tests/corpus/pii/.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "policy/pii.h"
#include "policy/redact.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerohop;
  const std::string copy(data, data + size);
  const std::string_view text(copy);
  std::size_t end = 0;
  for (const PiiSpan& span : find_pii(text)) {
    ZH_CHECK(span.begin >= end);
    ZH_CHECK(span.begin < span.end);
    ZH_CHECK(span.end <= text.size());
    end = span.end;
  }
  const std::string redacted = redact_pii(std::string(text));
  ZH_CHECK(find_pii(redacted).empty());
  ZH_CHECK(redact_pii(redacted) == redacted);
  const std::string field = redact_field(text, 40);
  ZH_CHECK(find_pii(field).empty());
  return 0;
}
