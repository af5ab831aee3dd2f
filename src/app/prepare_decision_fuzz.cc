// Fuzz target: any bytes as the note beside a prepared model. They are refused, or what was read
// comes back from its own text. Seeds: tests/corpus/prepare_decision/.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "app/model_prepare_store.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerohop;
  const auto decision = parse_decision({reinterpret_cast<const char*>(data), size});
  if (!decision) return 0;
  const std::string text = decision_text(*decision);
  const auto again = parse_decision(text);
  ZH_CHECK(again.has_value());
  ZH_CHECK(decision_text(*again) == text);
  return 0;
}
