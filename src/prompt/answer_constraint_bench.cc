// What a tool set costs at its first request (cold: every schema is compiled) and at later ones
// (the key by which it is found), and what one schema costs.

#include <benchmark/benchmark.h>

#include <string>

#include "prompt/answer_constraint.h"
#include "prompt/tool_syntax.h"

namespace zerohop {
namespace {

// As tools of agents are: some texts, some choices, a list, a few bounds. No two alike.
std::string schema_of(int index) {
  const std::string n = std::to_string(index);
  return R"({"type":"object","properties":{"path_)" + n +
         R"(":{"type":"string","description":"Where."},"mode":{"type":"string",)"
         R"("enum":["read","write",")" +
         n + R"("]},"limit":{"type":"integer","minimum":0,"maximum":)" +
         std::to_string(100 + index) +
         R"(},"since":{"type":"string","format":"date"},"tags":{"type":"array","items":)"
         R"({"type":"string","maxLength":)" +
         std::to_string(20 + index) +
         R"(},"maxItems":8},"options":{"type":"object","properties":{"deep":{"type":"boolean"},)"
         R"("depth":{"type":"number"}},"additionalProperties":false}},"required":["path_)" +
         n + R"(","mode"],"additionalProperties":false})";
}

struct ToolSet {
  explicit ToolSet(int tools) {
    plan.tool_syntax = &default_tool_syntax();
    for (int i = 0; i < tools; ++i) {
      ToolDefinition tool;
      tool.name = "tool_" + std::to_string(i);
      tool.input_schema = schema_of(i);
      conversation.tools.push_back(std::move(tool));
    }
  }
  OutputPlan plan;
  Conversation conversation;
};

void BM_SchemaCold(benchmark::State& state) {
  const std::string schema = schema_of(1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(make_schema_machine(schema, JsonLayout::kSpaced));
  }
}

void BM_ToolSetCold(benchmark::State& state) {
  const ToolSet set(static_cast<int>(state.range(0)));
  const auto compile = [](std::string_view schema, JsonLayout layout) {
    return make_schema_machine(schema, layout);
  };
  for (auto _ : state) {
    benchmark::DoNotOptimize(make_answer_constraint({set.plan, set.conversation}, compile));
  }
}

void BM_ToolSetKey(benchmark::State& state) {
  const ToolSet set(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(answer_constraint_key({set.plan, set.conversation}));
  }
}

BENCHMARK(BM_SchemaCold)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_ToolSetCold)->Arg(1)->Arg(16)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ToolSetKey)->Arg(128)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace zerohop
