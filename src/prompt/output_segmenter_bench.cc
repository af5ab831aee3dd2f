// Cost of one token of the answer. A step at batch 8 has eight of them; the text path must not show
// beside a decode of several milliseconds.

#include <benchmark/benchmark.h>

#include <string>
#include <string_view>
#include <vector>

#include "prompt/output_segmenter.h"

namespace zerohop {
namespace {

class CountingSink final : public SegmentSink {
 public:
  void text(std::string_view bytes) override { count += bytes.size(); }
  void thinking(std::string_view bytes) override { count += bytes.size(); }
  void call_begin(std::string_view name) override { count += name.size(); }
  void call_arguments(std::string_view json) override { count += json.size(); }
  void call_end() override { ++count; }

  std::size_t count = 0;
};

void feed_tokens(benchmark::State& state, std::string_view opening,
                 const std::vector<std::string_view>& tokens) {
  OutputPlan plan;
  plan.tool_syntax = &default_tool_syntax();
  plan.thinking = ThinkingTags{"<think>", "</think>"};
  OutputSegmenter segmenter(plan);
  CountingSink sink;
  segmenter.feed(opening, sink);
  std::size_t next = 0;
  for (auto _ : state) {
    segmenter.feed(tokens[next], sink);
    next = next + 1 == tokens.size() ? 0 : next + 1;
  }
  benchmark::DoNotOptimize(sink.count);
}

void BM_Text(benchmark::State& state) {
  feed_tokens(state, "Hi", {" the", " quick", " brown", " fox", ",", " jumps", " over"});
}
void BM_Thinking(benchmark::State& state) {
  feed_tokens(state, "<think>Hm", {" the", " quick", " brown", " fox", ",", " jumps", " over"});
}
void BM_TextWithSpacesAndBrackets(benchmark::State& state) {
  feed_tokens(state, "Hi", {"<", "div", ">\n", "  ", "</", "b", ">", "\n"});
}
void BM_ArgumentString(benchmark::State& state) {
  feed_tokens(state, "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"",
              {" the", " quick", " brown", " fox", "\\n", " jumps", " over"});
}
void BM_ArgumentNumbers(benchmark::State& state) {
  feed_tokens(state, "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":[1", {",", " ", "12", ".5"});
}

BENCHMARK(BM_Text);
BENCHMARK(BM_Thinking);
BENCHMARK(BM_TextWithSpacesAndBrackets);
BENCHMARK(BM_ArgumentString);
BENCHMARK(BM_ArgumentNumbers);

}  // namespace
}  // namespace zerohop
