#include "prompt/answer_constraint.h"

#include <gtest/gtest.h>

#include "prompt/output_planner.h"
#include "prompt/output_segmenter.h"
#include "prompt/segment_recorder.h"
#include "prompt/tool_syntax.h"

namespace zerohop {
namespace {

constexpr std::string_view kWeather =
    R"({"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},)"
    R"("required":["city"],"additionalProperties":false})";
constexpr std::string_view kTimer =
    R"({"type":"object","properties":{"seconds":{"type":"integer","minimum":1}},)"
    R"("required":["seconds"],"additionalProperties":false})";
// A pattern that refers back is no regular language.
constexpr std::string_view kRefused =
    R"({"type":"object","properties":{"a":{"type":"string","pattern":"(a)\\1"}}})";
constexpr std::string_view kEmpty = R"({"type":"object","minProperties":2,"maxProperties":1})";

SchemaVerdict compile(std::string_view schema, JsonLayout layout) {
  return make_schema_machine(schema, layout);
}

struct Wish {
  OutputPlan plan;
  Conversation conversation;
};

ToolDefinition tool(std::string name, std::string_view schema) {
  ToolDefinition made;
  made.name = std::move(name);
  made.input_schema = schema;
  made.field = "tools[0].input_schema";
  return made;
}

Wish with_tools(const ToolSyntax& syntax) {
  Wish wish;
  wish.conversation.tools = {tool("get_weather", kWeather), tool("timer", kTimer)};
  wish.plan.tool_syntax = &syntax;
  return wish;
}

Result<AnswerConstraint> make(const Wish& wish) {
  return make_answer_constraint({wish.plan, wish.conversation}, compile);
}

std::unique_ptr<ConstraintMachine> machine_of(const Wish& wish) {
  auto made = make(wish);
  EXPECT_TRUE(made.ok()) << made.error().message;
  if (!made.ok() || made->machine == nullptr) return nullptr;
  return made->machine->renew();
}

bool begins(ConstraintMachine& machine, std::string_view text) {
  return step_all(machine, machine.start(), text) != kDeadState;
}

TEST(AnswerConstraint, IsNoneWhereAnythingGoes) {
  Wish wish;
  EXPECT_EQ(machine_of(wish), nullptr);
  wish = with_tools(default_tool_syntax());
  wish.conversation.constrain_tools = false;
  EXPECT_EQ(machine_of(wish), nullptr);
  wish.conversation.tools[1].strict = true;
  EXPECT_NE(machine_of(wish), nullptr);
}

TEST(AnswerConstraint, TakesCallsAsTheyAreWrittenAmongText) {
  const std::vector<ToolCallText> calls{{"get_weather", R"({"city": "Oslo", "days": 3})"},
                                        {"timer", R"({"seconds": 5})"}};
  for (const ToolSyntax& syntax : tool_syntax_table()) {
    const auto machine = machine_of(with_tools(syntax));
    ASSERT_NE(machine, nullptr);
    EXPECT_TRUE(accepts(*machine, "Nothing to do.")) << syntax.id;
    EXPECT_TRUE(accepts(*machine, write_tool_calls(syntax, calls))) << syntax.id;
    EXPECT_FALSE(begins(*machine, write_tool_call(syntax, "get_time", "{}"))) << syntax.id;
    EXPECT_FALSE(accepts(*machine, write_tool_call(syntax, "timer", "{}"))) << syntax.id;
    EXPECT_FALSE(accepts(*machine, write_tool_call(syntax, "timer", R"({"seconds": 0})")))
        << syntax.id;
    EXPECT_FALSE(
        begins(*machine, write_tool_call(syntax, "timer", R"({"seconds": 1, "minutes": 1})")))
        << syntax.id;
    if (!syntax.open.empty()) {
      EXPECT_TRUE(accepts(*machine, "Let me see. " + write_tool_calls(syntax, calls))) << syntax.id;
    }
  }
}

TEST(AnswerConstraint, FollowsTheCallThatThePromptHasBegun) {
  for (const ToolSyntax& syntax : tool_syntax_table()) {
    Wish wish = with_tools(syntax);
    const std::string whole =
        write_tool_calls(syntax, std::vector<ToolCallText>{{"timer", R"({"seconds": 5})"}});
    const std::string up_to_name = write_call_up_to_name(syntax);
    const std::string up_to_arguments = write_call_up_to_arguments(syntax, "timer");
    ASSERT_TRUE(whole.starts_with(up_to_arguments)) << syntax.id;

    wish.plan.start = OutputStart::kToolName;
    const auto named = machine_of(wish);
    EXPECT_TRUE(accepts(*named, whole.substr(up_to_name.size()))) << syntax.id;
    EXPECT_FALSE(begins(*named, "no")) << syntax.id;
    EXPECT_FALSE(accepts(*named, "")) << syntax.id;

    wish.plan.start = OutputStart::kToolArguments;
    wish.plan.forced_tool = "timer";
    const auto begun = machine_of(wish);
    EXPECT_TRUE(accepts(*begun, whole.substr(up_to_arguments.size()))) << syntax.id;
    EXPECT_FALSE(begins(*begun, "\"city")) << syntax.id;
  }
}

TEST(AnswerConstraint, EndsForcedCallsAsAReaderReadsThem) {
  for (const ToolSyntax& syntax : tool_syntax_table()) {
    Wish wish = with_tools(syntax);
    wish.plan.start = OutputStart::kToolName;
    const auto made = make(wish);
    ASSERT_TRUE(made.ok());
    const SegmentRecorder record = segment(wish.plan, {made->shortest});
    ASSERT_EQ(record.arguments.size(), 1u) << syntax.id << made->shortest;
    EXPECT_TRUE(record.str().starts_with("call[timer|") ||
                record.str().starts_with("call[get_weather|"))
        << record.str();
  }
}

TEST(AnswerConstraint, CountsCalls) {
  Wish wish = with_tools(default_tool_syntax());
  wish.plan.parallel_tool_calls = false;
  const std::string call = write_tool_call(default_tool_syntax(), "timer", R"({"seconds": 5})");
  EXPECT_TRUE(accepts(*machine_of(wish), call));
  EXPECT_FALSE(begins(*machine_of(wish), call + "\n" + call));
  wish.plan.start = OutputStart::kToolName;
  const std::size_t begun = write_call_up_to_name(default_tool_syntax()).size();
  EXPECT_TRUE(accepts(*machine_of(wish), call.substr(begun)));
  EXPECT_FALSE(begins(*machine_of(wish), call.substr(begun) + "\n"));
  wish.plan.parallel_tool_calls = true;
  EXPECT_TRUE(accepts(*machine_of(wish), call.substr(begun) + "\n" + call));
  EXPECT_FALSE(begins(*machine_of(wish), call.substr(begun) + "\nso"));
}

TEST(AnswerConstraint, LeavesDeferredToolsOutUntilTheyAreReferredTo) {
  Wish wish = with_tools(default_tool_syntax());
  wish.conversation.tools[1].deferred = true;
  const std::string call = write_tool_call(default_tool_syntax(), "timer", R"({"seconds": 5})");
  EXPECT_FALSE(begins(*machine_of(wish), call));
  ToolResultBlock result;
  result.content.emplace_back(ToolReferenceBlock{"timer"});
  wish.conversation.messages.push_back({Role::kUser, {result}});
  EXPECT_TRUE(accepts(*machine_of(wish), call));
}

TEST(AnswerConstraint, AllowsADocumentOrCalls) {
  Wish wish = with_tools(default_tool_syntax());
  wish.plan.rules = {OutputFormat::kJsonSchema, R"({"type":"array","items":{"type":"null"}})"};
  const auto machine = machine_of(wish);
  EXPECT_TRUE(accepts(*machine, "[null, null]"));
  EXPECT_FALSE(begins(*machine, " ["));
  EXPECT_FALSE(begins(*machine, "So"));
  const std::string call = write_tool_call(default_tool_syntax(), "timer", R"({"seconds": 5})");
  EXPECT_TRUE(accepts(*machine, call + "\n" + call));
  EXPECT_FALSE(begins(*machine, call + "["));
}

TEST(AnswerConstraint, FollowsEveryFormat) {
  Wish wish;
  wish.plan.rules.format = OutputFormat::kJson;
  EXPECT_TRUE(accepts(*machine_of(wish), R"({"a": [1]})"));
  EXPECT_FALSE(begins(*machine_of(wish), "["));
  wish.plan.rules.format = OutputFormat::kRegex;
  wish.plan.rules.pattern = "[ab]{2}";
  EXPECT_TRUE(accepts(*machine_of(wish), "ab"));
  EXPECT_FALSE(begins(*machine_of(wish), "abc"));
  wish.plan.rules.format = OutputFormat::kGrammar;
  wish.plan.rules.pattern = "root ::= \"x\" root \"y\" | \"-\"";
  EXPECT_TRUE(accepts(*machine_of(wish), "xx-yy"));
  wish.plan.rules.format = OutputFormat::kChoice;
  wish.plan.rules.choices = {"yes", "no"};
  EXPECT_TRUE(accepts(*machine_of(wish), "no"));
  EXPECT_EQ(make(wish)->shortest, "no");
}

TEST(AnswerConstraint, WritesIntegersInDigitsAlone) {
  Wish wish;
  wish.plan.rules = {OutputFormat::kJsonSchema, R"({"type":["integer","null"],"maximum":300})"};
  const auto integer = machine_of(wish);
  EXPECT_TRUE(accepts(*integer, "30"));
  EXPECT_TRUE(accepts(*integer, "-2"));
  EXPECT_FALSE(begins(*integer, "3."));
  EXPECT_FALSE(begins(*integer, "3e"));
  wish.plan.rules.schema = R"({"type":"number","maximum":300})";
  EXPECT_TRUE(accepts(*machine_of(wish), "3.0"));
}

// Each stands in the plan of the calls several times; a thousand of them would fill the memory.
TEST(AnswerConstraint, RefusesToolsWhoseShortestCallsAreTooLongTogether) {
  constexpr std::string_view kLong =
      R"({"type":"object","properties":{"a":{"type":"string","minLength":900000}},)"
      R"("required":["a"]})";
  Wish wish = with_tools(default_tool_syntax());
  wish.conversation.tools = {tool("one", kLong), tool("two", kLong)};
  const auto two = make(wish);
  ASSERT_TRUE(two.ok()) << two.error().message;
  EXPECT_GT(two->memory_bytes, 2U * 900'000U);  // as it is counted in a cache
  wish.conversation.tools.push_back(tool("three", kLong));
  const auto three = make(wish);
  ASSERT_FALSE(three.ok());
  EXPECT_NE(three.error().message.find("tool 'three'"), std::string::npos) << three.error().message;
}

TEST(AnswerConstraint, WritesNumbersThatReadersCanHold) {
  Wish wish;
  wish.plan.rules.format = OutputFormat::kJsonSchema;
  for (const std::string_view schema : {R"({"type":"number"})", "true", R"({"minimum":-5})"}) {
    wish.plan.rules.schema = schema;
    const auto machine = machine_of(wish);
    EXPECT_TRUE(accepts(*machine, "1.5e10")) << schema;
    EXPECT_TRUE(accepts(*machine, "0.25")) << schema;
    EXPECT_FALSE(accepts(*machine, "1.5e999")) << schema;
    EXPECT_FALSE(begins(*machine, "1.5e1000")) << schema;
  }
  wish.plan.rules.schema = R"({"type":"number","minimum":1e200})";
  EXPECT_TRUE(accepts(*machine_of(wish), "1e200"));
}

TEST(AnswerConstraint, ConstrainsTheAnswerBehindTheThoughts) {
  Wish wish;
  wish.plan.rules = {OutputFormat::kJsonSchema, R"({"type":"null"})"};
  wish.plan.thinking = ThinkingTags{"<think>\n", "\n</think>\n\n"};
  EXPECT_TRUE(accepts(*machine_of(wish), "null"));
  EXPECT_TRUE(accepts(*machine_of(wish), "<think>\nhm\n</think>\n\nnull"));
  EXPECT_FALSE(begins(*machine_of(wish), "hm"));
  wish.plan.start = OutputStart::kThinking;
  EXPECT_TRUE(accepts(*machine_of(wish), "hm</think>null"));
  EXPECT_FALSE(accepts(*machine_of(wish), "null"));
  EXPECT_EQ(make(wish)->shortest, "</think>null");
}

TEST(AnswerConstraint, LetsNoCallBeginInThoughtsInFrontOfADocument) {
  Wish wish = with_tools(default_tool_syntax());
  wish.plan.rules.format = OutputFormat::kJson;
  wish.plan.thinking = ThinkingTags{"<think>", "</think>"};
  wish.plan.start = OutputStart::kThinking;
  EXPECT_FALSE(begins(*machine_of(wish), "hm <tool_call>"));
  EXPECT_TRUE(begins(*machine_of(wish), "hm</think>\n<tool_call>\n{\"name\": \"timer\""));
}

TEST(AnswerConstraint, AllowsTheTextsOfAFormatInFrontOfADocument) {
  Wish wish;
  wish.plan.rules = {OutputFormat::kJsonSchema, R"({"type":"null"})"};
  wish.plan.framing = {"<|final|>", "<|end|>"};
  EXPECT_TRUE(accepts(*machine_of(wish), "<|final|>null"));
  EXPECT_TRUE(accepts(*machine_of(wish), "null"));
  wish.plan.thinking = ThinkingTags{"<think>", "</think>"};
  EXPECT_TRUE(accepts(*machine_of(wish), "<|final|>null"));
  EXPECT_TRUE(accepts(*machine_of(wish), "<think>hm</think><|end|><|final|>null"));
}

TEST(AnswerConstraint, ContinuesADocumentThatTheClientHasBegun) {
  Wish wish;
  wish.plan.rules = {OutputFormat::kJsonSchema, std::string(kTimer)};
  for (const std::string_view prefill : {"{", "Here it is: {", "{\"seconds\": ", "</think>{"}) {
    wish.plan.prefill = prefill;
    wish.plan.thinking = ThinkingTags{"<think>", "</think>"};
    const auto machine = machine_of(wish);
    const std::string rest = prefill.ends_with('{') ? "\"seconds\": 7}" : "7}";
    EXPECT_TRUE(accepts(*machine, rest)) << prefill;
    EXPECT_FALSE(begins(*machine, "[")) << prefill;
  }
  wish.plan.prefill = "The timer, as JSON:";
  EXPECT_TRUE(accepts(*machine_of(wish), "\n{\"seconds\": 7}"));
  for (const std::string_view prefill : {"{\"minutes\":", "{\"seconds\"\f:", "{seconds:"}) {
    wish.plan.prefill = prefill;
    const auto refused = make(wish);
    ASSERT_FALSE(refused.ok()) << prefill;
    EXPECT_EQ(refused.error().field, "messages");
  }
}

// Prefill and answer together, read as a client reads them: words, then one value.
TEST(AnswerConstraint, BeginsADocumentOnceWhateverThePrefill) {
  const struct {
    std::string_view prefill;
    std::string_view document;  // what of the prefill it begins with
  } cases[] = {{"See [1]: {", "{"},
               {"See [1]", ""},
               {"See [1]:", ""},
               {"See [1, ", ""},
               {"Step 1. {", "{"},
               {"As {it} says: {\"seconds\": ", "{\"seconds\": "},
               {"\n {\"sec", "{\"sec"},
               {"```json\n", ""},
               {"```json\n{", "{"},
               {"<think>{\"a</think>{", "{"},
               {"<think>[</think>", ""},
               {"t", ""},
               {"{\"seconds\": 7}", "{\"seconds\": 7}"}};
  for (const auto& [prefill, document] : cases) {
    Wish wish;
    wish.plan.rules = {OutputFormat::kJsonSchema, std::string(kTimer)};
    wish.plan.thinking = ThinkingTags{"<think>", "</think>"};
    wish.plan.prefill = prefill;
    const auto made = make(wish);
    ASSERT_TRUE(made.ok()) << prefill << ": " << made.error().message;
    const std::string whole(R"({"seconds": 7})");
    ASSERT_TRUE(whole.starts_with(document)) << prefill;
    const std::string rest = whole.substr(document.size());
    const auto machine = made->machine->renew();
    EXPECT_TRUE(accepts(*machine, rest)) << prefill;
    EXPECT_EQ(segment(wish.plan, {rest}).text_bytes, rest) << prefill;
    EXPECT_EQ(std::string(document) + segment(wish.plan, {made->shortest}).text_bytes,
              std::string(document) + made->shortest)
        << prefill;
  }
}

// Of an array, a bracket behind words may be the document.
TEST(AnswerConstraint, BeginsAListInThePrefillWhereOneIsAskedFor) {
  Wish wish;
  wish.plan.rules = {OutputFormat::kJsonSchema, R"({"type":"array","items":{"type":"integer"}})"};
  for (const std::string_view prefill : {"See [1]: [", "[", "Here: [1, ", "```json\n["}) {
    wish.plan.prefill = prefill;
    EXPECT_TRUE(accepts(*machine_of(wish), "2]")) << prefill;
    EXPECT_EQ(segment(wish.plan, {"2]"}).text_bytes, "2]") << prefill;
  }
  wish.plan.prefill = "See [1]:";
  EXPECT_TRUE(accepts(*machine_of(wish), " [2]"));
  EXPECT_EQ(segment(wish.plan, {" [2]"}).text_bytes, "[2]");
  wish.plan.rules.schema = R"({"type":"integer"})";
  wish.plan.prefill = "```json\n1";
  EXPECT_TRUE(accepts(*machine_of(wish), "2"));
  EXPECT_EQ(segment(wish.plan, {"2"}).text_bytes, "2");
}

TEST(AnswerConstraint, CallsAToolThatMustBeCalledBehindAWholeDocument) {
  Wish wish = with_tools(default_tool_syntax());
  wish.plan.rules.format = OutputFormat::kJson;
  wish.plan.prefill = "{}";
  wish.plan.start = OutputStart::kToolName;
  const auto made = make(wish);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(segment(wish.plan, {made->shortest}).arguments.size(), 1u) << made->shortest;
}

TEST(AnswerConstraint, RefusesSchemasThatCannotBeEnforcedWhereTheClientInsists) {
  Wish wish = with_tools(default_tool_syntax());
  wish.conversation.tools[0] = tool("odd", kRefused);
  wish.conversation.tools[0].strict = true;
  const auto refused = make(wish);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().field, "tools[0].input_schema");
  EXPECT_NE(refused.error().message.find("tool 'odd'"), std::string::npos);
  EXPECT_NE(refused.error().message.find("/properties/a pattern"), std::string::npos)
      << refused.error().message;

  Wish format;
  format.plan.rules = {OutputFormat::kJsonSchema, std::string(kRefused)};
  format.plan.rules.field = "output_format.schema";
  EXPECT_EQ(make(format).error().field, "output_format.schema");
}

TEST(AnswerConstraint, RelaxesOtherSchemasAndSaysSo) {
  Wish wish = with_tools(default_tool_syntax());
  wish.conversation.tools[0] = tool("odd", kRefused);
  const auto made = make(wish);
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(made->relaxed.size(), 1u);
  EXPECT_EQ(made->relaxed[0].tool, "odd");
  EXPECT_EQ(made->relaxed[0].pointer, "/properties/a");
  EXPECT_EQ(made->relaxed[0].keyword, "pattern");
  const auto machine = made->machine->renew();
  EXPECT_TRUE(accepts(*machine, write_tool_call(default_tool_syntax(), "odd", R"({"x": []})")));
  EXPECT_FALSE(begins(*machine, write_tool_call(default_tool_syntax(), "odd", "[]")));

  Wish format;
  format.plan.rules = {OutputFormat::kJsonSchema, std::string(kRefused)};
  format.plan.rules.strict = false;
  EXPECT_EQ(make(format)->relaxed.size(), 1u);
  EXPECT_TRUE(accepts(*machine_of(format), "[1]"));
}

TEST(AnswerConstraint, RefusesWhatNothingSatisfies) {
  for (const std::string_view schema : {kEmpty, std::string_view(R"({"type":"string"})")}) {
    Wish wish = with_tools(default_tool_syntax());
    wish.conversation.tools[0] = tool("never", schema);
    EXPECT_FALSE(make(wish).ok()) << schema;
  }
  Wish format;
  format.plan.rules = {OutputFormat::kJsonSchema, std::string(kEmpty)};
  format.plan.rules.strict = false;
  EXPECT_FALSE(make(format).ok());
}

TEST(AnswerConstraint, MakesAnObjectOfArgumentsThatMayBeAnything) {
  Wish wish = with_tools(default_tool_syntax());
  wish.conversation.tools = {tool("any", "{}")};
  const auto machine = machine_of(wish);
  EXPECT_TRUE(accepts(*machine, write_tool_call(default_tool_syntax(), "any", R"({"a": 1})")));
  EXPECT_FALSE(begins(*machine, write_tool_call(default_tool_syntax(), "any", "[]").substr(0, 45)));
}

TEST(AnswerConstraint, WritesStringsOfTaggedCallsAsTheyAre) {
  const ToolSyntax& syntax = *find_tool_syntax("qwen3-coder");
  Wish wish = with_tools(syntax);
  wish.conversation.tools = {tool("f",
                                  R"({"type":"object","properties":{"s":{"type":"string"},)"
                                  R"("e":{"type":"string","enum":["1","b"]},"n":{"type":"array"},)"
                                  R"("m":{"type":["string","null"]}},"required":["s","e"]})")};
  wish.plan.offered = offered_tools(syntax, wish.conversation.tools).value();
  const auto made = make(wish);
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(made->relaxed.size(), 1u);
  EXPECT_EQ(made->relaxed[0].pointer, "/properties/m");
  const auto machine = made->machine->renew();
  const std::string call = write_tool_call(syntax, "f", R"({"s":"42","e":"1","n":[1],"m":"x"})");
  EXPECT_TRUE(accepts(*machine, call));
  EXPECT_FALSE(begins(*machine, write_tool_call(syntax, "f", R"({"s":"a","e":"c"})")));
  EXPECT_FALSE(begins(*machine, write_tool_call(syntax, "f", R"({"e":"1"})")));
  EXPECT_FALSE(accepts(*machine, write_tool_call(syntax, "f", R"({"s":"a","e":"b","n":1})")));
  EXPECT_EQ(segment(wish.plan, {call}).str(), R"(call[f|{"s":"42","e":"1","n":[1],"m":"x"}])");
}

TEST(AnswerConstraint, EndsACallThatEndsTheTurnWithoutItsClose) {
  const ToolSyntax& syntax = *find_tool_syntax("harmony");
  Wish wish = with_tools(syntax);
  wish.plan.call_ends_turn = true;
  std::string call = write_tool_call(syntax, "timer", R"({"seconds": 5})");
  call.resize(call.size() - syntax.close.size());
  const auto machine = machine_of(wish);
  EXPECT_TRUE(accepts(*machine, call));
  EXPECT_FALSE(goes_on(*machine, step_all(*machine, machine->start(), call + " ")));
}

TEST(AnswerConstraint, HasAKeyThatTellsConstraintsApart) {
  const Wish wish = with_tools(default_tool_syntax());
  const auto key = [](const Wish& of) { return answer_constraint_key({of.plan, of.conversation}); };
  Wish other = wish;
  other.conversation.tools[0].field = "tools[7].input_schema";
  EXPECT_EQ(key(wish), key(other));
  other.conversation.tools[0].strict = true;
  EXPECT_NE(key(wish), key(other));
  other = wish;
  other.plan.start = OutputStart::kToolName;
  EXPECT_NE(key(wish), key(other));
  other = wish;
  other.plan.rules.format = OutputFormat::kJson;
  EXPECT_NE(key(wish), key(other));
  other.plan.prefill = "{";
  EXPECT_NE(key(wish), key(other));
}

}  // namespace
}  // namespace zerohop
