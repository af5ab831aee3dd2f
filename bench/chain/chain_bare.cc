// libllama with nothing around it: the ceiling of `./dev bench chain`. Prints one JSON object.
//
//   zh_chain_bare --model FILE --threads N --prompt TOKENS --answer TOKENS --long TOKENS
//
// single  seconds of a prompt of --prompt tokens and an answer of --answer, alone
// long    seconds of a prompt of --long tokens
// rates   tokens a second of 1, 8 and 16 streams
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "bare_loop.h"
#include "base/check.h"
#include "model/llama_model.h"
#include "program_words.h"

namespace zerohop::bench {
namespace {

constexpr std::uint32_t kSequences = 16;
constexpr std::uint32_t kCells = 16384;
constexpr std::uint32_t kWindow = 2048;
constexpr int kRepetitions = 3;
constexpr int kSteps = 48;
constexpr int kStreamPrompt = 40;

std::vector<Token> prompt_of(int tokens, Token first) {
  std::vector<Token> prompt(static_cast<std::size_t>(tokens));
  for (std::size_t i = 0; i < prompt.size(); ++i) prompt[i] = first + static_cast<Token>(i % 400);
  return prompt;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double stream_rate(BareLoop& bare, int streams) {
  std::vector<std::vector<Token>> prompts;
  for (int i = 0; i < streams; ++i) prompts.push_back(prompt_of(kStreamPrompt, 100 + i));
  return bare.decode_rate(prompts, kSteps);
}

double prompt_seconds(BareLoop& bare, int tokens) {
  // One token stays, so that the repetitions compute the same rows.
  return median(bare.tail_seconds(prompt_of(tokens + 1, 500), tokens, kRepetitions));
}

int run(const ProgramWords& words) {
  const Programs programs = words.programs();
  // Also loads the library's back ends.
  const auto model = load_llama_model({.path = programs.model});
  ZH_CHECK(model.ok());
  ContextOptions options;
  options.sequences = options.logit_rows = kSequences;
  options.window = kWindow;
  options.cells = kCells;
  options.threads = static_cast<std::uint32_t>(programs.threads);
  BareLoop bare(programs.model, options);
  const int answer = words.number("answer", 32);
  stream_rate(bare, 1);  // warms up
  const double one = stream_rate(bare, 1);
  const double single = prompt_seconds(bare, words.number("prompt", 40)) + (answer - 1) / one;
  std::printf(R"({"single":%.6f,"long":%.6f,"rates":{"1":%.3f,"8":%.3f,"16":%.3f}})"
              "\n",
              single, prompt_seconds(bare, words.number("long", 1500)), one, stream_rate(bare, 8),
              stream_rate(bare, 16));
  return 0;
}

}  // namespace
}  // namespace zerohop::bench

int main(int argc, char** argv) {
  return zerohop::bench::run(zerohop::bench::ProgramWords(argc, argv));
}
