// What the engine makes of the prefix cache: reuse that is counted exactly, host memory, pressure,
// warm prefixes, causes of misses.

#include <gtest/gtest.h>

#include <utility>

#include "engine/engine_layouts.h"
#include "model/fake_context.h"

namespace zerohop {
namespace {

std::vector<Token> tokens_of(const EngineHarness& engine, const std::string& text) {
  return engine.model->tokenizer().tokenize(text, SpecialTokens::kParse);
}

// Conversations of several turns, more of them than there are slots or cells for.
TEST(EngineCache, SaysWithReuseWhatItSaysWithout) {
  for (const TestLayout& layout : all_layouts(500)) {
    EngineHarness engine(layout.model(), layout.context, layout.engine());
    std::vector<std::string> talks;
    for (std::uint64_t i = 0; i < 7; ++i) talks.push_back("system prompt, " + prompt_of(40, i));
    for (int turn = 0; turn < 3; ++turn) {
      std::vector<std::shared_ptr<HarnessClient>> clients;
      for (const std::string& talk : talks) {
        clients.push_back(engine.submit({.prompt = talk, .max_tokens = 20}));
      }
      engine.run();
      for (std::size_t i = 0; i < talks.size(); ++i) {
        clients[i]->read();
        EXPECT_EQ(clients[i]->text(), text_alone(layout, talks[i], 20)) << layout.name;
        talks[i] += clients[i]->text() + " and then? ";
      }
    }
    EXPECT_GT(engine.loop->snapshot().prompt_tokens_cached, 0u) << layout.name;
  }
}

TEST(EngineCache, BringsATurnBackFromHostMemory) {
  for (const TestLayout& layout : all_layouts(256)) {
    if (layout.host_bytes_max == 0) continue;
    EngineHarness engine(layout.model(), layout.context, layout.engine());
    const std::string prompt = prompt_of(150, 1);
    const auto first = engine.complete({.prompt = prompt, .max_tokens = 10});
    for (std::uint64_t i = 2; i < 12; ++i) {  // drives everything else out of the cells
      engine.complete({.prompt = prompt_of(200, i), .max_tokens = 10});
    }
    EXPECT_GT(engine.loop->snapshot().tokens_saved, 0u) << layout.name;
    const std::string next = prompt + first->text() + "more";
    const auto second = engine.complete({.prompt = next, .max_tokens = 10});
    EXPECT_GE(second->find<Started>()->usage.prompt_tokens_cached, 150u) << layout.name;
    EXPECT_GE(engine.loop->snapshot().prompt_tokens_restored, 150u) << layout.name;
    EXPECT_EQ(second->text(), text_alone(layout, next, 10)) << layout.name;
  }
}

TEST(EngineCache, StaysWithinTheBytesOfHostMemory) {
  TestLayout layout = all_layouts(256)[1];
  layout.host_bytes_max = 4000;
  EngineHarness engine(layout.model(), layout.context, layout.engine());
  for (std::uint64_t i = 0; i < 30; ++i) {
    engine.complete({.prompt = prompt_of(120, i), .max_tokens = 10});
    ASSERT_LE(engine.loop->snapshot().host_bytes, 4000u);
  }
  EXPECT_GT(engine.loop->snapshot().tokens_forgotten, 0u);
}

TEST(EngineCache, NamesThePartOfThePromptInWhichAMissBegan) {
  EngineHarness engine(endless_model(), harness_context());
  const auto ask = [&](const std::string& system) {
    HarnessRequest request{.prompt = system + prompt_of(100, 9), .max_tokens = 2};
    request.cache.sections.system_end = static_cast<std::uint32_t>(system.size());
    return engine.complete(std::move(request));
  };
  EXPECT_EQ(ask("It is 12:00:01 now. ")->find<Started>()->miss.cause, MissCause::kCold);
  const CacheMiss miss = ask("It is 12:00:02 now. ")->find<Started>()->miss;
  EXPECT_EQ(miss.cause, MissCause::kSystemChanged);
  EXPECT_EQ(miss.position, tokens_of(engine, "It is 12:00:0").size());
  const EngineSnapshot snapshot = engine.loop->snapshot();
  EXPECT_EQ(snapshot.misses[static_cast<std::size_t>(MissCause::kSystemChanged)], 1u);
  EXPECT_GT(snapshot.missed_tokens[static_cast<std::size_t>(MissCause::kSystemChanged)], 0u);
}

TEST(EngineCache, HasAWarmPrefixBeforeAnybodyAsks) {
  for (const TestLayout& layout : all_layouts()) {
    EngineHarness engine(layout.model(), layout.context, layout.engine());
    const std::string system = prompt_of(150, 3);
    std::vector<std::byte> state;
    ASSERT_TRUE(engine.loop
                    ->submit_warm({tokens_of(engine, system),
                                   kPublicScope,
                                   {},
                                   [&state](std::vector<std::byte> bytes) { state = bytes; }})
                    .ok());
    engine.run();
    EXPECT_FALSE(state.empty()) << layout.name;
    EXPECT_EQ(engine.loop->snapshot().requests_finished, 0u);
    EXPECT_EQ(engine.loop->snapshot().queued + engine.loop->snapshot().running(), 0u);
    // It survives whatever comes in between.
    for (std::uint64_t i = 10; i < 20; ++i) {
      engine.complete({.prompt = prompt_of(200, i), .max_tokens = 5});
    }
    const auto client = engine.complete({.prompt = system + "hi", .max_tokens = 5});
    EXPECT_EQ(client->text(), text_alone(layout, system + "hi", 5)) << layout.name;
    if (layout.context.parked > 0 || layout.host_bytes_max > 0) {
      EXPECT_GE(client->find<Started>()->usage.prompt_tokens_cached, 149u) << layout.name;
    }

    // After a restart it comes from its bytes.
    EngineHarness again(layout.model(), layout.context, layout.engine());
    bool computed = false;
    ASSERT_TRUE(again.loop
                    ->submit_warm({tokens_of(again, system), kPublicScope, state,
                                   [&computed](std::vector<std::byte>) { computed = true; }})
                    .ok());
    again.run();
    if (layout.host_bytes_max > 0 && layout.can_cut_tail) {
      EXPECT_FALSE(computed) << layout.name;
    }
    EXPECT_EQ(again.complete({.prompt = system + "hi", .max_tokens = 5})->text(), client->text());
  }
}

TEST(EngineCache, ComputesAWarmPrefixWhoseBytesAreDamaged) {
  TestLayout layout = all_layouts()[1];
  EngineHarness engine(layout.model(), layout.context, layout.engine());
  bool computed = false;
  ASSERT_TRUE(engine.loop
                  ->submit_warm({tokens_of(engine, prompt_of(100, 1)), kPublicScope,
                                 std::vector<std::byte>(333),
                                 [&computed](std::vector<std::byte>) { computed = true; }})
                  .ok());
  engine.run();
  EXPECT_TRUE(computed);
  EXPECT_EQ(engine.complete({.prompt = prompt_of(100, 1) + "x", .max_tokens = 9})->text(),
            text_alone(layout, prompt_of(100, 1) + "x", 9));
}

TEST(EngineCache, RefusesAWarmPrefixThatCannotBe) {
  EngineOptions exact;
  exact.exactness = Exactness::kExact;
  EngineHarness reusing(endless_model(), harness_context());
  EngineHarness nothing(endless_model(), harness_context(), exact);
  EXPECT_EQ(reusing.loop->submit_warm({}).error().code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(reusing.loop->submit_warm({std::vector<Token>(257, 'x')}).error().code,
            ErrorCode::kPromptTooLong);
  EXPECT_EQ(nothing.loop->submit_warm({{'x'}}).error().code, ErrorCode::kConfiguration);
}

TEST(EngineCache, MovesIdleCellsToHostMemoryWhenTheyGetScarce) {
  TestLayout layout = all_layouts(500)[1];
  EngineHarness engine(layout.model(), layout.context, layout.engine());
  for (std::uint64_t i = 0; i < 4; ++i) {
    engine.complete({.prompt = prompt_of(110, i), .max_tokens = 5});
  }
  const EngineSnapshot snapshot = engine.loop->snapshot();
  EXPECT_GT(snapshot.rung_entries[static_cast<std::size_t>(PressureRung::kParkIdle)], 0u);
  EXPECT_GT(snapshot.tokens_saved, 0u);
  EXPECT_LT(snapshot.cells_cached, 450u);
}

// A pool with room for everything: what steps have passed over for long enough leaves it, and comes
// back as it was.
TEST(EngineCache, MovesIdleCellsToHostMemoryWhereStepsPassOverThem) {
  TestLayout layout = all_layouts(1800)[1];
  for (const bool pay : {false, true}) {
    EngineOptions options = layout.engine();
    options.idle_cells_pay = pay;
    EngineHarness engine(layout.model(), layout.context, options);
    for (std::uint64_t i = 0; i < 6; ++i) {
      engine.complete({.prompt = prompt_of(150, i), .max_tokens = 1});
    }
    EXPECT_EQ(engine.loop->snapshot().tokens_saved, 0u) << "each was alone";
    for (std::uint64_t i = 10; i < 14; ++i) {
      engine.submit({.prompt = prompt_of(20, i), .max_tokens = 80});
    }
    engine.run();
    const EngineSnapshot after = engine.loop->snapshot();
    if (!pay) {
      EXPECT_GT(after.cells_cached, 1250u) << "all prompts and answers";
      EXPECT_EQ(after.tokens_saved, 0u);
      continue;
    }
    EXPECT_GT(after.tokens_saved, 400u);
    EXPECT_LT(after.cells_cached, 1000u);
    const auto again = engine.complete({.prompt = prompt_of(150, 0) + "more", .max_tokens = 5});
    EXPECT_GE(again->find<Started>()->usage.prompt_tokens_cached, 150u);
    EXPECT_EQ(again->text(), text_alone(layout, prompt_of(150, 0) + "more", 5));
  }
}

double share_of(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

// Above 0.85 of host memory states are kept in fewer bytes, until it is at 0.80; what comes back
// from them is what it was.
TEST(EngineCache, CompressesStatesInHostMemoryBetweenItsMarks) {
  TestLayout layout = all_layouts(500)[1];
  layout.host_bytes_max = 14'000;
  EngineOptions options = layout.engine();
  options.pressure.dwell_min = Duration::zero();
  EngineHarness engine(layout.model(), layout.context, options);
  std::vector<std::string> talks;
  EngineSnapshot before;
  for (std::uint64_t i = 0; i < 12; ++i) {
    talks.push_back(prompt_of(110, i));
    const auto client = engine.submit({.prompt = talks.back(), .max_tokens = 10});
    bool more = true;
    while (more) {
      before = engine.loop->snapshot();
      more = engine.step();
      const EngineSnapshot after = engine.loop->snapshot();
      const double host = share_of(before.host_bytes, before.host_bytes_max);
      const double used =
          share_of(std::uint64_t{before.cells_active} + before.cells_cached + before.cells_reserved,
                   before.cells_total);
      constexpr auto kRung = static_cast<std::size_t>(PressureRung::kCompress);
      if (after.rung_entries[kRung] > before.rung_entries[kRung]) {
        EXPECT_GT(host, 0.85);
      }
      if (before.rung == PressureRung::kCompress && after.rung < before.rung) {
        EXPECT_TRUE(host <= 0.80 || used <= 0.80) << host << " " << used;
      }
    }
    client->read();
    talks.back() += client->text();
  }
  const EngineSnapshot end = engine.loop->snapshot();
  EXPECT_GT(end.rung_entries[static_cast<std::size_t>(PressureRung::kCompress)], 0u);
  EXPECT_GT(end.tokens_saved, 14'000u / kFakeCellBytes) << "more than fits uncompressed";
  const std::uint64_t restored = end.prompt_tokens_restored;
  for (const std::string& talk : talks) {
    EXPECT_EQ(engine.complete({.prompt = talk + "more", .max_tokens = 10})->text(),
              text_alone(layout, talk + "more", 10));
  }
  EXPECT_GT(engine.loop->snapshot().prompt_tokens_restored, restored + 100);
}

constexpr std::uint32_t kSoft = static_cast<std::uint32_t>(PressureRung::kSoftMaxTokens);

HarnessRequest soft(std::string prompt, std::uint32_t max_tokens) {
  return {.prompt = std::move(prompt),
          .max_tokens = max_tokens,
          .scheduling = {.soft_max_tokens = true}};
}

// What was applied is what the answer says and what it does.
void expect_cap(const HarnessClient& client, std::uint32_t cap) {
  ASSERT_NE(client.find<Started>(), nullptr);
  EXPECT_EQ(client.find<Started>()->soft_max_tokens, cap);
  ASSERT_NE(client.find<Finished>(), nullptr);
  EXPECT_EQ(client.find<Finished>()->usage.output_tokens, cap);
  EXPECT_EQ(client.find<Finished>()->reason, FinishReason::kMaxTokens);
}

// Two answers were promised 500 of 540 cells: 0.926, that is a share of 0.8546.
TEST(EngineCache, ShortensAnswersThatAllowItWhileCellsAreScarce) {
  ContextOptions context = harness_context();
  context.cells = 540;
  EngineHarness engine(endless_model(), context);
  for (std::uint64_t i = 0; i < 2; ++i) engine.submit(soft(prompt_of(230, i), 20));
  while (engine.loop->snapshot().rung < PressureRung::kSoftMaxTokens) ASSERT_TRUE(engine.step());
  EXPECT_EQ(engine.loop->snapshot().rung_cause, PressureCause::kKvCells);
  const auto allows = engine.submit(soft("ab", 40));
  const auto insists = engine.submit({.prompt = "cd", .max_tokens = 40});
  engine.run();
  allows->read();
  insists->read();
  expect_cap(*allows, 35);
  EXPECT_EQ(insists->find<Started>()->soft_max_tokens, 0u);
  EXPECT_EQ(insists->find<Finished>()->usage.output_tokens, 40u);
  EXPECT_EQ(engine.loop->snapshot().soft_max_tokens_applied, 1u);
  EXPECT_EQ(engine.loop->snapshot().rung_entries[kSoft], 1u);
  // With room again an answer that allows it is as long as it was asked for.
  EXPECT_EQ(engine.loop->snapshot().running(), 0u);
  while (engine.loop->snapshot().rung >= PressureRung::kSoftMaxTokens) {
    engine.clock.advance(std::chrono::seconds(1));
    engine.step();
  }
  EXPECT_EQ(engine.complete(soft("ef", 40))->find<Finished>()->usage.output_tokens, 40u);
}

// Three quarters, of the smaller of max_tokens and the room in the window.
TEST(EngineCache, ShortensAnswersThatAllowItWhileCellsAreScattered) {
  ContextOptions context = harness_context();
  context.window = 1024;
  context.batch_rows = 256;
  bool no_room = false;
  FakeModelOptions model = endless_model();
  model.fault = [&no_room](std::span<const BatchRow>) {
    return std::exchange(no_room, false) ? DecodeStatus::kNoRoom : DecodeStatus::kOk;
  };
  EngineHarness engine(model, context);
  engine.submit(soft(prompt_of(60, 1), 900));
  engine.step();
  for (std::uint64_t i = 0; i < 2; ++i) {
    engine.submit({.prompt = prompt_of(900, 7 + i), .max_tokens = 1});
  }
  while (engine.loop->snapshot().requests_finished < 2) ASSERT_TRUE(engine.step());
  no_room = true;  // drops both
  while (engine.loop->snapshot().rung < PressureRung::kSoftMaxTokens) ASSERT_TRUE(engine.step());
  EXPECT_EQ(engine.loop->snapshot().rung_cause, PressureCause::kFragmentation);
  ASSERT_GT(engine.loop->snapshot().fragmentation, 0.45);
  const auto short_one = engine.submit(soft("ab", 40));
  while (!short_one->done) {
    ASSERT_TRUE(engine.step());
    short_one->read();
  }
  expect_cap(*short_one, 30);
  ASSERT_GT(engine.loop->snapshot().fragmentation, 0.45);
  const auto full_window = engine.submit(soft(prompt_of(984, 3), 4000));
  engine.step();
  full_window->read();
  ASSERT_NE(full_window->find<Started>(), nullptr);
  EXPECT_EQ(full_window->find<Started>()->soft_max_tokens, 30u) << "of 40 that have room";
  engine.run();
  full_window->read();
  expect_cap(*full_window, 30);
}

TEST(EngineCache, ShedsNewRequestsOnTheLastRungOnlyAndTakesThemAgainLater) {
  ContextOptions context = harness_context();
  context.sequences = 1;
  EngineOptions options;
  options.pressure.wait_max = std::chrono::milliseconds(500);
  options.pressure.dwell_min = Duration::zero();
  EngineHarness engine(endless_model(), context, options);
  std::vector<std::shared_ptr<HarnessClient>> clients;
  for (std::uint64_t i = 0; i < 6; ++i) {
    clients.push_back(engine.submit({.prompt = prompt_of(200, i), .max_tokens = 40}));
    EXPECT_TRUE(engine.last_submit.ok());
  }
  while (engine.loop->snapshot().rung != PressureRung::kShed) ASSERT_TRUE(engine.step());
  engine.submit({.prompt = "late"});
  ASSERT_FALSE(engine.last_submit.ok());
  EXPECT_EQ(engine.last_submit.error().code, ErrorCode::kShed);
  EXPECT_EQ(engine.last_submit.error().detail, "shed;queue");
  EXPECT_GT(engine.last_submit.error().retry_after.count(), 0);
  engine.run();  // who was let in is served
  for (const auto& client : clients) {
    client->read();
    EXPECT_NE(client->find<Finished>(), nullptr);
  }
  EXPECT_NE(engine.complete({.prompt = "later"})->find<Finished>(), nullptr);
}

TEST(EngineCache, TakesATenantOnTheLastRungThatAsksForLessThanItsShare) {
  ContextOptions context = harness_context();
  context.sequences = 1;
  EngineOptions options;
  options.pressure.wait_max = std::chrono::seconds(2);
  EngineHarness engine(endless_model(), context, options);
  const Scheduling heavy{.tenant = TenantId(1)};
  for (std::uint64_t i = 0; i < 12; ++i) {
    engine.submit({.prompt = prompt_of(200, i), .max_tokens = 40, .scheduling = heavy});
  }
  while (engine.loop->snapshot().rung != PressureRung::kShed) ASSERT_TRUE(engine.step());
  engine.submit({.prompt = "one more", .scheduling = heavy});
  ASSERT_FALSE(engine.last_submit.ok());
  EXPECT_EQ(engine.last_submit.error().code, ErrorCode::kShed);
  const auto light = engine.submit({.prompt = "light", .scheduling = {.tenant = TenantId(2)}});
  ASSERT_TRUE(engine.last_submit.ok()) << engine.last_submit.error().message;
  while (!light->done) {
    ASSERT_TRUE(engine.step());
    light->read();
  }
  EXPECT_NE(light->find<Finished>(), nullptr);
  EXPECT_GT(engine.loop->snapshot().queued, 5u) << "those who wait are still there";
  engine.run();
}

}  // namespace
}  // namespace zerohop
