// Fuzz target: any bytes, read as a completions request, lenient and strict. Whatever they are, the
// outcome is a request that keeps every promise of its type, or an error that a client can read.
// Seeds: tests/corpus/openai_completions/.
#include <cstddef>
#include <cstdint>
#include <string>

#include "api/openai_completions_request.h"
#include "api/openai_fuzz_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerohop;
  const std::string body(data, data + size);
  for (const Strictness strictness : {Strictness::kLenient, Strictness::kStrict}) {
    const ParseOptions options{.strictness = strictness};
    const auto parsed = parse_completions_request(body, options);
    if (!parsed.ok()) {
      openai_fuzz::check_error(parsed.error());
      continue;
    }
    openai_fuzz::check_model(parsed->model);
    openai_fuzz::check_prompts(parsed->prompts);
    openai_fuzz::check_generation(parsed->generation);
    check_output_rules(parsed->output);
    ZH_CHECK(parsed->choices() >= 1);
  }
  return 0;
}
