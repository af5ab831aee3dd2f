#include "app/output_chain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/random.h"
#include "base/utf8.h"

namespace zerohop {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

struct Output {
  std::vector<std::string> deltas;
  StageVerdict verdict;

  std::string text() const {
    std::string all;
    for (const std::string& delta : deltas) all += delta;
    return all;
  }
};

void take_events(const std::vector<Event>& events, Output& output) {
  EXPECT_LE(events.size(), 1u) << "more than one event for a token";
  for (const Event& event : events) {
    const std::string& text = std::get<TextDelta>(event).text;
    EXPECT_FALSE(text.empty());
    EXPECT_TRUE(utf8_is_valid(text)) << text;
    output.deltas.push_back(text);
  }
}

// Drives a stage like the engine does: token by token, then a flush unless it stopped.
Output drive(OutputStage& stage, const std::vector<std::string>& tokens) {
  Output output;
  for (const std::string& token : tokens) {
    std::vector<Event> events;
    output.verdict = stage.accept(0, token, events);
    take_events(events, output);
    if (output.verdict.end) return output;
  }
  std::vector<Event> events;
  stage.flush(FinishReason::kEndOfTurn, events);
  take_events(events, output);
  return output;
}

Output drive(const std::vector<std::string>& stops, const std::vector<std::string>& tokens) {
  return drive(*make_output_chain(StopRules{StopAutomaton::compile(stops), nullptr, 0}), tokens);
}

std::vector<std::string> bytes_of(std::string_view text) {
  std::vector<std::string> bytes;
  for (const char byte : text) bytes.emplace_back(1, byte);
  return bytes;
}

// `text` cut after every byte whose bit in `cuts` is set.
std::vector<std::string> cut(std::string_view text, std::uint64_t cuts) {
  std::vector<std::string> parts{""};
  for (std::size_t i = 0; i < text.size(); ++i) {
    parts.back().push_back(text[i]);
    if (((cuts >> i) & 1) != 0) parts.emplace_back();
  }
  return parts;
}

TEST(OutputChain, GivesOneDeltaPerToken) {
  EXPECT_EQ(drive({}, {"Hel", "lo", " you"}).deltas,
            (std::vector<std::string>{"Hel", "lo", " you"}));
}

TEST(OutputChain, WorksWithoutAnAutomaton) {
  EXPECT_EQ(drive(*make_output_chain(StopRules{nullptr, nullptr, 0}), {"a", "b"}).text(), "ab");
}

TEST(OutputChain, GivesNoEventForATokenWithoutBytes) {
  EXPECT_EQ(drive({"stop"}, {"a", "", "b"}).deltas, (std::vector<std::string>{"a", "b"}));
}

TEST(OutputChain, NeverSplitsACharacter) {
  // One, two, three and four bytes.
  const std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80!";
  for (std::uint64_t cuts = 0; cuts < (1ull << text.size()); ++cuts) {
    const Output output = drive({}, cut(text, cuts));
    ASSERT_EQ(output.text(), text) << cuts;
  }
}

TEST(OutputChain, ShowsACharacterWithTheTokenThatCompletesIt) {
  EXPECT_EQ(drive({}, {"x\xf0\x9f", "\x98", "\x80y"}).deltas,
            (std::vector<std::string>{"x", "\xf0\x9f\x98\x80y"}));
}

TEST(OutputChain, ReplacesBrokenBytesAlikeHoweverTheyAreCut) {
  // A stray continuation, a cut-off lead before ASCII, an overlong form, a surrogate, an end within
  // a character.
  const std::string text = "\x80z\xe2\x82z\xc0\xaf\xed\xa0\xf0\x9f\x98";
  const std::string expected = utf8_replace_invalid(text);
  for (std::uint64_t cuts = 0; cuts < (1ull << text.size()); ++cuts) {
    ASSERT_EQ(drive({}, cut(text, cuts)).text(), expected) << cuts;
  }
}

TEST(OutputChain, ReplacesRandomBytesLikeTheUncutText) {
  Random random(7);
  // Leads, continuations and borders of the ranges are common here, unlike in random bytes.
  constexpr std::string_view kBytes =
      "a\x80\x8f\x90\x9f\xa0\xbf\xc2\xdf\xe0\xe1\xed\xef\xf0\xf3\xf4\xf5";
  for (int round = 0; round < 5'000; ++round) {
    std::string text;
    const std::uint64_t length = 1 + random.below(20);
    while (text.size() < length) text.push_back(kBytes[random.below(kBytes.size())]);
    const Output output = drive({}, cut(text, random.next()));
    ASSERT_EQ(output.text(), utf8_replace_invalid(text)) << "round " << round;
  }
}

TEST(OutputChain, ReplacesAnIncompleteCharacterAtTheEnd) {
  EXPECT_EQ(drive({}, {"a", "\xe2\x82"}).deltas,
            (std::vector<std::string>{"a", std::string(kReplacement)}));
}

TEST(OutputChain, StopsAtAStopSequenceAcrossTokens) {
  const Output output = drive({"END", "\n\nUser:"}, {"Hi.\n", "\nUs", "er: what?"});
  EXPECT_TRUE(output.verdict.end);
  EXPECT_EQ(output.verdict.stop_sequence, "\n\nUser:");
  EXPECT_EQ(output.text(), "Hi.");
}

TEST(OutputChain, ShowsTheTextInFrontOfAStopInTheSameToken) {
  const Output output = drive({"END"}, {"a", "b END c"});
  EXPECT_EQ(output.deltas, (std::vector<std::string>{"a", "b "}));
  EXPECT_EQ(output.verdict.stop_sequence, "END");
}

TEST(OutputChain, GivesNoEventWhenTheStopIsTheWholeOutput) {
  const Output output = drive({"done"}, {"do", "ne"});
  EXPECT_TRUE(output.deltas.empty());
  EXPECT_TRUE(output.verdict.end);
}

TEST(OutputChain, ShowsHeldTextWhenGenerationEnds) {
  const Output output = drive({"STOP"}, {"a ST", "O"});
  EXPECT_FALSE(output.verdict.end);
  EXPECT_EQ(output.deltas, (std::vector<std::string>{"a ", "STO"}));
}

TEST(OutputChain, FindsAStopInsideCharactersCutAtEveryByte) {
  const std::string stop = "\xe7\xbb\x93\xe6\x9d\x9f";
  const std::string text = "\xc3\xa9\xe7\xbb\x86" + stop + "tail";
  for (std::uint64_t cuts = 0; cuts < (1ull << text.size()); ++cuts) {
    const Output output = drive({stop}, cut(text, cuts));
    ASSERT_EQ(output.text(), "\xc3\xa9\xe7\xbb\x86") << cuts;
    ASSERT_EQ(output.verdict.stop_sequence, stop);
  }
}

TEST(OutputChain, ReplacesHalfACharacterInFrontOfAStop) {
  const Output output = drive({"STOP"}, bytes_of("a\xf0\x9fSTOP"));
  EXPECT_EQ(output.text(), "a" + std::string(kReplacement));
  EXPECT_TRUE(output.verdict.end);
}

// A link of the kind that a policy will put into the chain: it holds the last three bytes back.
class HoldThree final : public OutputLink {
 public:
  explicit HoldThree(std::unique_ptr<OutputLink> next) : next_(std::move(next)) {}

  void push(std::string_view bytes, PushEnd end, OutputSink& sink) override {
    held_.append(bytes);
    const std::size_t kept = end == PushEnd::kEnd ? 0 : std::min<std::size_t>(3, held_.size());
    const std::string out = held_.substr(0, held_.size() - kept);
    held_.erase(0, out.size());
    next_->push(out, end, sink);
  }

 private:
  std::unique_ptr<OutputLink> next_;
  std::string held_;
};

TEST(OutputChain, TakesAnotherLinkBetweenItsOwn) {
  const auto make = [] {
    auto tail = make_utf8_link(make_text_delta_link());
    return make_output_stage(
        make_stop_link(StopRules{StopAutomaton::compile(std::vector<std::string>{"END"})},
                       std::make_unique<HoldThree>(std::move(tail))));
  };
  const Output flushed = drive(*make(), {"abcd", "\xc3",
                                         "\xa9"
                                         "fgh"});
  EXPECT_EQ(flushed.deltas, (std::vector<std::string>{"a", "b", "cd\xc3\xa9", "fgh"}));
  const Output stopped = drive(*make(), {"abcd", "E", "ND"});
  EXPECT_EQ(stopped.text(), "abcd");
  EXPECT_TRUE(stopped.verdict.end);
}

// A chain with a soft cap that begins with token `from`.
Output drive_capped(const SoftCap& cap, std::uint32_t from,
                    const std::vector<std::string>& tokens) {
  StopRules rules;
  rules.soft_cap = SoftCapStops::compile({}, cap);
  rules.soft_cap_from = from;
  return drive(*make_output_chain(std::move(rules)), tokens);
}

TEST(OutputChain, EndsWithASentenceOnceTheSoftCapIsReached) {
  const std::vector<std::string> tokens{"One.", " Two.", " Three", ".", " Four."};
  const Output late = drive_capped({}, 3, tokens);
  EXPECT_EQ(late.text(), "One. Two. Three.");
  EXPECT_EQ(late.verdict.end, FinishReason::kStopSequence);
  EXPECT_EQ(late.verdict.stop_sequence, ".");
  EXPECT_EQ(drive_capped({}, 1, tokens).text(), "One.");
  const Output never = drive_capped({}, 6, tokens);
  EXPECT_EQ(never.text(), "One. Two. Three. Four.");
  EXPECT_FALSE(never.verdict.end);
}

TEST(OutputChain, HoldsNothingBackForTheSoftCapBeforeItIsReached) {
  const Output output = drive_capped({0.5, {"END"}, false}, 4, {"a E", "N", "D b", " E", "ND c"});
  EXPECT_EQ(output.deltas, (std::vector<std::string>{"a E", "N", "D b", " "}));
  EXPECT_EQ(output.verdict.stop_sequence, "END");
}

TEST(OutputChainDeathTest, IsNotUsedAfterAStop) {
  const auto stage = make_output_chain(
      StopRules{StopAutomaton::compile(std::vector<std::string>{"x"}), nullptr, 0});
  std::vector<Event> events;
  EXPECT_TRUE(stage->accept(0, "x", events).end);
  EXPECT_DEATH(stage->accept(0, "y", events), "check failed");
}

}  // namespace
}  // namespace zerohop
