#include "api/anthropic_tools.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "api/anthropic_request.h"
#include "api/anthropic_tool_table.h"
#include "api/error_body.h"
#include "api/json_reader.h"

namespace zerohop {
namespace {

constexpr ParseOptions kStrict{.strictness = Strictness::kStrict};

Result<AnthropicRequest> parse(std::string_view fields, const ParseOptions& options = {}) {
  return parse_messages_request(
      R"({"model":"m","max_tokens":5,"messages":[{"role":"user","content":"Hi"}],)" +
          std::string(fields) + "}",
      options);
}

// `name[ strict][ deferred]: description schema`, one line a tool; or the complaint.
std::string listing(const Result<AnthropicRequest>& parsed) {
  if (!parsed.ok()) return error_text(parsed.error());
  std::string text;
  for (const ToolDefinition& tool : parsed->chat.conversation.tools) {
    text += tool.name + (tool.strict ? " strict" : "") + (tool.deferred ? " deferred" : "") + ": " +
            tool.description + " " + tool.input_schema + "\n";
  }
  return text;
}
std::string tool(std::string_view entry) {
  return listing(parse(R"("tools":[)" + std::string(entry) + "]"));
}
std::string strict_tool(std::string_view entry) {
  return listing(parse(R"("tools":[)" + std::string(entry) + "]", kStrict));
}

TEST(AnthropicTools, ReadsCustomToolsWithAllTheirFields) {
  EXPECT_EQ(tool(R"({"name":"get_weather","description":"Weather.","strict":true,
      "defer_loading":true,"eager_input_streaming":true,"allowed_callers":["direct"],
      "cache_control":{"type":"ephemeral"},"type":"custom",
      "input_schema":{"type":"object","properties":{"b":{},"a":{}},"required":["b"]}})"),
            "get_weather strict deferred: Weather. "
            R"({"type":"object","properties":{"b":{},"a":{}},"required":["b"]})"
            "\n");
  EXPECT_EQ(tool(R"({"name":"f","type":null,"description":null,"strict":null,"defer_loading":null,
      "eager_input_streaming":null,"allowed_callers":null,"input_examples":null,
      "cache_control":null,"input_schema":{}})"),
            "f:  {}\n");
}

TEST(AnthropicTools, KnowWhereTheirSchemasWereWritten) {
  const auto parsed = parse(R"("tools":[{"type":"web_search_20250305","name":"web_search"},
      {"name":"f","input_schema":{},"live_arguments":true},
      {"type":"function","function":{"name":"g","parameters":{}}},{"name":"h"}])");
  ASSERT_TRUE(parsed.ok());
  const auto& tools = parsed->chat.conversation.tools;
  ASSERT_EQ(tools.size(), 3u);
  EXPECT_EQ(tools[0].field, "tools[1].input_schema");
  EXPECT_EQ(tools[1].field, "tools[2].function.parameters");
  EXPECT_EQ(tools[2].field, "");
  EXPECT_TRUE(tools[0].live_arguments);
  EXPECT_FALSE(tools[1].live_arguments);
  EXPECT_EQ(tool(R"({"name":"f","input_schema":{},"live_arguments":"1"})"),
            "tools[0].live_arguments: must be true or false, got \"1\"");
}

TEST(AnthropicTools, NumbersOfASchemaKeepTheirDigits) {
  EXPECT_EQ(tool(R"({"name":"f","input_schema":{"const":12345678901234567890123,"x":0.10}})"),
            "f:  {\"const\":12345678901234567890123,\"x\":0.1}\n");
}

TEST(AnthropicTools, ShowsExamplesBehindTheDescription) {
  EXPECT_EQ(tool(R"({"name":"f","description":"D","input_schema":{},
      "input_examples":[{"a": 1},{"a": 2}]})"),
            "f: D\nExample input: {\"a\":1}\nExample input: {\"a\":2} {}\n");
}

TEST(AnthropicTools, AToolWithoutASchemaHasNoParametersUnlessStrict) {
  EXPECT_EQ(tool(R"({"name":"f"})"), "f:  {\"type\":\"object\",\"properties\":{}}\n");
  EXPECT_EQ(strict_tool(R"({"name":"f"})"), "tools[0].input_schema: is required");
  EXPECT_EQ(strict_tool(R"({"name":"f","input_schema":{}})"),
            "tools[0].input_schema.type: is required");
  EXPECT_EQ(strict_tool(R"({"name":"f","input_schema":{"type":"array"}})"),
            "tools[0].input_schema.type: must be \"object\", got \"array\"");
}

TEST(AnthropicTools, NamesWhatIsWrongWithATool) {
  EXPECT_EQ(listing(parse(R"("tools":{})")), "tools: must be an array, got an object");
  EXPECT_EQ(tool("5"), "tools[0]: must be an object, got 5");
  EXPECT_EQ(tool("{}"), "tools[0].name: is required");
  EXPECT_EQ(tool(R"({"name":5})"), "tools[0].name: must be a string, got 5");
  EXPECT_EQ(tool(R"({"name":""})"), "tools[0].name: must be from 1 to 128 bytes long, got 0");
  EXPECT_EQ(tool(R"({"name":"a\nb"})"), "tools[0].name: must hold printable characters only");
  EXPECT_EQ(tool(R"({"name":"f","input_schema":true})"),
            "tools[0].input_schema: must be an object, got true");
  EXPECT_EQ(tool(R"({"name":"f","description":[]})"),
            "tools[0].description: must be a string, got an array");
  EXPECT_EQ(tool(R"({"name":"f","strict":"yes"})"),
            "tools[0].strict: must be true or false, got \"yes\"");
  EXPECT_EQ(tool(R"({"name":"f","input_examples":[1]})"),
            "tools[0].input_examples[0]: must be an object, got 1");
  EXPECT_EQ(tool(R"({"type":"teleport_20300101","name":"t"})"),
            "tools[0].type: must be a known tool type, got \"teleport_20300101\"");
  EXPECT_EQ(tool(R"({"name":"f","cache_control":"on"})"),
            "tools[0].cache_control: must be an object, got \"on\"");
}

TEST(AnthropicTools, NamesAreLongAndPrintableOrPlainWhenStrict) {
  const std::string longest(128, 'n');
  EXPECT_EQ(tool(R"({"name":")" + longest + R"(","input_schema":{}})"), longest + ":  {}\n");
  EXPECT_EQ(tool(R"({"name":")" + longest + R"(n"})"),
            "tools[0].name: must be from 1 to 128 bytes long, got 129");
  EXPECT_EQ(tool(R"({"name":"mcp__files.read é","input_schema":{}})"), "mcp__files.read é:  {}\n");
  EXPECT_EQ(strict_tool(R"({"name":"files.read","input_schema":{"type":"object"}})"),
            "tools[0].name: must hold letters, digits, underscores and hyphens only");
}

TEST(AnthropicTools, TwoToolsOfOneNameAreAConflict) {
  const auto parsed = parse(R"("tools":[{"name":"f"},{"name":"g"},{"name":"f"}])");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(error_text(parsed.error()),
            "tools[2].name: more than one tool is named f; names must be unique");
  EXPECT_EQ(parsed.error().detail, "tool_name_conflict");
}

TEST(AnthropicTools, TheirNumberIsBounded) {
  std::string tools = R"("tools":[{"name":"f0"})";
  for (std::size_t i = 1; i <= limits::kToolsMax; ++i) {
    tools += R"(,{"name":"f)" + std::to_string(i) + "\"}";
  }
  EXPECT_EQ(listing(parse(tools + "]")), "tools: must have at most 1024 entries, got 1025");
}

TEST(AnthropicTools, ReadsTheOtherDialectsFormUnlessStrict) {
  EXPECT_EQ(tool(R"({"type":"function","function":{"name":"f","description":"D","strict":true,
      "parameters":{"type":"object"}}})"),
            "f strict: D {\"type\":\"object\"}\n");
  EXPECT_EQ(tool(R"({"type":"function","name":"f","parameters":{"type":"object"}})"),
            "f:  {\"type\":\"object\"}\n");
  EXPECT_EQ(strict_tool(R"({"type":"function","function":{"name":"f"}})"),
            "tools[0].type: must be a known tool type, got \"function\"");
  EXPECT_EQ(tool(R"({"type":"function","function":{}})"), "tools[0].function.name: is required");
}

TEST(AnthropicTools, KnowsTheSchemasOfVersionedClientTools) {
  for (const char* type :
       {"bash_20241022", "bash_20250124", "text_editor_20241022", "text_editor_20250124",
        "text_editor_20250429", "text_editor_20250728", "memory_20250818", "computer_20241022",
        "computer_20250124", "computer_20251124"}) {
    const KnownTool* known = find_known_tool(type);
    ASSERT_NE(known, nullptr) << type;
    EXPECT_EQ(known->type, type);
    const auto schema = parse_json(known->schema);
    ASSERT_TRUE(schema.ok()) << type;
    EXPECT_EQ(schema->root().at("type").as_string(), "object");
    const auto parsed = parse(R"("tools":[{"type":")" + std::string(type) + R"(","name":")" +
                              std::string(known->name) + "\"}]");
    ASSERT_TRUE(parsed.ok()) << type;
    ASSERT_EQ(parsed->chat.conversation.tools.size(), 1u);
    EXPECT_EQ(parsed->chat.conversation.tools[0].input_schema, known->schema);
  }
}

TEST(AnthropicTools, ReadsANewerVersionAsTheNewestItKnows) {
  EXPECT_EQ(find_known_tool("bash_20990101"), find_known_tool("bash_20250124"));
  EXPECT_EQ(find_known_tool("computer_20990101"), find_known_tool("computer_20251124"));
  EXPECT_EQ(find_toolset("browser_toolset_20990101"), find_toolset("browser_toolset_20260801"));
  EXPECT_EQ(find_known_tool("bash"), nullptr);
  EXPECT_EQ(find_known_tool("bash_2099"), nullptr);
  EXPECT_EQ(find_known_tool("bash_20x50124"), nullptr);
  EXPECT_EQ(find_known_tool("_20250124"), nullptr);
  EXPECT_EQ(find_known_tool("crash_20250124"), nullptr);
}

TEST(AnthropicTools, TellsTheModelHowLargeTheScreenIs) {
  const std::string text = tool(R"({"type":"computer_20250124","name":"computer",
      "display_width_px":1024,"display_height_px":768,"display_number":1})");
  EXPECT_NE(text.find("The screen is 1024 pixels wide and 768 high."), std::string::npos) << text;
  EXPECT_EQ(tool(R"({"type":"computer_20250124","name":"computer","display_width_px":"wide",
      "display_height_px":768})"),
            "tools[0].display_width_px: must be an integer from 1 to 1000000, got \"wide\"");
  EXPECT_EQ(strict_tool(R"({"type":"computer_20250124","name":"computer"})"),
            "tools[0].display_width_px: is required");
  EXPECT_EQ(strict_tool(R"({"type":"bash_20250124","name":"sh"})"),
            "tools[0].name: must be \"bash\", got \"sh\"");
}

TEST(AnthropicTools, ExpandsToolsetsIntoTheirMembers) {
  const auto parsed = parse(R"("tools":[{"type":"computer_toolset_20260801","configs":{
      "zoom":{"enabled":false},"wait":{"defer_loading":true},"key":null}}])");
  ASSERT_TRUE(parsed.ok());
  const auto& tools = parsed->chat.conversation.tools;
  EXPECT_EQ(tools.size(), 16u);
  for (const ToolDefinition& member : tools) {
    EXPECT_NE(member.name, "zoom");
    EXPECT_EQ(member.deferred, member.name == "wait");
    EXPECT_TRUE(parse_json(member.input_schema).ok()) << member.input_schema;
  }
  ASSERT_EQ(parsed->reply.toolset_calls.size(), 16u);
  EXPECT_EQ(parsed->reply.toolset_calls[0].toolset, "computer");
}

TEST(AnthropicTools, EveryMemberOfAToolsetHasAValidSchema) {
  for (const char* type : {"computer_toolset_20260801", "browser_toolset_20260801"}) {
    for (const ToolsetMember& member : find_toolset(type)->members) {
      const auto schema = parse_json(member_schema(member));
      ASSERT_TRUE(schema.ok()) << member.name;
      EXPECT_EQ(schema->root().at("type").as_string(), "object");
    }
  }
  const ToolsetMember scroll{"scroll", "", "direction! amount tab"};
  EXPECT_EQ(member_schema(scroll),
            R"({"type":"object","properties":{"scroll_direction":{"type":"string",)"
            R"("enum":["up","down","left","right"]},"scroll_amount":{"type":"integer"},)"
            R"("tab_id":{"type":"string"}},"required":["scroll_direction"]})");
}

TEST(AnthropicTools, TwoToolsetsShareNamesWithoutAConflict) {
  const auto parsed = parse_messages_request(R"({"tools":[{"type":"computer_toolset_20260801"},
      {"type":"browser_toolset_20260801"}],"messages":[{"role":"assistant","content":[
      {"type":"tool_use","id":"t1","name":"key","input":{},"toolset_name":"browser"},
      {"type":"tool_use","id":"t2","name":"key","input":{},"toolset_name":"computer"}]},
      {"role":"user","content":"go on"}]})",
                                             ParseOptions{});
  ASSERT_TRUE(parsed.ok()) << error_text(parsed.error());
  const auto& content = parsed->chat.conversation.messages[0].content;
  EXPECT_EQ(std::get<ToolUseBlock>(content[0]).name, "browser_key");
  EXPECT_EQ(std::get<ToolUseBlock>(content[1]).name, "key");
}

TEST(AnthropicTools, DropsToolsOfTheHostedApiOrNamesThemWhenStrict) {
  for (const std::string type :
       {"web_search_20250305", "web_search_20260318", "web_fetch_20260309",
        "code_execution_20250825", "tool_search_tool_regex", "tool_search_tool_regex_20251119",
        "tool_search_tool_bm25_20251119", "advisor_20260301", "mcp_toolset"}) {
    const std::string entry = R"({"type":")" + type + R"(","name":"w"})";
    EXPECT_EQ(tool(entry + R"(,{"name":"f","input_schema":{}})"), "f:  {}\n") << type;
    EXPECT_EQ(strict_tool(entry),
              "tools[0].type: " + type +
                  " runs on the hosted API only and is not supported by this server");
  }
}

TEST(AnthropicTools, AdditionsMakeDeferredToolsVisibleAndRemovalsTakeToolsAway) {
  const auto with = [](std::string_view block) {
    return listing(parse_messages_request(
        R"({"tools":[{"name":"f","defer_loading":true,"input_schema":{}},
            {"name":"g","input_schema":{}}],"messages":[{"role":"user","content":"Hi"},
            {"role":"system","content":[)" +
            std::string(block) + "]}]}",
        ParseOptions{}));
  };
  EXPECT_EQ(with(R"({"type":"tool_addition","tool":{"type":"tool_reference","name":"f"}})"),
            "f:  {}\ng:  {}\n");
  EXPECT_EQ(with(R"({"type":"tool_removal","tool":{"type":"tool_reference","name":"g"}})"),
            "f deferred:  {}\n");
  EXPECT_EQ(with(R"({"type":"tool_addition","tool":{"type":"tool_definition",
      "definition":{"name":"h","input_schema":{}}}})"),
            "f deferred:  {}\ng:  {}\nh:  {}\n");
  EXPECT_EQ(with(R"({"type":"tool_addition","tool":{"type":"tool_definition",
      "definition":{"name":"g","description":"new","input_schema":{}}}})"),
            "f deferred:  {}\ng: new {}\n");
  EXPECT_EQ(with(R"({"type":"tool_addition","tool":{"type":"mcp_tool_reference","name":"x",
      "server_name":"s"}})"),
            "f deferred:  {}\ng:  {}\n");
  EXPECT_EQ(with(R"({"type":"tool_addition","tool":{"type":"tool_reference","name":"x"}})"),
            "f deferred:  {}\ng:  {}\n");
  EXPECT_EQ(with(R"({"type":"tool_addition"})"), "messages[1].content[0].tool: is required");
  EXPECT_EQ(with(R"({"type":"tool_removal","tool":{"type":"spell"}})"),
            "messages[1].content[0].tool.type: must be \"tool_reference\", got \"spell\"");
}

TEST(AnthropicTools, StrictModeWantsAdditionsToNameATool) {
  const auto parsed = parse_messages_request(
      R"({"model":"m","max_tokens":5,"messages":[{"role":"user","content":"Hi"},
          {"role":"system","content":[{"type":"tool_addition",
          "tool":{"type":"tool_reference","name":"x"}}]}]})",
      kStrict);
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(error_text(parsed.error()),
            "messages[1].content[0].tool.name: names no tool of this request");
  EXPECT_EQ(parsed.error().detail, "tool_reference_unresolved");
}

// ---- tool_choice ----

// `kind[ name][ single]`, or the complaint.
std::string choice(std::string_view value, const ParseOptions& options = {},
                   std::string_view tools = R"([{"name":"f","input_schema":{"type":"object"}}])") {
  const auto parsed = parse(
      R"("tools":)" + std::string(tools) + R"(,"tool_choice":)" + std::string(value), options);
  if (!parsed.ok()) return error_text(parsed.error());
  const ToolChoice& got = parsed->chat.conversation.tool_choice;
  const char* const names[] = {"auto", "any", "tool", "none"};
  return names[static_cast<int>(got.kind)] + (got.name.empty() ? "" : " " + got.name) +
         (got.parallel ? "" : " single");
}

TEST(AnthropicToolChoice, ReadsObjects) {
  EXPECT_EQ(choice("null"), "auto");
  EXPECT_EQ(choice(R"({"type":"auto"})"), "auto");
  EXPECT_EQ(choice(R"({"type":"auto","disable_parallel_tool_use":true})"), "auto single");
  EXPECT_EQ(choice(R"({"type":"any","disable_parallel_tool_use":false})"), "any");
  EXPECT_EQ(choice(R"({"type":"tool","name":"f","disable_parallel_tool_use":true})"),
            "tool f single");
  EXPECT_EQ(choice(R"({"type":"none"})"), "none");
}

TEST(AnthropicToolChoice, ReadsStringsAndTheOtherDialectsFormsUnlessStrict) {
  EXPECT_EQ(choice("\"auto\""), "auto");
  EXPECT_EQ(choice("\"any\""), "any");
  EXPECT_EQ(choice("\"required\""), "any");
  EXPECT_EQ(choice("\"none\""), "none");
  EXPECT_EQ(choice(R"({"type":"function","function":{"name":"f"}})"), "tool f");
  EXPECT_EQ(choice(R"({"type":"function","name":"f"})"), "tool f");
  EXPECT_EQ(choice(R"({"type":"auto"},"parallel_tool_calls":false)"), "auto single");
  EXPECT_EQ(choice(R"({"type":"auto"},"parallel_tool_calls":true)"), "auto");
  EXPECT_EQ(choice("\"auto\"", kStrict), "tool_choice: must be an object, got \"auto\"");
  EXPECT_EQ(choice(R"({"type":"required"})", kStrict),
            "tool_choice.type: must be \"auto\", \"any\", \"tool\" or \"none\", got \"required\"");
}

TEST(AnthropicToolChoice, NamesWhatIsWrong) {
  EXPECT_EQ(choice("5"), "tool_choice: must be an object, got 5");
  EXPECT_EQ(choice("\"maybe\""),
            "tool_choice: must be \"auto\", \"any\", \"tool\" or \"none\", got \"maybe\"");
  EXPECT_EQ(choice(R"({"type":"tool"})"), "tool_choice.name: is required");
  EXPECT_EQ(choice(R"({"type":"tool","name":"x"})"),
            "tool_choice.name: must be the name of a tool of this request, got \"x\"");
  EXPECT_EQ(choice(R"({"type":"auto","disable_parallel_tool_use":1})"),
            "tool_choice.disable_parallel_tool_use: must be true or false, got 1");
}

TEST(AnthropicToolChoice, MeansNothingWithoutTools) {
  EXPECT_EQ(choice(R"({"type":"any"})", {}, "[]"), "auto");
  EXPECT_EQ(choice(R"({"type":"tool","name":"x"})", {}, "null"), "auto");
  EXPECT_EQ(choice(R"({"type":"any"})", {}, R"([{"type":"web_search_20250305","name":"s"}])"),
            "auto");
}

TEST(AnthropicToolChoice, SaysWhenTheToolIsOneThatOnlyTheHostedApiRuns) {
  EXPECT_EQ(choice(R"({"type":"tool","name":"web_search"})", {},
                   R"([{"type":"web_search_20250305","name":"web_search"}])"),
            "tool_choice.name: web_search runs on the hosted API only and is not supported by this "
            "server");
}

TEST(AnthropicToolChoice, StrictModeForbidsForcedCallsWhileThinking) {
  EXPECT_EQ(choice(R"({"type":"any"},"thinking":{"type":"adaptive"})", kStrict),
            "tool_choice: thinking may not be enabled when tool_choice forces tool use");
  EXPECT_EQ(choice(R"({"type":"any"},"thinking":{"type":"adaptive"})"), "any");
  EXPECT_EQ(choice(R"({"type":"auto"},"thinking":{"type":"adaptive"})", kStrict), "auto");
}

}  // namespace
}  // namespace zerohop
