// Every kind of KV layout that the engine has to give the same texts on, for tests.
#pragma once

#include <string>
#include <vector>

#include "engine/engine_harness.h"

namespace zerohop {

struct TestLayout {
  std::string name;
  ContextOptions context;
  bool can_cut_tail = true;
  std::uint64_t host_bytes_max = 0;

  FakeModelOptions model() const {
    FakeModelOptions options = endless_model();
    options.can_cut_tail = can_cut_tail;
    return options;
  }
  EngineOptions engine() const {
    EngineOptions options;
    options.cache.host_bytes_max = host_bytes_max;
    return options;
  }
};

/// Four sequences of 256 cells each, or fewer cells than that where cells are pooled.
inline std::vector<TestLayout> all_layouts(std::uint32_t pooled_cells = 0) {
  ContextOptions unified = harness_context(KvLayout::kUnified);
  unified.cells = pooled_cells;
  ContextOptions parking = unified;
  parking.parked = 8;
  const ContextOptions streams = harness_context(KvLayout::kStreams);
  constexpr std::uint64_t kHost = 1u << 20;
  return {{"unified", unified, true, 0},
          {"unified with holders and host tier", parking, true, kHost},
          {"streams", streams, true, 0},
          {"streams with host tier", streams, true, kHost},
          {"streams whose tails cannot be cut", streams, false, kHost},
          {"pool whose tails cannot be cut", parking, false, kHost}};
}

/// What each of `requests` is answered when it is alone on a fresh engine.
inline std::string text_alone(const TestLayout& layout, std::string prompt,
                              std::uint32_t max_tokens) {
  EngineHarness engine(layout.model(), layout.context, layout.engine());
  return engine.complete({.prompt = std::move(prompt), .max_tokens = max_tokens})->text();
}

}  // namespace zerohop
