#include "constrain/soft_cap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zerohop {
namespace {

using Stops = std::vector<std::string>;

// What a reader sees of `text` in pieces of `piece` bytes, with the cap reached after `before`
// bytes: the text, and what ended it.
struct Shown {
  std::string text;
  std::string ended_by;
  std::size_t most_held = 0;  // of the pieces in front of the cap

  friend bool operator==(const Shown& a, const Shown& b) {
    return a.text == b.text && a.ended_by == b.ended_by;
  }
  friend std::ostream& operator<<(std::ostream& out, const Shown& shown) {
    return out << "\"" << shown.text << "\" [" << shown.ended_by << "]";
  }
};

struct Case {
  Stops hard = {};
  SoftCap cap = {};
  std::string before;
  std::string after;
};

Shown read(const Case& one, std::size_t piece) {
  const auto soft = SoftCapStops::compile(one.hard, one.cap);
  StopMatcher matcher(StopAutomaton::compile(one.hard));
  Shown shown;
  const auto feed = [&](const std::string& text, bool capped) {
    for (std::size_t at = 0; at < text.size(); at += piece) {
      const auto match = matcher.feed(std::string_view(text).substr(at, piece), shown.text);
      if (!capped) shown.most_held = std::max(shown.most_held, matcher.held().size());
      if (!match) continue;
      shown.ended_by = capped ? soft->reported(*match) : one.hard[*match];
      return false;
    }
    return true;
  };
  if (!feed(one.before, false)) return shown;
  matcher.change_over(soft);
  if (feed(one.after, true)) matcher.flush(shown.text);
  return shown;
}

// Token borders may lie anywhere.
void expect(const Case& one, const std::string& text, const std::string& ended_by) {
  for (std::size_t piece = 1; piece <= 7; ++piece) {
    EXPECT_EQ(read(one, piece), (Shown{text, ended_by, 0})) << "pieces of " << piece;
  }
}

TEST(SoftCap, EndsTheAnswerWithASentence) {
  expect({{}, {}, "One. Two", " and three. Four"}, "One. Two and three.", ".");
  expect({{}, {}, "", "He said \"no!\" and left. Then"}, "He said \"no!\"", "!\"");
  expect({{}, {}, "", "Really?\nYes"}, "Really?", "?");
  expect({{}, {}, "", "Well… so"}, "Well…", "…");
  expect({{}, {}, "", "你好。再见。"}, "你好。", "。");
  expect({{}, {}, "", "a list\n\nand more"}, "a list", "\n\n");
}

TEST(SoftCap, DoesNotTakeEveryDotForAnEnd) {
  expect({{}, {}, "", "pi is 3.14 or so, e.g. 3.1. Next"}, "pi is 3.14 or so, e.g. 3.1.", ".");
  expect({{}, {}, "", "with Dr. No and www.example.org! Next"}, "with Dr. No and www.example.org!",
         "!");
  expect({{}, {}, "", "no end here."}, "no end here.", "");
}

TEST(SoftCap, ArmsFurtherStopsThatAreNotShown) {
  const SoftCap cap{0.5, {"##", "END"}, false};
  expect({{}, cap, "a ## b", " c ## d"}, "a ## b c ", "##");
  expect({{}, cap, "", "One. Two END"}, "One. Two ", "END");
}

TEST(SoftCap, KeepsTheStopSequencesOfTheRequestFirst) {
  const SoftCap cap{0.5, {"ab"}, true};
  expect({{"b"}, cap, "", "xaby"}, "xa", "b");
  expect({{"STOP"}, cap, "a ST", "OP b"}, "a ", "STOP");
  expect({{". "}, cap, "", "One. Two"}, "One", ". ");
  expect({{"STOP"}, cap, "a STOP", ""}, "a ", "STOP");
}

TEST(SoftCap, DoesNotTakeBackWhatWasShownBeforeTheCap) {
  expect({{}, SoftCap{0.5, {"END"}, false}, "a EN", "D b END"}, "a END b ", "END");
  expect({{}, {}, "One.", " Two. Three"}, "One. Two.", ".");
}

TEST(SoftCap, HoldsNothingBackBeforeTheCap) {
  const Case one{{}, SoftCap{0.5, {"END"}, true}, "One. EN. Two. EN", ""};
  for (std::size_t piece = 1; piece <= 4; ++piece) EXPECT_EQ(read(one, piece).most_held, 0u);
}

}  // namespace
}  // namespace zerohop
