// Fuzz target: any bytes, read as an embeddings request, lenient and strict. Whatever they are, the
// outcome is a request that keeps every promise of its type, or an error that a client can read.
// Seeds: tests/corpus/openai_embeddings/.
#include <cstddef>
#include <cstdint>
#include <string>

#include "api/openai_embeddings.h"
#include "api/openai_fuzz_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerohop;
  const std::string body(data, data + size);
  for (const Strictness strictness : {Strictness::kLenient, Strictness::kStrict}) {
    const ParseOptions options{.strictness = strictness};
    const auto parsed = parse_embeddings_request(body, options);
    if (!parsed.ok()) {
      openai_fuzz::check_error(parsed.error());
      continue;
    }
    openai_fuzz::check_model(parsed->model);
    openai_fuzz::check_prompts(parsed->inputs);
    if (parsed->dimensions) ZH_CHECK(*parsed->dimensions > 0);
  }
  return 0;
}
