#include "api/openai_output.h"

#include <gtest/gtest.h>

#include <string>

#include "api/openai_test_parse.h"

namespace zerohop {
namespace {

using openai_test::chat_complaint;
using openai_test::kStrict;
using openai_test::parsed_chat;

OutputRules rules(std::string_view fields) { return parsed_chat(fields).chat.conversation.output; }

ThinkingMode thinking(std::string_view fields) {
  return parsed_chat(fields).chat.conversation.thinking;
}

void expect_schema(std::string_view fields, std::string_view schema) {
  const OutputRules read = rules(fields);
  EXPECT_EQ(read.format, OutputFormat::kJsonSchema) << fields;
  EXPECT_EQ(read.schema, schema) << fields;
}

TEST(OpenAiOutput, ReadsEveryFormat) {
  EXPECT_EQ(rules("").format, OutputFormat::kText);
  EXPECT_EQ(rules(R"("response_format":{"type":"text"})").format, OutputFormat::kText);
  EXPECT_EQ(rules(R"("response_format":{"type":"json_object"})").format, OutputFormat::kJson);
  expect_schema(R"("response_format":{"type":"json_schema","json_schema":{"name":"n","schema":)"
                R"({"b":1,"a":2}}})",
                R"({"b":1,"a":2})");
  expect_schema(R"("response_format":{"type":"json_schema","schema":true})", "true");
  expect_schema(R"("response_format":{"type":"json_object","schema":{"a":1}})", R"({"a":1})");
}

TEST(OpenAiOutput, ReadsSchemasOfOtherServers) {
  expect_schema(R"("json_schema":{"a":1})", R"({"a":1})");
  expect_schema(R"("guided_json":{"a":1})", R"({"a":1})");
  expect_schema(R"("structured_outputs":{"json":{"a":1}})", R"({"a":1})");
  EXPECT_EQ(rules(R"("structured_outputs":{"json_object":true})").format, OutputFormat::kJson);
}

TEST(OpenAiOutput, RefusesBrokenFormats) {
  EXPECT_EQ(chat_complaint(R"("response_format":"json")"),
            "response_format: must be an object, got \"json\"");
  EXPECT_EQ(chat_complaint(R"("response_format":{})"), "response_format.type: is required");
  EXPECT_EQ(chat_complaint(R"("response_format":{"type":"xml"})"),
            R"(response_format.type: must be "text", "json_object" or "json_schema", got "xml")");
  EXPECT_EQ(chat_complaint(R"("response_format":{"type":"json_schema"})"),
            "response_format.json_schema: is required");
  EXPECT_EQ(chat_complaint(R"("response_format":{"type":"json_schema","json_schema":{}})"),
            "response_format.json_schema.schema: is required");
  EXPECT_EQ(chat_complaint(R"("guided_json":false)"),
            "guided_json: must be a JSON schema (an object), got false");
  EXPECT_EQ(chat_complaint(R"("structured_outputs":{"regex":"a"})"),
            "structured_outputs: must hold `json` or `json_object`; no other rules are supported");
}

TEST(OpenAiOutput, RefusesGrammarsByName) {
  EXPECT_EQ(chat_complaint(R"("grammar":"root ::= x")"),
            "grammar: grammars are not supported by this server");
  EXPECT_EQ(chat_complaint(R"("guided_regex":"a")"),
            "guided_regex: patterns for output are not supported by this server");
  EXPECT_EQ(rules(R"("grammar":"")").format, OutputFormat::kText);
}

TEST(OpenAiOutput, ReadsReasoningEffort) {
  EXPECT_EQ(thinking(""), ThinkingMode::kDefault);
  for (const std::string_view off : {"none", "minimal"}) {
    EXPECT_EQ(thinking(R"("reasoning_effort":")" + std::string(off) + "\""),
              ThinkingMode::kDisabled);
  }
  for (const std::string_view on : {"low", "medium", "high", "xhigh", "max"}) {
    EXPECT_EQ(thinking(R"("reasoning_effort":")" + std::string(on) + "\""), ThinkingMode::kEnabled);
  }
  EXPECT_EQ(thinking(R"("reasoning":{"effort":"none"},"reasoning_effort":"high")"),
            ThinkingMode::kDisabled);
}

TEST(OpenAiOutput, LeavesTheDefaultForAnUnknownEffortUnlessStrict) {
  EXPECT_EQ(thinking(R"("reasoning_effort":"heroic")"), ThinkingMode::kDefault);
  EXPECT_EQ(chat_complaint(R"("model":"m","reasoning_effort":"heroic")", kStrict),
            R"(reasoning_effort: must be "none", "minimal", "low", "medium", "high", "xhigh" or )"
            R"("max", got "heroic")");
  EXPECT_EQ(chat_complaint(R"("reasoning_effort":5)"), "reasoning_effort: must be a string, got 5");
}

TEST(OpenAiOutput, ReadsTheSwitchInsideReasoning) {
  EXPECT_EQ(thinking(R"("reasoning":{"enabled":false},"reasoning_effort":"high")"),
            ThinkingMode::kDisabled);
  EXPECT_EQ(thinking(R"("reasoning":{"effort":"low","enabled":false})"), ThinkingMode::kEnabled);
  EXPECT_EQ(chat_complaint(R"("reasoning":{"enabled":1})"),
            "reasoning.enabled: must be true or false, got 1");
}

TEST(OpenAiOutput, PrefersAnExplicitSwitchToAnEffort) {
  EXPECT_EQ(thinking(R"("chat_template_kwargs":{"enable_thinking":false},"enable_thinking":true)"),
            ThinkingMode::kDisabled);
  EXPECT_EQ(thinking(R"("chat_template_kwargs":{"thinking":true},"reasoning_effort":"none")"),
            ThinkingMode::kEnabled);
  EXPECT_EQ(thinking(R"("enable_thinking":true,"reasoning_effort":"none")"),
            ThinkingMode::kEnabled);
  EXPECT_EQ(thinking(R"("thinking":{"type":"disabled"},"reasoning_effort":"high")"),
            ThinkingMode::kDisabled);
  EXPECT_EQ(thinking(R"("thinking":{"type":"enabled"})"), ThinkingMode::kEnabled);
  EXPECT_EQ(thinking(R"("chat_template_kwargs":{"other":1},"reasoning_effort":"low")"),
            ThinkingMode::kEnabled);
  EXPECT_EQ(chat_complaint(R"("chat_template_kwargs":{"enable_thinking":"yes"})"),
            "chat_template_kwargs.enable_thinking: must be true or false, got \"yes\"");
}

}  // namespace
}  // namespace zerohop
