// Fuzz target: the matcher against the oracle. The input is cut at byte 0xff: pieces that start
// with 'S' are stop sequences, the others are the chunks of the text.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "constrain/stop_automaton.h"
#include "constrain/stop_automaton_oracle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerohop;
  std::vector<std::string> stops;
  std::vector<std::string> chunks;
  std::string piece;
  for (std::size_t i = 0; i <= size; ++i) {
    if (i < size && data[i] != 0xff) {
      piece.push_back(static_cast<char>(data[i]));
      continue;
    }
    if (piece.size() > 1 && piece[0] == 'S') {
      stops.push_back(piece.substr(1));
    } else {
      chunks.push_back(piece);
    }
    piece.clear();
  }

  StopMatcher matcher(StopAutomaton::compile(stops));
  std::string text;
  std::string shown;
  for (const std::string& chunk : chunks) {
    text += chunk;
    const auto match = matcher.feed(chunk, shown);
    const StopOracle expected = naive_stop(stops, text);
    ZH_CHECK(match == expected.match);
    ZH_CHECK(shown == text.substr(0, expected.shown));
    if (match) return 0;
    ZH_CHECK(shown + std::string(matcher.held()) == text);
  }
  matcher.flush(shown);
  ZH_CHECK(shown == text);
  return 0;
}
