#include "api/anthropic_settings.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "api/anthropic_request.h"
#include "api/error_body.h"
#include "core/limits.h"

namespace zerohop {
namespace {

constexpr ParseOptions kStrict{.strictness = Strictness::kStrict};

Result<AnthropicRequest> parse(std::string_view fields, const ParseOptions& options = {}) {
  return parse_messages_request(
      R"({"model":"m","max_tokens":2000,"messages":[{"role":"user","content":"Hi"}],)" +
          std::string(fields) + "}",
      options);
}

std::string thinking(std::string_view fields, const ParseOptions& options = {}) {
  const auto parsed = parse(fields, options);
  if (!parsed.ok()) return error_text(parsed.error());
  const char* const names[] = {"default", "enabled", "disabled"};
  const bool omitted = parsed->reply.thinking == ThinkingDisplay::kOmitted;
  return names[static_cast<int>(parsed->chat.conversation.thinking)] +
         std::string(omitted ? " omitted" : "");
}

TEST(AnthropicThinking, ReadsEveryType) {
  EXPECT_EQ(thinking(R"("thinking":null)"), "default");
  EXPECT_EQ(thinking(R"("thinking":{"type":"enabled","budget_tokens":1024})"), "enabled");
  EXPECT_EQ(thinking(R"("thinking":{"type":"adaptive"})"), "enabled");
  EXPECT_EQ(thinking(R"("thinking":{"type":"disabled"})"), "disabled");
  EXPECT_EQ(thinking(R"("thinking":{"type":"between_tools"})"), "disabled");
  EXPECT_EQ(thinking(R"("thinking":{"type":"adaptive","display":"omitted"})"), "enabled omitted");
  EXPECT_EQ(thinking(R"("thinking":{"type":"adaptive","display":"summarized"})"), "enabled");
  EXPECT_EQ(thinking(R"("thinking":{"type":"adaptive","display":null,
      "block_binding":{"prefix_mismatch_behavior":"error"}})"),
            "enabled");
}

TEST(AnthropicThinking, NamesWhatIsWrong) {
  EXPECT_EQ(thinking(R"("thinking":{})"), "thinking.type: is required");
  EXPECT_EQ(thinking(R"("thinking":{"type":"deep"})"),
            "thinking.type: must be \"enabled\", \"adaptive\", \"between_tools\" or \"disabled\", "
            "got \"deep\"");
  EXPECT_EQ(thinking(R"("thinking":{"type":"enabled","budget_tokens":"many"})"),
            "thinking.budget_tokens: must be an integer from 0 to 2147483647, got \"many\"");
  EXPECT_EQ(thinking(R"("thinking":{"type":"adaptive","display":5})"),
            "thinking.display: must be a string, got 5");
}

TEST(AnthropicThinking, StrictModeChecksTheBudget) {
  EXPECT_EQ(thinking(R"("thinking":{"type":"enabled"})"), "enabled");
  EXPECT_EQ(thinking(R"("thinking":{"type":"enabled","budget_tokens":10})"), "enabled");
  EXPECT_EQ(thinking(R"("thinking":{"type":"enabled"})", kStrict),
            "thinking.budget_tokens: is required");
  EXPECT_EQ(thinking(R"("thinking":{"type":"enabled","budget_tokens":1023})", kStrict),
            "thinking.budget_tokens: must be an integer from 1024 to 2147483647, got 1023");
  EXPECT_EQ(thinking(R"("thinking":{"type":"enabled","budget_tokens":2000})", kStrict),
            "max_tokens: must be greater than thinking.budget_tokens");
  EXPECT_EQ(thinking(R"("thinking":{"type":"enabled","budget_tokens":1999})", kStrict), "enabled");
}

TEST(AnthropicThinking, UnderstandsReasoningEffortUnlessStrict) {
  EXPECT_EQ(thinking(R"("reasoning_effort":"none")"), "disabled");
  EXPECT_EQ(thinking(R"("reasoning_effort":"high")"), "enabled");
  EXPECT_EQ(thinking(R"("reasoning_effort":"high","thinking":{"type":"disabled"})"), "disabled");
  EXPECT_EQ(thinking(R"("reasoning_effort":3)"), "reasoning_effort: must be a string, got 3");
  EXPECT_EQ(thinking(R"("reasoning_effort":"high")", kStrict),
            "reasoning_effort: is not a field of the Messages API (strict mode)");
}

std::string output(std::string_view fields, const ParseOptions& options = {}) {
  const auto parsed = parse(fields, options);
  if (!parsed.ok()) return error_text(parsed.error());
  const OutputRules& rules = parsed->chat.conversation.output;
  const char* const names[] = {"text", "json", "schema", "regex", "grammar", "choice"};
  std::string shown = names[static_cast<int>(rules.format)];
  if (!rules.schema.empty()) shown += " " + rules.schema;
  if (!rules.pattern.empty()) shown += " " + rules.pattern;
  for (const std::string& choice : rules.choices) shown += " " + choice;
  if (!rules.field.empty()) shown += " at " + rules.field;
  return shown + (rules.strict ? "" : ", not strict");
}

TEST(AnthropicOutput, ReadsTheFormatUnderEveryNameItEverHad) {
  const std::string format = R"({"type":"json_schema","schema":{"type": "object"}})";
  const std::string wanted = R"(schema {"type":"object"} at )";
  EXPECT_EQ(output(R"("output_config":{"format":)" + format + "}"),
            wanted + "output_config.format.schema");
  EXPECT_EQ(output(R"("output_format":)" + format), wanted + "output_format.schema");
  EXPECT_EQ(output(R"("response_format":{"type":"json_schema","json_schema":{"name":"n",
      "strict":true,"schema":{"type": "object"}}})"),
            wanted + "response_format.json_schema.schema");
  EXPECT_EQ(output(R"("response_format":{"type":"json_object"})"), "json at response_format");
  EXPECT_EQ(output(R"("response_format":{"type":"text"})"), "text");
  EXPECT_EQ(output(R"("output_config":{"effort":null,"format":null,"task_budget":null})"), "text");
  EXPECT_EQ(output(R"("output_config":{"effort":"high","task_budget":{"type":"tokens"}})"), "text");
  EXPECT_EQ(output(R"("output_format":{"type":"json_schema","schema":true})"),
            "schema true at output_format.schema");
}

TEST(AnthropicOutput, HasFormatsOfItsOwn) {
  EXPECT_EQ(output(R"("output_config":{"format":{"type":"regex","pattern":"a+"}})"),
            "regex a+ at output_config.format.pattern");
  EXPECT_EQ(output(R"("output_config":{"format":{"type":"grammar","grammar":"root ::= [a]"}})"),
            "grammar root ::= [a] at output_config.format.grammar");
  EXPECT_EQ(output(R"("output_format":{"type":"choice","choices":["yes","no"]})"),
            "choice yes no at output_format.choices");
  EXPECT_EQ(output(R"("output_config":{"format":{"type":"regex","pattern":"a+"}})", kStrict),
            "output_config.format.type: must be \"json_schema\", got \"regex\"");
}

TEST(AnthropicOutput, IsEnforcedUnlessItSaysOtherwise) {
  EXPECT_EQ(output(R"("output_format":{"type":"json_schema","schema":{},"strict":false})"),
            "schema {} at output_format.schema, not strict");
  EXPECT_EQ(output(R"("output_format":{"type":"json_schema","schema":{},"strict":true})"),
            "schema {} at output_format.schema");
  // The other dialect's form means what it means there.
  EXPECT_EQ(output(R"("response_format":{"type":"json_schema","json_schema":{"schema":{}}})"),
            "schema {} at response_format.json_schema.schema, not strict");
}

TEST(AnthropicOutput, TwoFormsAreRefusedByBothNames) {
  EXPECT_EQ(output(R"("output_config":{"format":{"type":"json_schema","schema":{}}},
      "output_format":{"type":"json_schema","schema":{"a":1}})"),
            "output_format: must not stand beside output_config.format: an answer has one form");
  EXPECT_EQ(output(R"("output_config":{"format":{"type":"json_schema","schema":{"a":1}}},
      "output_format":{"type":"json_schema","schema":{"a": 1}},"response_format":{"type":"text"})"),
            R"(schema {"a":1} at output_config.format.schema)");
}

TEST(AnthropicOutput, AFormIsNotCutByStopSequences) {
  const std::string format = R"("output_format":{"type":"json_schema","schema":{}})";
  EXPECT_EQ(output(format + R"(,"stop_sequences":["x"])"),
            "stop_sequences: must not stand beside output_format.schema: it could end the answer "
            "before its form is complete");
  EXPECT_EQ(output(format + R"(,"stop":"x")"),
            "stop: must not stand beside output_format.schema: it could end the answer before its "
            "form is complete");
  EXPECT_EQ(output(format + R"(,"stop_sequences":[])"), "schema {} at output_format.schema");
}

TEST(AnthropicOutput, NamesWhatIsWrong) {
  EXPECT_EQ(output(R"("output_config":{"format":{"type":"json_schema"}})"),
            "output_config.format.schema: is required");
  EXPECT_EQ(output(R"("output_config":{"format":{"type":"json_schema","schema":"x"}})"),
            "output_config.format.schema: must be a JSON Schema (an object), got \"x\"");
  EXPECT_EQ(output(R"("output_config":{"format":{"type":"json_schema","schema":false}})"),
            "output_config.format.schema: must be a JSON Schema (an object), got false");
  EXPECT_EQ(output(R"("output_config":{"format":{"type":"haiku"}})"),
            "output_config.format.type: must be \"text\", \"json_object\", \"json_schema\", "
            "\"regex\", \"grammar\" or \"choice\", got \"haiku\"");
  EXPECT_EQ(output(R"("output_config":{"effort":5})"),
            "output_config.effort: must be a string, got 5");
  EXPECT_EQ(output(R"("response_format":{"type":"json_schema","json_schema":{}})"),
            "response_format.json_schema.schema: is required");
  EXPECT_EQ(output(R"("output_config":{"effort":"heroic"})"), "text");
  EXPECT_EQ(
      output(R"("output_config":{"effort":"heroic"})", kStrict),
      "output_config.effort: must be \"low\", \"medium\", \"high\", \"xhigh\" or \"max\", got "
      "\"heroic\"");
  EXPECT_EQ(output(R"("response_format":{"type":"text"})", kStrict),
            "response_format: is not a field of the Messages API (strict mode)");
}

TEST(AnthropicTools, AreConstrainedUnlessTheRequestSaysOtherwise) {
  const auto constrained = [](std::string_view fields) {
    return parse(fields).value().chat.conversation.constrain_tools;
  };
  EXPECT_TRUE(constrained(R"("constrain_tools":null)"));
  EXPECT_FALSE(constrained(R"("constrain_tools":false)"));
  EXPECT_EQ(error_text(parse(R"("constrain_tools":"no")").error()),
            "constrain_tools: must be true or false, got \"no\"");
}

std::string context(std::string_view metadata, const ParseOptions& options = {}) {
  const auto parsed = parse(R"("metadata":)" + std::string(metadata), options);
  return parsed.ok() ? parsed->chat.conversation.volatile_context : error_text(parsed.error());
}

TEST(AnthropicMetadata, ItsContextIsWhatChangesWithEveryRequest) {
  EXPECT_EQ(context(R"({"context":"It is noon."})"), "It is noon.");
  EXPECT_EQ(context(R"({"user_id":"u","context":null})"), "");
  EXPECT_EQ(context(R"({"context":5})"), "metadata.context: must be a string, got 5");
  const std::string most(limits::kVolatileContextBytesMax, 'x');
  EXPECT_EQ(context(R"({"context":")" + most + "\"}"), most);
  EXPECT_EQ(context(R"({"context":"x)" + most + "\"}"),
            "metadata.context: must be at most 65536 bytes long, got 65537");
}

TEST(AnthropicMetadata, CountingReadsTheContextToo) {
  const auto counted = parse_count_tokens_request(
      R"({"metadata":{"context":"noon"},"messages":[{"role":"user","content":"Hi"}]})", {});
  ASSERT_TRUE(counted.ok());
  EXPECT_EQ(counted->conversation.volatile_context, "noon");
}

TEST(AnthropicMetadata, UserIdsAreBoundedWhenStrict) {
  const std::string id(257, 'u');
  EXPECT_EQ(context(R"({"user_id":")" + id + "\"}"), "");
  EXPECT_EQ(context(R"({"user_id":")" + id + "\"}", kStrict),
            "metadata.user_id: must be at most 256 bytes long, got 257");
}

TEST(AnthropicContextManagement, IsAcceptedAndRemembered) {
  const auto asked = parse(R"("context_management":{"edits":[{"type":"clear_thinking_20251015",
      "keep":"all"}]})");
  ASSERT_TRUE(asked.ok());
  EXPECT_TRUE(asked->reply.context_management);
  const auto silent = parse(R"("context_management":null)");
  ASSERT_TRUE(silent.ok());
  EXPECT_FALSE(silent->reply.context_management);
  EXPECT_EQ(error_text(parse(R"("context_management":5)").error()),
            "context_management: must be an object, got 5");
  EXPECT_EQ(error_text(parse(R"("context_management":{"edits":5})").error()),
            "context_management.edits: must be an array, got 5");
}

TEST(AnthropicIgnoredFields, HaveNoEffectButATypeWhereItIsKnown) {
  EXPECT_TRUE(parse(R"("fallbacks":[{"model":"x"}],"fallback_credit_token":"t","speed":"fast",
      "billing_policy":{},"inference_geo":"eu","service_tier":"auto",
      "anthropic_version":"vertex-2023-10-16","diagnostics":{"previous_message_id":null})")
                  .ok());
  EXPECT_EQ(error_text(parse(R"("diagnostics":"why")").error()),
            "diagnostics: must be an object, got \"why\"");
  EXPECT_EQ(error_text(parse(R"("anthropic_version":5)").error()),
            "anthropic_version: must be a string, got 5");
}

TEST(AnthropicDiagnostics, AreAskedForByField) {
  const auto asked =
      parse(R"("diagnostics":{"previous_message_id":"msg_1","prompt_breakdown":true})");
  ASSERT_TRUE(asked.ok());
  EXPECT_TRUE(asked->reply.diagnostics.cache_miss);
  EXPECT_TRUE(asked->reply.diagnostics.prompt_breakdown);
  const auto silent = parse(R"("diagnostics":{"previous_message_id":null})");
  ASSERT_TRUE(silent.ok());
  EXPECT_FALSE(silent->reply.diagnostics.cache_miss);
  EXPECT_FALSE(silent->reply.diagnostics.prompt_breakdown);
  EXPECT_EQ(error_text(parse(R"("diagnostics":{"prompt_breakdown":1})").error()),
            "diagnostics.prompt_breakdown: must be true or false, got 1");
}

TEST(AnthropicVersion, OfTheBodyIsFoundBeforeTheRequestIsRead) {
  EXPECT_EQ(anthropic_version_of(R"({"anthropic_version":"vertex-2023-10-16","messages":1})"),
            "vertex-2023-10-16");
  for (const char* body : {"{}", "[]", "no JSON", R"({"anthropic_version":5})", ""}) {
    EXPECT_EQ(anthropic_version_of(body), "") << body;
  }
}

TEST(AnthropicContext, IsCountedAsWell) {
  const auto counted = parse_count_tokens_request(
      R"({"messages":[{"role":"user","content":"Hi"}],"metadata":{"context":"It is noon."}})", {});
  ASSERT_TRUE(counted.ok());
  EXPECT_EQ(counted->conversation.volatile_context, "It is noon.");
}

}  // namespace
}  // namespace zerohop
