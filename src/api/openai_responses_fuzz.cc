// Fuzz target: any bytes, read as a responses request, lenient and strict. Whatever they are, the
// outcome is a request that keeps every promise of its type, or an error that a client can read.
// Seeds: tests/corpus/openai_responses/.
#include <cstddef>
#include <cstdint>
#include <string>

#include "api/openai_fuzz_checks.h"
#include "api/openai_responses_request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerohop;
  const std::string body(data, data + size);
  for (const Strictness strictness : {Strictness::kLenient, Strictness::kStrict}) {
    const ParseOptions options{.strictness = strictness};
    const auto parsed = parse_responses_request(body, options);
    if (!parsed.ok()) {
      openai_fuzz::check_error(parsed.error());
      continue;
    }
    openai_fuzz::check_chat(parsed->chat);
    openai_fuzz::check_object("{" + parsed->echo + "}");
  }
  return 0;
}
