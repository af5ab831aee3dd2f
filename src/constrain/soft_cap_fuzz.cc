// Fuzz target: the matcher with a soft cap. The input is cut at byte 0xff: pieces that start with
// 'S' are stop sequences, with 'T' those of the cap; a piece "C" is where the cap is reached, and
// the others are the chunks of the text. However the text is cut, the same is shown.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "constrain/soft_cap.h"

namespace {

using namespace zerohop;

struct Input {
  std::vector<std::string> hard;
  SoftCap cap;
  std::vector<std::string> before;  // chunks
  std::vector<std::string> after;
};

Input read_input(const std::uint8_t* data, std::size_t size) {
  Input input;
  bool reached = false;
  std::string piece;
  for (std::size_t i = 0; i <= size; ++i) {
    if (i < size && data[i] != 0xff) {
      piece.push_back(static_cast<char>(data[i]));
      continue;
    }
    if (piece == "C") {
      reached = true;
    } else if (piece.size() > 1 && piece[0] == 'S') {
      input.hard.push_back(piece.substr(1));
    } else if (piece.size() > 1 && piece[0] == 'T') {
      input.cap.stops.push_back(piece.substr(1));
    } else {
      (reached ? input.after : input.before).push_back(piece);
    }
    piece.clear();
  }
  return input;
}

struct Outcome {
  std::string shown;
  std::optional<std::size_t> match;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

std::vector<std::string> bytes_of(const std::vector<std::string>& chunks) {
  std::vector<std::string> bytes;
  for (const std::string& chunk : chunks) {
    for (const char byte : chunk) bytes.emplace_back(1, byte);
  }
  return bytes;
}

Outcome run(const Input& input) {
  const auto soft = SoftCapStops::compile(input.hard, input.cap);
  StopMatcher matcher(StopAutomaton::compile(input.hard));
  Outcome outcome;
  std::string text;
  const auto feed = [&](const std::vector<std::string>& chunks) {
    for (const std::string& chunk : chunks) {
      text += chunk;
      outcome.match = matcher.feed(chunk, outcome.shown);
      ZH_CHECK(text.starts_with(outcome.shown));
      if (outcome.match) return false;
      ZH_CHECK(outcome.shown + std::string(matcher.held()) == text);
    }
    return true;
  };
  if (!feed(input.before)) return outcome;
  matcher.change_over(soft);
  if (!feed(input.after)) {
    ZH_CHECK(soft->ends(*outcome.match));
    ZH_CHECK(!soft->reported(*outcome.match).empty());
    return outcome;
  }
  matcher.flush(outcome.shown);
  ZH_CHECK(outcome.shown == text);
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input = read_input(data, size);
  const Outcome chunks = run(input);
  input.before = bytes_of(input.before);
  input.after = bytes_of(input.after);
  ZH_CHECK(chunks == run(input));
  return 0;
}
