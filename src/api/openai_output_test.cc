#include "api/openai_output.h"

#include <gtest/gtest.h>

#include <string>

#include "api/openai_completions_request.h"
#include "api/openai_responses_request.h"
#include "api/openai_test_parse.h"

namespace zerohop {
namespace {

using openai_test::chat_complaint;
using openai_test::complaint_of;
using openai_test::kStrict;
using openai_test::parsed_chat;

ThinkingMode thinking(std::string_view fields) {
  return parsed_chat(fields).chat.conversation.thinking;
}

// Rules in one line: what they are, and where the client wrote it.
std::string described(const OutputRules& rules) {
  std::string text;
  switch (rules.format) {
    case OutputFormat::kText: return "text";
    case OutputFormat::kJson: text = "json"; break;
    case OutputFormat::kJsonSchema: text = "schema " + rules.schema; break;
    case OutputFormat::kRegex: text = "regex " + rules.pattern; break;
    case OutputFormat::kGrammar: text = "grammar " + rules.pattern; break;
    case OutputFormat::kChoice:
      for (const std::string& choice : rules.choices) text += "choice " + choice + " ";
      break;
  }
  return text + " at " + rules.field + (rules.strict ? "" : ", not strict");
}

std::string rules(std::string_view fields) {
  return described(parsed_chat(fields).chat.conversation.output);
}

TEST(OpenAiOutput, ReadsEveryFormat) {
  EXPECT_EQ(rules(""), "text");
  EXPECT_EQ(rules(R"("response_format":{"type":"text"})"), "text");
  EXPECT_EQ(rules(R"("response_format":{"type":"json_object"})"), "json at response_format");
  EXPECT_EQ(rules(R"("response_format":{"type":"json_schema","json_schema":{"name":"n","schema":)"
                  R"({"b":1,"a":2},"strict":true}})"),
            R"(schema {"b":1,"a":2} at response_format.json_schema.schema)");
  EXPECT_EQ(rules(R"("response_format":{"type":"json_schema","schema":true,"strict":true})"),
            "schema true at response_format.schema");
}

TEST(OpenAiOutput, WithoutStrictLessMayBeEnforced) {
  EXPECT_EQ(rules(R"("response_format":{"type":"json_schema","json_schema":{"schema":{}}})"),
            "schema {} at response_format.json_schema.schema, not strict");
  EXPECT_EQ(rules(R"("response_format":{"type":"json_schema","json_schema":{"schema":{},)"
                  R"("strict":false}})"),
            "schema {} at response_format.json_schema.schema, not strict");
  EXPECT_EQ(chat_complaint(R"("response_format":{"type":"json_schema","json_schema":{"schema":{},)"
                           R"("strict":"yes"}})"),
            "response_format.json_schema.strict: must be true or false, got \"yes\"");
}

TEST(OpenAiOutput, ReadsTheFieldsOfOtherServers) {
  EXPECT_EQ(rules(R"("json_schema":{"a":1})"), R"(schema {"a":1} at json_schema)");
  EXPECT_EQ(rules(R"("json_schema":"{\"a\": 1}")"), R"(schema {"a":1} at json_schema)");
  EXPECT_EQ(rules(R"("grammar":"root ::= \"x\"")"), R"(grammar root ::= "x" at grammar)");
  EXPECT_EQ(rules(R"("guided_json":{"a":1})"), R"(schema {"a":1} at guided_json)");
  EXPECT_EQ(rules(R"("guided_json":"{\"a\":1}")"), R"(schema {"a":1} at guided_json)");
  EXPECT_EQ(rules(R"("guided_json_object":true)"), "json at guided_json_object");
  EXPECT_EQ(rules(R"("guided_regex":"[ab]+")"), "regex [ab]+ at guided_regex");
  EXPECT_EQ(rules(R"("guided_choice":["yes","no"])"), "choice yes choice no  at guided_choice");
  EXPECT_EQ(rules(R"("guided_grammar":"start: \"x\"")"), R"(grammar start: "x" at guided_grammar)");
  EXPECT_EQ(rules(R"("regex":"a|b")"), "regex a|b at regex");
  EXPECT_EQ(rules(R"("ebnf":"root ::= [a]")"), "grammar root ::= [a] at ebnf");
}

TEST(OpenAiOutput, ReadsStructuredOutputs) {
  EXPECT_EQ(rules(R"("structured_outputs":{"json":{"a":1}})"),
            R"(schema {"a":1} at structured_outputs.json)");
  EXPECT_EQ(rules(R"("structured_outputs":{"json_object":true})"),
            "json at structured_outputs.json_object");
  EXPECT_EQ(rules(R"("structured_outputs":{"regex":"a","json":null,"json_object":false})"),
            "regex a at structured_outputs.regex");
  EXPECT_EQ(rules(R"("structured_outputs":{"choice":["a"]})"),
            "choice a  at structured_outputs.choice");
  EXPECT_EQ(rules(R"("structured_outputs":{"grammar":"root ::= [a]"})"),
            "grammar root ::= [a] at structured_outputs.grammar");
}

TEST(OpenAiOutput, WhatIsEmptyIsNotThere) {
  EXPECT_EQ(rules(R"("grammar":"","guided_regex":"","json_schema":null,"ebnf":"",)"
                  R"("guided_json_object":false,"structural_tag":"")"),
            "text");
}

TEST(OpenAiOutput, RefusesBrokenFormats) {
  EXPECT_EQ(chat_complaint(R"("response_format":"json")"),
            "response_format: must be an object, got \"json\"");
  EXPECT_EQ(chat_complaint(R"("response_format":{})"), "response_format.type: is required");
  EXPECT_EQ(chat_complaint(R"("response_format":{"type":"xml"})"),
            R"(response_format.type: must be "text", "json_object", "json_schema", "regex", )"
            R"("grammar" or "choice", got "xml")");
  EXPECT_EQ(chat_complaint(R"("response_format":{"type":"json_schema"})"),
            "response_format.json_schema: is required");
  EXPECT_EQ(chat_complaint(R"("response_format":{"type":"json_schema","json_schema":{}})"),
            "response_format.json_schema.schema: is required");
  EXPECT_EQ(chat_complaint(R"("guided_json":false)"),
            "guided_json: must be a JSON Schema (an object), got false");
  EXPECT_EQ(chat_complaint(R"("guided_json":"no schema")"),
            "guided_json: must be a JSON Schema (an object), got \"no schema\"");
  EXPECT_EQ(chat_complaint(R"("guided_regex":5)"), "guided_regex: must be a string, got 5");
  EXPECT_EQ(chat_complaint(R"("guided_choice":"yes")"),
            "guided_choice: must be an array, got \"yes\"");
  EXPECT_EQ(chat_complaint(R"("guided_choice":["yes",5])"),
            "guided_choice[1]: must be a string, got 5");
  EXPECT_EQ(chat_complaint(R"("structured_outputs":{})"),
            "structured_outputs: must hold `json`, `json_object`, `regex`, `choice` or `grammar`");
  EXPECT_EQ(chat_complaint(R"("structured_outputs":{"choice":[]})"),
            "structured_outputs.choice: must have at least one entry");
}

TEST(OpenAiOutput, RefusesStructuralTagsByName) {
  EXPECT_EQ(chat_complaint(R"("structural_tag":"x")"),
            "structural_tag: structural tags are not supported by this server");
  EXPECT_EQ(chat_complaint(R"("structured_outputs":{"structural_tag":"x"})"),
            "structured_outputs.structural_tag: structural tags are not supported by this server");
  EXPECT_EQ(chat_complaint(R"("response_format":{"type":"structural_tag","structures":[]})"),
            "response_format.type: structural tags are not supported by this server");
}

TEST(OpenAiOutput, TwoFormsAreRefusedByBothNames) {
  EXPECT_EQ(chat_complaint(R"("guided_regex":"a","grammar":"root ::= [a]")"),
            "grammar: must not stand beside guided_regex: an answer has one form");
  EXPECT_EQ(chat_complaint(R"("response_format":{"type":"json_object"},"json_schema":{})"),
            "json_schema: must not stand beside response_format: an answer has one form");
  EXPECT_EQ(chat_complaint(R"("structured_outputs":{"regex":"a","json":{}})"),
            "structured_outputs.regex: must not stand beside structured_outputs.json: an answer "
            "has one form");
  EXPECT_EQ(rules(R"("response_format":{"type":"text"},"guided_regex":"a")"),
            "regex a at guided_regex");
  EXPECT_EQ(rules(R"("guided_json":{"a":1},"structured_outputs":{"json":{"a": 1}})"),
            R"(schema {"a":1} at guided_json)");
}

TEST(OpenAiOutput, AFormIsNotCutByStopSequences) {
  EXPECT_EQ(chat_complaint(R"("guided_regex":"a+","stop":"b")"),
            "stop: must not stand beside guided_regex: it could end the answer before its form is "
            "complete");
  EXPECT_EQ(chat_complaint(R"("response_format":{"type":"json_object"},"soft_cap":{"at":0.5})"),
            "soft_cap: must not stand beside response_format: it could end the answer before its "
            "form is complete");
  EXPECT_EQ(rules(R"("guided_regex":"a+","stop":["",""])"), "regex a+ at guided_regex");
  EXPECT_EQ(chat_complaint(R"("stop":"b","soft_cap":{"at":0.5})"), "");
}

TEST(OpenAiOutput, EveryEndpointReadsTheSameFields) {
  const auto completion =
      parse_completions_request(R"({"prompt":"Hi","guided_choice":["a","b"]})", ParseOptions{});
  ASSERT_TRUE(completion.ok());
  EXPECT_EQ(described(completion->output), "choice a choice b  at guided_choice");
  EXPECT_EQ(complaint_of(parse_completions_request(
                R"({"prompt":"Hi","guided_choice":["a"],"stop":["x"]})", ParseOptions{})),
            "stop: must not stand beside guided_choice: it could end the answer before its form is "
            "complete");
  const auto response = parse_responses_request(
      R"({"input":"Hi","text":{"format":{"type":"json_schema","schema":{"a":1}}}})",
      ParseOptions{});
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(described(response->chat.conversation.output),
            R"(schema {"a":1} at text.format.schema, not strict)");
  EXPECT_EQ(complaint_of(parse_responses_request(
                R"({"input":"Hi","text":{"format":{"type":"json_object"}},"regex":"a"})",
                ParseOptions{})),
            "regex: must not stand beside text.format: an answer has one form");
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
