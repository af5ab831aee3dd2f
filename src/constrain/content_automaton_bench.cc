// What patterns and formats cost: from the text of a pattern to its automaton, a step on a
// character, and a byte of text through the decoder.
#include <benchmark/benchmark.h>

#include <string>

#include "base/utf8.h"
#include "constrain/content_automaton.h"
#include "constrain/content_coding.h"
#include "constrain/regex_syntax.h"
#include "constrain/string_formats.h"

namespace zerohop {
namespace {

std::shared_ptr<ContentAutomaton> of_pattern(std::string_view pattern,
                                             const ContentAutomaton::Length& length = {}) {
  RegexPool pool;
  return *ContentAutomaton::make(pool, *parse_ecma_pattern(pool, pattern), length, {});
}

void compile_pattern(benchmark::State& state, std::string_view pattern) {
  for (auto _ : state) benchmark::DoNotOptimize(of_pattern(pattern, {.max = 100'000}));
}
BENCHMARK_CAPTURE(compile_pattern, word, "^[a-z0-9_-]+$");
BENCHMARK_CAPTURE(compile_pattern, search, "foo|ba[rz]+");
BENCHMARK_CAPTURE(compile_pattern, look_ahead, "^(?=.*\\d)(?=.*[a-z])(?!.*--)[a-z0-9-]{8,64}$");
BENCHMARK_CAPTURE(compile_pattern, letters, "^\\p{L}{1,255}(?:[ '-]\\p{L}+)*$");
BENCHMARK_CAPTURE(compile_pattern, exponential, "^[ab]*a[ab]{13}$");
BENCHMARK_CAPTURE(compile_pattern, long_counter, "^.{0,100000}$");

void compile_format(benchmark::State& state, std::string_view name) {
  for (auto _ : state) {
    RegexPool pool;
    benchmark::DoNotOptimize(ContentAutomaton::make(pool, *format_language(pool, name), {}, {}));
  }
}
BENCHMARK_CAPTURE(compile_format, date_time, "date-time");
BENCHMARK_CAPTURE(compile_format, email, "email");
BENCHMARK_CAPTURE(compile_format, uri, "uri");
BENCHMARK_CAPTURE(compile_format, ipv6, "ipv6");

void compile_names(benchmark::State& state) {
  for (auto _ : state) {
    RegexPool pool;
    std::vector<RegexTerm> names;
    for (int i = 0; i < state.range(0); ++i) {
      names.push_back(pool.text(utf8_decode("property_" + std::to_string(i * 7919))));
    }
    const RegexTerm others = pool.complement(pool.either_of(std::move(names)));
    benchmark::DoNotOptimize(ContentAutomaton::make(pool, others, {}, {}));
  }
}
BENCHMARK(compile_names)->Arg(10)->Arg(1000);

// One character, in time per character.
void step(benchmark::State& state, std::string_view pattern, const std::u32string& text) {
  const auto automaton = of_pattern(pattern);
  for (auto _ : state) {
    std::uint32_t at = automaton->start();
    for (const char32_t letter : text) at = automaton->step(at, letter);
    benchmark::DoNotOptimize(at);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK_CAPTURE(step, ascii, "^[a-z0-9_-]+$", std::u32string(1000, U'x'));
BENCHMARK_CAPTURE(step, any, "", std::u32string(1000, U'x'));
BENCHMARK_CAPTURE(step, letters, "^\\p{L}+$", std::u32string(1000, U'\u00e9'));

void decode(benchmark::State& state, std::string_view pattern, const std::string& text) {
  const auto automaton = of_pattern(pattern, {.max = 100'000});
  ContentDecoder decoder(*automaton, TextCoding::kJsonCanonical);
  for (auto _ : state) {
    ContentPlace place = decoder.start();
    bool alive = true;
    for (const char byte : text) alive &= decoder.step(place, static_cast<unsigned char>(byte));
    benchmark::DoNotOptimize(alive);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK_CAPTURE(decode, ascii, "", std::string(1000, 'x'));
BENCHMARK_CAPTURE(decode, escapes, "", std::string("\\n\\u00e9\xc3\xa9\xe4\xb8\xad"));

}  // namespace
}  // namespace zerohop
