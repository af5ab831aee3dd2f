// Counts of the snapshot that metrics show and no other test asks for: each moves with its event.

#include <gtest/gtest.h>

#include "engine/engine_layouts.h"

namespace zerohop {
namespace {

void fill(EngineHarness& engine, std::uint64_t prompts) {
  for (std::uint64_t i = 0; i < prompts; ++i) {
    engine.complete({.prompt = prompt_of(200, 100 + i), .max_tokens = 10});
  }
}

TEST(EngineSnapshotCounts, TokensAreEvictedWhenOthersNeedTheirCells) {
  for (const TestLayout& layout : all_layouts(256)) {
    if (layout.host_bytes_max != 0) continue;
    EngineHarness engine(layout.model(), layout.context, layout.engine());
    fill(engine, 1);
    EXPECT_EQ(engine.loop->snapshot().tokens_evicted, 0u) << layout.name;
    fill(engine, 8);
    const EngineSnapshot full = engine.loop->snapshot();
    EXPECT_GT(full.tokens_evicted, 0u) << layout.name;
    EXPECT_EQ(full.tokens_saved, 0u) << "there is nowhere to";
    EXPECT_EQ(full.host_entries, 0u);
    EXPECT_EQ(full.host_bytes, 0u);
  }
}

TEST(EngineSnapshotCounts, WhatIsSavedInHostMemoryIsThere) {
  const TestLayout layout = all_layouts(256)[1];
  EngineHarness engine(layout.model(), layout.context, layout.engine());
  EXPECT_EQ(engine.loop->snapshot().host_entries, 0u);
  EXPECT_EQ(engine.loop->snapshot().host_bytes_max, layout.host_bytes_max);
  fill(engine, 8);
  const EngineSnapshot full = engine.loop->snapshot();
  EXPECT_GT(full.tokens_saved, 0u);
  EXPECT_GT(full.host_entries, 0u);
  EXPECT_GT(full.host_bytes, 0u);
}

}  // namespace
}  // namespace zerohop
