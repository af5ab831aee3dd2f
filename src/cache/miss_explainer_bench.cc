// What the explanation of a prompt costs with a full memory.
#include <benchmark/benchmark.h>

#include <vector>

#include "base/random.h"
#include "cache/miss_explainer.h"

namespace zerohop {
namespace {

// 256 conversations of `tokens` tokens; the first half is the same system prompt.
void explain_under_one_system_prompt(benchmark::State& state) {
  const auto tokens = static_cast<std::size_t>(state.range(0));
  Random random(1);
  std::vector<std::vector<Token>> prompts(512, std::vector<Token>(tokens, 7));
  for (auto& prompt : prompts) {
    for (std::size_t i = tokens / 2; i < tokens; ++i) {
      prompt[i] = static_cast<Token>(random.below(49'152));
    }
  }
  MissExplainer explainer;
  std::size_t next = 0;
  const auto ask = [&] {
    SeenPrompt prompt{prompts[next++ % prompts.size()], {}, ScopeId{1}, 0};
    prompt.sections.system_end = static_cast<std::uint32_t>(tokens / 2);
    return explainer.explain(prompt, static_cast<std::int32_t>(tokens / 2), CacheCap::kCells);
  };
  for (int i = 0; i < 300; ++i) ask();
  for (auto _ : state) benchmark::DoNotOptimize(ask());
}
BENCHMARK(explain_under_one_system_prompt)->Arg(500)->Arg(2'000)->Arg(4'000);

}  // namespace
}  // namespace zerohop
