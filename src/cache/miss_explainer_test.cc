#include "cache/miss_explainer.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <vector>

#include "base/random.h"

namespace zerohop {
namespace {

using Tokens = std::vector<Token>;

// `count` tokens that no other `seed` gives.
Tokens text(Token seed, std::size_t count) {
  Tokens tokens;
  for (std::size_t i = 0; i < count; ++i) tokens.push_back(seed * 10'000 + static_cast<Token>(i));
  return tokens;
}

Tokens joined(std::initializer_list<Tokens> parts) {
  Tokens all;
  for (const Tokens& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// A prompt with its parts; those that are empty are not there.
struct Parts {
  Tokens system;
  Tokens tools = {};
  Tokens messages = {};
  ScopeId scope = ScopeId{1};
  std::uint64_t affinity = 0;
};

class MissExplainerTest : public testing::Test {
 protected:
  CacheMiss ask(const Parts& parts, std::size_t found, CacheCap cap = CacheCap::kNone) {
    const Tokens tokens = joined({parts.system, parts.tools, parts.messages});
    SeenPrompt prompt;
    prompt.tokens = tokens;
    prompt.scope = parts.scope;
    prompt.affinity = parts.affinity;
    const std::size_t tools_end = parts.system.size() + parts.tools.size();
    if (!parts.system.empty()) {
      prompt.sections.system_end = static_cast<std::uint32_t>(parts.system.size());
    }
    if (!parts.tools.empty()) prompt.sections.tools_end = static_cast<std::uint32_t>(tools_end);
    return explainer_->explain(prompt, static_cast<std::int32_t>(found), cap);
  }

  std::optional<MissExplainer> explainer_{std::in_place};
};

Tokens dated_system(Token date, std::size_t at) {
  Tokens system = text(1, 100);
  system[at] = date;
  return system;
}

TEST_F(MissExplainerTest, CallsTheFirstPromptCold) {
  const CacheMiss miss = ask({text(1, 100), {}, text(2, 50)}, 0);
  EXPECT_EQ(miss.cause, MissCause::kCold);
  EXPECT_EQ(miss.missed_tokens, 0u);
}

TEST_F(MissExplainerTest, NamesATimeStampWhereverInTheSystemPromptItStands) {
  for (const std::size_t at : {0u, 1u, 14u, 50u, 98u, 99u}) {
    explainer_.emplace();
    ask({dated_system(-1, at), {}, text(2, 50)}, 0);
    const CacheMiss miss = ask({dated_system(-2, at), {}, text(2, 50)}, at);
    EXPECT_EQ(miss.cause, MissCause::kSystemChanged) << at;
    EXPECT_EQ(miss.position, at);
    EXPECT_EQ(miss.missed_tokens, 150 - at);
  }
}

TEST_F(MissExplainerTest, NamesATimeStampThatTakesMoreTokensThanBefore) {
  ask({joined({text(1, 20), text(7, 3), text(2, 60)}), {}, text(3, 30)}, 0);
  const CacheMiss miss = ask({joined({text(1, 20), text(8, 5), text(2, 60)}), {}, text(4, 30)}, 20);
  EXPECT_EQ(miss.cause, MissCause::kSystemChanged);
  EXPECT_EQ(miss.position, 20u);
  EXPECT_EQ(miss.missed_tokens, 65u);  // to the end of the system prompt; the messages differ
}

TEST_F(MissExplainerTest, CallsAnotherSystemPromptCold) {
  ask({text(1, 100), {}, text(2, 50)}, 0);
  EXPECT_EQ(ask({text(3, 100), {}, text(2, 50)}, 0).cause, MissCause::kCold);
}

TEST_F(MissExplainerTest, FindsNothingWrongWithTheNextTurn) {
  const Tokens first = text(2, 50);
  ask({text(1, 100), {}, first}, 0);
  const CacheMiss miss = ask({text(1, 100), {}, joined({first, text(3, 40)})}, 150);
  EXPECT_EQ(miss.cause, MissCause::kNone);
}

TEST_F(MissExplainerTest, FindsNothingWrongWithAnotherConversationUnderTheSameSystemPrompt) {
  ask({text(1, 100), {}, text(2, 50)}, 0);
  EXPECT_EQ(ask({text(1, 100), {}, text(3, 50)}, 100).cause, MissCause::kNone);
}

TEST_F(MissExplainerTest, NamesChangedTools) {
  ask({text(1, 100), text(5, 60), text(2, 50)}, 0);
  Tokens tools = text(5, 60);
  tools[30] = -1;
  const CacheMiss miss = ask({text(1, 100), tools, text(2, 50)}, 130);
  EXPECT_EQ(miss.cause, MissCause::kToolsChanged);
  EXPECT_EQ(miss.position, 130u);
  EXPECT_EQ(miss.missed_tokens, 80u);
}

TEST_F(MissExplainerTest, KnowsToolsInFrontOfTheSystemPrompt) {
  const auto prompt = [](Token date, std::size_t at) {
    Tokens tokens = joined({text(5, 60), text(1, 100), text(2, 50)});
    tokens[at] = date;
    return tokens;
  };
  const PromptSections sections{160, 60};
  const Tokens before = prompt(-1, 100);
  explainer_->explain({before, sections}, 0, CacheCap::kNone);
  const Tokens system = prompt(-2, 100);
  EXPECT_EQ(explainer_->explain({system, sections}, 100, CacheCap::kNone).cause,
            MissCause::kSystemChanged);
  Tokens tools = system;
  tools[40] = -3;
  EXPECT_EQ(explainer_->explain({tools, sections}, 40, CacheCap::kNone).cause,
            MissCause::kToolsChanged);
}

TEST_F(MissExplainerTest, NamesAnEarlierMessageThatChanged) {
  const Tokens turns = joined({text(2, 50), text(3, 50)});
  ask({text(1, 100), {}, turns}, 0);
  Tokens edited = turns;
  edited[20] = -1;
  const CacheMiss miss = ask({text(1, 100), {}, joined({edited, text(4, 30)})}, 120);
  EXPECT_EQ(miss.cause, MissCause::kMessagesChanged);
  EXPECT_EQ(miss.position, 120u);
  EXPECT_EQ(miss.missed_tokens, 80u);
}

TEST_F(MissExplainerTest, NamesWhatWasEvictedWithItsCap) {
  ask({text(1, 100), {}, text(2, 50)}, 0);
  ask({text(7, 100), {}, text(8, 50)}, 0, CacheCap::kCells);
  const CacheMiss miss = ask({text(1, 100), {}, text(2, 60)}, 10, CacheCap::kHostBytes);
  EXPECT_EQ(miss.cause, MissCause::kEvicted);
  EXPECT_EQ(miss.cap, CacheCap::kHostBytes);
  EXPECT_EQ(miss.position, 10u);
  EXPECT_EQ(miss.missed_tokens, 140u);
}

TEST_F(MissExplainerTest, DoesNotCallEvictedWhatNothingEverDropped) {
  ask({text(1, 100), {}, text(2, 50)}, 0);
  EXPECT_EQ(ask({text(1, 100), {}, text(2, 50)}, 0).cause, MissCause::kCold);
}

TEST_F(MissExplainerTest, OverlooksAFewTokens) {
  ask({text(1, 100), {}, text(2, 50)}, 0, CacheCap::kCells);
  EXPECT_EQ(ask({text(1, 100), {}, text(2, 50)}, 140, CacheCap::kCells).cause, MissCause::kNone);
}

TEST_F(MissExplainerTest, NamesAnotherTenantWithoutItsCause) {
  ask({text(1, 100), {}, text(2, 50), ScopeId{1}}, 0);
  const CacheMiss miss = ask({text(1, 100), {}, text(2, 50), ScopeId{2}}, 0, CacheCap::kCells);
  EXPECT_EQ(miss.cause, MissCause::kOtherTenant);
  EXPECT_EQ(miss.missed_tokens, 149u);
}

TEST_F(MissExplainerTest, ExplainsWithTheOwnScopeFirst) {
  ask({dated_system(-1, 30), {}, text(2, 50), ScopeId{1}}, 0);
  ask({dated_system(-2, 30), {}, text(2, 50), ScopeId{2}}, 0);
  const CacheMiss miss = ask({dated_system(-2, 30), {}, text(2, 50), ScopeId{1}}, 30);
  EXPECT_EQ(miss.cause, MissCause::kSystemChanged);
}

TEST_F(MissExplainerTest, SeesThePublicScopeFromEveryOther) {
  ask({text(1, 100), {}, text(2, 50), kPublicScope}, 0);
  const CacheMiss miss = ask({text(1, 100), {}, text(2, 50), ScopeId{2}}, 0, CacheCap::kCells);
  EXPECT_EQ(miss.cause, MissCause::kEvicted);
}

TEST_F(MissExplainerTest, HoldsAPromptAgainstTheLastOneOfItsKey) {
  // Another client's system prompt is nearer, but the client's own was rewritten.
  ask({joined({text(1, 10), text(2, 90)}), {}, text(9, 20), ScopeId{1}, 77}, 0);
  ask({joined({text(1, 12), text(3, 90)}), {}, text(9, 20), ScopeId{1}}, 10);
  const Parts rewritten{joined({text(1, 11), text(4, 90)}), {}, text(9, 20), ScopeId{1}, 77};
  const CacheMiss miss = ask(rewritten, 11);
  EXPECT_EQ(miss.cause, MissCause::kSystemChanged);
  EXPECT_EQ(miss.position, 10u);
}

TEST_F(MissExplainerTest, SaysNothingOfAChangeThatOthersMadeBefore) {
  ask({dated_system(-1, 30), {}, text(2, 50), ScopeId{1}, 5}, 0);
  ask({dated_system(-2, 30), {}, text(2, 50), ScopeId{1}}, 30);
  // The client of key 5 has the date of the second prompt now: all of it was found.
  const CacheMiss miss = ask({dated_system(-2, 30), {}, text(2, 50), ScopeId{1}, 5}, 149);
  EXPECT_EQ(miss.cause, MissCause::kNone);
}

TEST_F(MissExplainerTest, KeepsWithinItsCaps) {
  MissExplainer small({.prompts_max = 4, .tokens_max = 300});
  Random random(3);
  for (int i = 0; i < 500; ++i) {
    const Tokens tokens = text(static_cast<Token>(random.below(40)), 1 + random.below(400));
    const ScopeId scope{random.below(3)};
    small.explain({tokens, {}, scope, random.below(3)}, 0, CacheCap::kCells);
    ASSERT_LE(small.prompts(), 4u);
    ASSERT_LE(small.tokens(), 300u);
  }
}

TEST_F(MissExplainerTest, RemembersAConversationOnce) {
  Tokens turns = text(2, 50);
  for (Token turn = 10; turn < 20; ++turn) {
    ask({text(1, 100), {}, turns}, 0);
    turns = joined({turns, text(turn, 30)});
  }
  EXPECT_EQ(explainer_->prompts(), 1u);
}

TEST_F(MissExplainerTest, StandsAnySectionsAndAnyCount) {
  Random random(5);
  for (int i = 0; i < 3'000; ++i) {
    Tokens tokens = text(static_cast<Token>(random.below(3)), 1 + random.below(60));
    if (random.below(2) == 0) tokens[random.below(tokens.size())] = -1;
    SeenPrompt prompt{tokens, {}, ScopeId{random.below(3)}, random.below(3)};
    prompt.sections.system_end = static_cast<std::uint32_t>(random.below(80));
    prompt.sections.tools_end = static_cast<std::uint32_t>(random.below(80));
    const auto found = static_cast<std::int32_t>(random.below(tokens.size()));
    const CacheMiss miss =
        explainer_->explain(prompt, found, static_cast<CacheCap>(random.below(6)));
    ASSERT_LE(miss.position + miss.missed_tokens, tokens.size());
    if (miss.cause != MissCause::kEvicted) {
      ASSERT_EQ(miss.cap, CacheCap::kNone);
    }
  }
}

}  // namespace
}  // namespace zerohop
