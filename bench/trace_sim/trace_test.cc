#include "trace_sim/trace.h"

#include <gtest/gtest.h>

namespace zerohop::trace_sim {
namespace {

constexpr std::string_view kMooncake =
    R"({"timestamp": 3000, "input_length": 600, "output_length": 5, "hash_ids": [0, 2]})"
    "\n"
    R"({"timestamp": 0, "input_length": 513, "output_length": 7, "hash_ids": [0, 1]})"
    "\r\n\n";

std::string azure(std::string_view row) {
  return "TIMESTAMP,ContextTokens,GeneratedTokens\n" + std::string(row) + "\n";
}

std::string vtc(std::string_view responses) {
  return R"({"config": {}, "result": {"responses": )" + std::string(responses) + "}}";
}

TEST(Trace, ReadsMooncakeInOrderOfArrival) {
  const Result<BlockTrace> trace = parse_mooncake(kMooncake);
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->size(), 2u);
  EXPECT_EQ(trace->front().prompt_tokens, 513u);
  EXPECT_EQ(trace->front().output_tokens, 7u);
  EXPECT_EQ(trace->front().blocks, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_DOUBLE_EQ(trace->back().seconds, 3.0);
}

TEST(Trace, ReadsAzureFromItsFirstArrivalOn) {
  const Result<LengthTrace> trace =
      parse_azure(azure("2023-11-16 18:17:03.5,4808,10\n2023-11-17 00:00:04.0,1,0"));
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->size(), 2u);
  EXPECT_DOUBLE_EQ(trace->front().seconds, 0);
  EXPECT_EQ(trace->front().prompt_tokens, 4808u);
  EXPECT_EQ(trace->front().output_tokens, 10u);
  EXPECT_NEAR(trace->back().seconds, 5 * 3600 + 43 * 60 + 0.5, 1e-6);
}

TEST(Trace, ReadsVtcWithItsClients) {
  const Result<LengthTrace> trace =
      parse_vtc(vtc(R"([{"adapter_dir": "b", "prompt_len": 3, "output_len": 4, "req_time": 2.5},
              {"adapter_dir": "a", "prompt_len": 0, "output_len": 1, "req_time": 0.5}])"));
  // Line breaks inside end the object: the form is one line.
  EXPECT_FALSE(trace);
  const Result<LengthTrace> line =
      parse_vtc(vtc(R"([{"adapter_dir": "b", "prompt_len": 3, "output_len": 4, "req_time": 2.5}, )"
                    R"({"adapter_dir": "a", "prompt_len": 0, "output_len": 1, "req_time": 0.5}])"));
  ASSERT_TRUE(line);
  EXPECT_EQ(line->front().client, "a");
  EXPECT_EQ(line->front().prompt_tokens, 1u);
  EXPECT_DOUBLE_EQ(line->back().seconds, 2.0);
}

TEST(Trace, KnowsTheFormByTheFirstLine) {
  EXPECT_EQ(trace_form(kMooncake).value(), TraceForm::kMooncake);
  EXPECT_EQ(trace_form(azure("")).value(), TraceForm::kAzure);
  EXPECT_EQ(trace_form(vtc("[]")).value(), TraceForm::kVtc);
  for (const std::string_view other : {"", "hello", "{}", "{\"hash\": 1}\n\"hash_ids\"", "[1,2]"}) {
    EXPECT_FALSE(trace_form(other)) << other;
  }
}

TEST(Trace, RefusesBadMooncakeLinesByNumberAndField) {
  const std::string good(kMooncake);
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"", "file"},
      {"\n\n", "file"},
      {"{", "line 1"},
      {"[]", "line 1"},
      {R"({"input_length": 1, "output_length": 1, "hash_ids": [1]})", "line 1, timestamp"},
      {R"({"timestamp": -1, "input_length": 1, "output_length": 1, "hash_ids": [1]})",
       "line 1, timestamp"},
      {R"({"timestamp": 0, "input_length": "1", "output_length": 1, "hash_ids": [1]})",
       "line 1, input_length"},
      {R"({"timestamp": 0, "input_length": 1, "output_length": 1e99, "hash_ids": [1]})",
       "line 1, output_length"},
      {R"({"timestamp": 0, "input_length": 1, "output_length": 1})", "line 1, hash_ids"},
      {R"({"timestamp": 0, "input_length": 1, "output_length": 1, "hash_ids": []})",
       "line 1, hash_ids"},
      {R"({"timestamp": 0, "input_length": 1, "output_length": 1, "hash_ids": [1, null]})",
       "line 1, hash_ids"},
      {R"({"timestamp": 0, "input_length": 1, "output_length": 1, "hash_ids": [-1]})",
       "line 1, hash_ids"},
      {good + "{\"timestamp\": ", "line 4"}};
  for (const auto& [text, field] : bad) {
    const Result<BlockTrace> trace = parse_mooncake(text);
    ASSERT_FALSE(trace) << text;
    EXPECT_EQ(trace.error().field, field) << text;
  }
}

TEST(Trace, RefusesBadAzureLines) {
  for (const std::string_view row :
       {"2023-11-16 18:17:03.9,1", "2023-11-16 18:17:03.9,1,2,3", "yesterday,1,2",
        "2023-13-16 18:17:03.9,1,2", "2023-11-16 25:17:03.9,1,2", "2023-11-16 18:17:xx,1,2",
        "2023-11-16 18:17:03.9,0,2", "2023-11-16 18:17:03.9,1e99,2", "2023-11-16 18:17:03.9,1,-2",
        "2023-11-16 18:17:03.9,1,nan", "2023-11-16 18:17:03.9,,"}) {
    EXPECT_FALSE(parse_azure(azure(row))) << row;
  }
  EXPECT_FALSE(parse_azure("TIMESTAMP,ContextTokens,GeneratedTokens\n"));
}

TEST(Trace, RefusesBadVtcObjects) {
  for (const std::string& text :
       {std::string("{"), std::string("{}"), vtc("{}"), vtc("[]"), vtc("[1]"), vtc("[{}]"),
        vtc(R"([{"prompt_len": 3, "output_len": 4, "req_time": 2}])"),
        vtc(R"([{"adapter_dir": 1, "prompt_len": 3, "output_len": 4, "req_time": 2}])"),
        vtc(R"([{"adapter_dir": "a", "prompt_len": -3, "output_len": 4, "req_time": 2}])")}) {
    EXPECT_FALSE(parse_vtc(text)) << text;
  }
}

TEST(Trace, SaysWhenAFileIsNotThere) {
  const Result<std::string> text = read_trace("no/such/trace.jsonl");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace zerohop::trace_sim
