#include "app/chat_session.h"

#include <gtest/gtest.h>

#include "model/fake_model.h"

namespace zerohop {
namespace {

struct Fixture {
  explicit Fixture(FakeModelOptions options) {
    EngineConfig config;
    config.context_tokens = 512;
    config.sequences = 1;
    TierParts parts;
    parts.clock = &clock;
    parts.waker = &waker;
    tier = std::move(Tier::create(make_fake_model(options), config, std::move(parts))).value();
    tier->start();
  }

  SteadyClock clock;
  BlockingWaker waker;
  std::unique_ptr<Tier> tier;
  std::atomic<bool> interrupt{false};
};

GenerationParameters greedy() {
  GenerationParameters generation;
  generation.max_tokens = 64;
  generation.sampling.temperature = 0;
  return generation;
}

TEST(ChatSession, ShowsTheAnswerAsItComesAndReturnsItWhole) {
  const auto vocabulary = make_fake_model({});
  FakeModelOptions options;
  options.script = fake_reply(*vocabulary, "the capital is Paris");
  Fixture chat(options);
  ChatSession session(*chat.tier, chat.waker, greedy(), "be brief");
  std::string shown;
  const auto turn = session.ask(
      "capital?", [&shown](std::string_view text) { shown += text; }, chat.interrupt);
  ASSERT_TRUE(turn.ok());
  EXPECT_EQ(turn->text, "the capital is Paris");
  EXPECT_EQ(shown, turn->text);
  EXPECT_EQ(turn->finished.reason, FinishReason::kEndOfTurn);
}

TEST(ChatSession, RemembersItsTurns) {
  Fixture chat({});
  ChatSession session(*chat.tier, chat.waker, greedy(), "");
  const auto ignore = [](std::string_view) {};
  const auto first = session.ask("one", ignore, chat.interrupt);
  const auto second = session.ask("two", ignore, chat.interrupt);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_GT(second->finished.usage.prompt_tokens, first->finished.usage.prompt_tokens);
  EXPECT_GT(second->finished.usage.prompt_tokens_cached, 0u);
  session.reset();
  const auto again = session.ask("one", ignore, chat.interrupt);
  EXPECT_EQ(again->text, first->text);
}

TEST(ChatSession, ForgetsAQuestionThatWasRefused) {
  Fixture chat({});
  ChatSession session(*chat.tier, chat.waker, greedy(), "");
  const auto ignore = [](std::string_view) {};
  const auto refused = session.ask(std::string(2000, 'x'), ignore, chat.interrupt);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kPromptTooLong);
  EXPECT_TRUE(session.ask("short", ignore, chat.interrupt).ok());
}

TEST(ChatSession, EndsAnAnswerWhenInterrupted) {
  FakeModelOptions options;
  options.end_of_turn_chance = 0;
  Fixture chat(options);
  ChatSession session(*chat.tier, chat.waker, greedy(), "");
  const auto turn = session.ask(
      "go", [&chat](std::string_view) { chat.interrupt = true; }, chat.interrupt);
  ASSERT_TRUE(turn.ok());
  EXPECT_TRUE(turn->interrupted || turn->finished.usage.output_tokens == 64);
}

}  // namespace
}  // namespace zerohop
