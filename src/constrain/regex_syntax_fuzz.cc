// Fuzz target: any bytes as a pattern. It ends within the budgets; the shortest text that it finds
// is in its automaton, and what it matches as a whole it also finds.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "constrain/content_automaton.h"
#include "constrain/regex_syntax.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerohop;
  std::string pattern;
  for (std::size_t i = 0; i < size; ++i) pattern.push_back(static_cast<char>(data[i]));
  RegexPool pool(20'000);
  const ContentAutomaton::Budget budget{.states_max = 2'000};
  const auto search = parse_ecma_pattern(pool, pattern);
  const auto whole = parse_whole_pattern(pool, pattern);
  if (!search.ok()) {
    ZH_CHECK(!search.error().message.empty());
    return 0;
  }
  const auto found = ContentAutomaton::make(pool, *search, {.min = 2, .max = 5'000}, budget);
  if (found.ok() && !(*found)->empty()) {
    const ContentAutomaton& automaton = **found;
    const std::u32string word = automaton.shortest_end(automaton.start(), 0);
    ZH_CHECK(word.size() >= 2 && word.size() <= 5'000);
    ZH_CHECK(automaton.contains(word));
    ZH_CHECK(automaton.count_words(automaton.start(), 0, 2) >= 1);
  }
  if (!whole.ok()) return 0;
  const auto matched = ContentAutomaton::make(pool, *whole, {}, budget);
  const auto unbounded = ContentAutomaton::make(pool, *search, {}, budget);
  if (!matched.ok() || !unbounded.ok() || (*matched)->empty()) return 0;
  ZH_CHECK((*unbounded)->contains((*matched)->shortest_end((*matched)->start(), 0)));
  return 0;
}
