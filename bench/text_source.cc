#include "text_source.h"

#include <array>
#include <string_view>

namespace zerohop::bench {
namespace {

constexpr auto kWords = std::to_array<std::string_view>(
    {"the",     "water",  "between", "both",   "people", "house",  "when",    "a",      "machine",
     "reports", "its",    "state",   "to",     "light",  "river",  "number",  "of",     "letter",
     "money",   "within", "three",   "days",   "unless", "field",  "system",  "music",  "history",
     "every",   "second", "and",     "nobody", "north",  "market", "garden",  "school", "paper",
     "small",   "green",  "often",   "before", "under",  "city",   "world",   "story",  "answer",
     "window",  "road",   "never",   "always", "table",  "with",   "morning", "good",   "long"});

}  // namespace

std::string TextSource::text(int tokens) {
  std::string out;
  int words = 0;
  for (int i = 0; i < tokens; ++i) {
    if (words == 12) {
      out += '.';
      words = 0;
      continue;
    }
    if (!out.empty()) out += ' ';
    out += kWords[random_.below(kWords.size())];
    ++words;
  }
  return out;
}

}  // namespace zerohop::bench
