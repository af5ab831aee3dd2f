// What the JSON machine costs: making one, a byte that was never stepped on before (cold), and one
// that was (warm), on the schemas of four usual tools.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <variant>

#include "base/check.h"
#include "constrain/json_machine.h"
#include "constrain/schema_compiler.h"

namespace zerohop {
namespace {

struct Tool {
  const char* schema;
  const char* document;
};

constexpr Tool kWeather = {
    R"({"type":"object","properties":{"city":{"type":"string"},"unit":{"enum":["celsius",
        "fahrenheit"]},"days":{"type":"integer","minimum":1,"maximum":14}},"required":["city"]})",
    R"({"city":"Frankfurt am Main","unit":"celsius","days":12})"};

constexpr Tool kSearch = {
    R"({"type":"object","properties":{"query":{"type":"string","minLength":1,"maxLength":200},
        "filters":{"type":"array","items":{"type":"object","properties":{"field":{"enum":["date",
        "author","language","size"]},"op":{"enum":["eq","ne","lt","gt"]},"value":{"type":["string",
        "number","boolean"]}},"required":["field","op","value"],"additionalProperties":false},
        "maxItems":8},"limit":{"type":"integer","minimum":1,"maximum":100}},"required":["query"],
        "additionalProperties":false})",
    R"({"query":"lock-free queues","filters":[{"field":"language","op":"eq","value":"en"},)"
    R"({"field":"size","op":"lt","value":120.5}],"limit":20})"};

constexpr Tool kEdit = {
    R"({"type":"object","properties":{"path":{"type":"string"},"edits":{"type":"array","minItems":1,
        "items":{"anyOf":[{"type":"object","properties":{"kind":{"const":"insert"},
        "line":{"type":"integer","minimum":0},"text":{"type":"string"}},"required":["kind","line",
        "text"],"additionalProperties":false},{"type":"object","properties":{"kind":{"const":
        "delete"},"line":{"type":"integer","minimum":0},"count":{"type":"integer","minimum":1}},
        "required":["kind","line","count"],"additionalProperties":false}]}},"dry_run":{"type":
        "boolean"}},"required":["path","edits"],"additionalProperties":false})",
    R"({"path":"src/main.cc","edits":[{"kind":"insert","line":12,"text":"int x = 0;\n"},)"
    R"({"kind":"delete","line":40,"count":2}],"dry_run":false})"};

constexpr Tool kOrder = {
    R"({"type":"object","properties":{"customer":{"type":"object","properties":{"name":{"type":
        "string","maxLength":80},"email":{"type":"string","format":"email"}},"required":["name",
        "email"]},"lines":{"type":"array","minItems":1,"items":{"type":"object","properties":{"sku":
        {"type":"string","pattern":"^[A-Z]{2}-[0-9]{4}$"},"quantity":{"type":"integer","minimum":1},
        "price":{"type":"number","minimum":0,"multipleOf":0.01}},"required":["sku","quantity"]}},
        "due":{"type":"string","format":"date"},"tags":{"type":"array","items":{"type":"string"}}},
        "required":["customer","lines"]})",
    R"({"customer":{"name":"Ada","email":"ada@example.org"},"lines":[{"sku":"AB-1234",)"
    R"("quantity":3,"price":19.99}],"due":"2025-01-31","tags":["gift","fast"]})"};

std::shared_ptr<const SchemaForm> form_of(const Tool& tool) {
  const CompiledSchema compiled = compile_schema(tool.schema);
  const auto* form = std::get_if<std::shared_ptr<const SchemaForm>>(&compiled);
  ZH_CHECK(form != nullptr);
  return *form;
}

std::int64_t bytes_of(const Tool& tool) {
  return static_cast<std::int64_t>(std::string_view(tool.document).size());
}

void start(benchmark::State& state, const Tool& tool) {
  const auto form = form_of(tool);
  for (auto _ : state) benchmark::DoNotOptimize(make_json_machine(form)->start());
}
BENCHMARK_CAPTURE(start, weather, kWeather);
BENCHMARK_CAPTURE(start, order, kOrder);

// A machine and its first document: time per byte.
void cold_step(benchmark::State& state, const Tool& tool) {
  const auto form = form_of(tool);
  for (auto _ : state) {
    const auto machine = make_json_machine(form);
    ZH_CHECK(step_all(*machine, machine->start(), tool.document) != kDeadState);
  }
  state.SetItemsProcessed(state.iterations() * bytes_of(tool));
}
BENCHMARK_CAPTURE(cold_step, weather, kWeather);
BENCHMARK_CAPTURE(cold_step, search, kSearch);
BENCHMARK_CAPTURE(cold_step, edit, kEdit);
BENCHMARK_CAPTURE(cold_step, order, kOrder);

void warm_step(benchmark::State& state, const Tool& tool) {
  const auto machine = make_json_machine(form_of(tool));
  for (int i = 0; i < 10; ++i) step_all(*machine, machine->start(), tool.document);
  for (auto _ : state) {
    benchmark::DoNotOptimize(step_all(*machine, machine->start(), tool.document));
  }
  state.SetItemsProcessed(state.iterations() * bytes_of(tool));
}
BENCHMARK_CAPTURE(warm_step, weather, kWeather);
BENCHMARK_CAPTURE(warm_step, search, kSearch);
BENCHMARK_CAPTURE(warm_step, edit, kEdit);
BENCHMARK_CAPTURE(warm_step, order, kOrder);

// All 256 bytes from each state of a document, as masks ask: time per byte.
void all_bytes(benchmark::State& state, const Tool& tool) {
  const auto form = form_of(tool);
  for (auto _ : state) {
    const auto machine = make_json_machine(form);
    MachineState at = machine->start();
    for (const char* next = tool.document; *next != 0; ++next) {
      for (unsigned byte = 0; byte < 256; ++byte) {
        benchmark::DoNotOptimize(machine->step(at, static_cast<unsigned char>(byte)));
      }
      at = machine->step(at, static_cast<unsigned char>(*next));
    }
  }
  state.SetItemsProcessed(state.iterations() * bytes_of(tool) * 256);
}
BENCHMARK_CAPTURE(all_bytes, search, kSearch);
BENCHMARK_CAPTURE(all_bytes, order, kOrder);

// What each accepted token asks: the size of the shortest end, of a state that is new.
void shortest_end_bytes(benchmark::State& state, const Tool& tool) {
  const auto form = form_of(tool);
  for (auto _ : state) {
    const auto machine = make_json_machine(form);
    MachineState at = machine->start();
    for (const char* next = tool.document; *next != 0; ++next) {
      benchmark::DoNotOptimize(machine->shortest_end_bytes(at));
      at = machine->step(at, static_cast<unsigned char>(*next));
    }
  }
  state.SetItemsProcessed(state.iterations() * bytes_of(tool));
}
BENCHMARK_CAPTURE(shortest_end_bytes, search, kSearch);
BENCHMARK_CAPTURE(shortest_end_bytes, order, kOrder);

void forced(benchmark::State& state, const Tool& tool) {
  const auto form = form_of(tool);
  for (auto _ : state) {
    const auto machine =
        make_json_machine(form, {.white_space = JsonMachineOptions::WhiteSpace::kCompact});
    MachineState at = machine->start();
    for (const char* next = tool.document; *next != 0; ++next) {
      benchmark::DoNotOptimize(machine->forced(at, 64));
      at = machine->step(at, static_cast<unsigned char>(*next));
    }
  }
  state.SetItemsProcessed(state.iterations() * bytes_of(tool));
}
BENCHMARK_CAPTURE(forced, search, kSearch);
BENCHMARK_CAPTURE(forced, order, kOrder);

}  // namespace
}  // namespace zerohop
