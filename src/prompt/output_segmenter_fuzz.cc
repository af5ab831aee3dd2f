// Fuzz target: any output, read in one piece and cut at random, gives the same; arguments are JSON
// objects; an answer that must be JSON is JSON. The first byte chooses the form of tool calls, the
// second what else the plan asks for, the third the cuts.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "constrain/json_oracle.h"
#include "prompt/segment_recorder.h"

namespace zerohop {
namespace {

OutputPlan plan_of(std::uint8_t form, std::uint8_t bits) {
  OutputPlan plan;
  const auto table = tool_syntax_table();
  if (form % (table.size() + 1) > 0) plan.tool_syntax = &table[form % (table.size() + 1) - 1];
  if ((bits & 1) == 0) plan.thinking = ThinkingTags{"<think>", "</think>"};
  if ((bits & 2) != 0) plan.parallel_tool_calls = false;
  if ((bits & 4) != 0) plan.rules.format = OutputFormat::kJson;
  if ((bits & 8) != 0) plan.rules.format = OutputFormat::kJsonSchema;
  plan.start = static_cast<OutputStart>((bits >> 4) & 3);
  plan.forced_tool = "f";
  if ((bits & 64) != 0) {
    const ParameterKinds kinds{{"s"}, {"k", "n"}};
    plan.offered = std::make_shared<const OfferedTools>(
        OfferedTools{{"f", kinds}, {"f g", kinds}, {"f: g", kinds}});
  }
  return plan;
}

void check(const OutputPlan& plan, std::string_view output, std::uint64_t seed) {
  const SegmentRecorder whole = segment(plan, {output});
  std::vector<std::string_view> pieces;
  Random random(seed);
  std::string_view rest = output;
  while (!rest.empty()) {
    pieces.push_back(rest.substr(0, 1 + random.below(6)));
    rest.remove_prefix(pieces.back().size());
  }
  const SegmentRecorder cut = segment(plan, pieces);
  if (cut.str() != whole.str()) {
    std::fprintf(stderr, "whole: %s\ncut:   %s\n", whole.str().c_str(), cut.str().c_str());
    ZH_CHECK(cut.str() == whole.str());
  }
  for (const std::string& json : whole.arguments) ZH_CHECK(JsonOracle::accepts_object(json));
  ZH_CHECK(plan.parallel_tool_calls || whole.arguments.size() <= 1);
  if (plan.rules.format != OutputFormat::kText && !whole.text_bytes.empty()) {
    ZH_CHECK(JsonOracle::accepts(whole.text_bytes));
  }
}

}  // namespace
}  // namespace zerohop

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  std::string output;
  for (std::size_t i = 3; i < size; ++i) output.push_back(static_cast<char>(data[i]));
  zerohop::check(zerohop::plan_of(data[0], data[1]), output, data[2]);
  return 0;
}
