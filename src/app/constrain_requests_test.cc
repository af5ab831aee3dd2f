// `zerohop constrain check` and a request take the same schemas, and refuse the same ones for the
// same reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <locale>
#include <string>
#include <vector>

#include "app/constrain_check.h"
#include "app/constraint_service.h"
#include "constrain/answer_schema.h"
#include "constrain/schema_document.h"
#include "prompt/tool_syntax.h"
#include "telemetry/metrics.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;

struct Refused {
  std::string kind;  // empty: taken
  std::string message;
};

// Both ways to ask about a schema, as the program sets them up.
class BothWays {
 public:
  explicit BothWays(ConstraintsConfig config = {})
      : config_(std::move(config)),
        metrics_(registry_),
        checker_({.schema = schema_options_of(config_)}, clock_) {}

  std::string checked(const std::string& schema) {
    const CaseFinding found =
        checker_.check({"id", {ConstraintText::Language::kSchema, schema}, {}});
    if (!found.refusal) return {};
    const SchemaRefusal& refusal = *found.refusal;
    return refusal.pointer + "|" + refusal.keyword + "|" + refusal.reason;
  }

  /// Empty where a request is taken, with the schema as the format of its answer and as a tool's;
  /// else the message.
  std::string requested(const std::string& schema) {
    ConstraintService service(config_, clock_, metrics_);
    OutputPlan plan;
    plan.rules.format = OutputFormat::kJsonSchema;
    plan.rules.schema = schema;
    const auto document = service.constraint_for(plan, {});
    return document.ok() ? std::string() : document.error().message;
  }
  std::string requested_of_a_tool(const std::string& schema) {
    ConstraintService service(config_, clock_, metrics_);
    Conversation conversation;
    ToolDefinition tool;
    tool.name = "tool";
    tool.input_schema = schema;
    tool.strict = true;
    conversation.tools.push_back(tool);
    OutputPlan plan;
    plan.tool_syntax = &default_tool_syntax();
    const auto calls = service.constraint_for(plan, conversation);
    return calls.ok() ? std::string() : calls.error().message;
  }

  void expect_the_same(const std::string& schema) {
    const std::string by_check = checked(schema);
    const std::string by_request = requested(schema);
    EXPECT_EQ(by_check.empty(), by_request.empty())
        << schema.substr(0, 500) << "\ncheck: " << by_check << "\nrequest: " << by_request;
    if (!by_check.empty()) {
      const std::string reason = by_check.substr(by_check.rfind('|') + 1);
      EXPECT_NE(by_request.find(reason), std::string::npos) << by_check << "\n" << by_request;
      EXPECT_NE(requested_of_a_tool(schema), "") << schema.substr(0, 500);
      return;
    }
    // Arguments are an object; nothing else is asked of them.
    const std::string of_tool = requested_of_a_tool(schema);
    EXPECT_TRUE(of_tool.empty() || of_tool.find("arguments are an object") != std::string::npos)
        << schema.substr(0, 500) << "\n"
        << of_tool;
  }

 private:
  const ConstraintsConfig config_;
  VirtualClock clock_;
  MetricsRegistry registry_{MetricsIdentity{"test", "cpu"}};
  Metrics metrics_;
  ConstraintChecker checker_;
};

void add_schemas(const JsonNode& node, std::vector<std::string>& schemas) {
  for (const auto& [name, value] : node.members) {
    const bool schema = name == "schema" || name == "input_schema" || name == "parameters";
    if (schema && !value.is(JsonNode::Type::kString)) schemas.push_back(to_json_text(value));
    add_schemas(value, schemas);
  }
  for (const JsonNode& item : node.items) add_schemas(item, schemas);
}

std::vector<std::string> schemas_of(const fs::path& file) {
  std::vector<std::string> schemas;
  std::ifstream stream(file);
  std::string line;
  while (std::getline(stream, line)) {
    if (const auto parsed = parse_json_node(line); parsed.ok()) add_schemas(*parsed, schemas);
  }
  return schemas;
}

TEST(ConstrainRequests, AgreeWithTheCheckAboutEveryCase) {
  BothWays both;
  std::size_t schemas = 0;
  for (const auto& entry : fs::directory_iterator("tests/cases")) {
    for (const std::string& schema : schemas_of(entry.path())) {
      both.expect_the_same(schema);
      ++schemas;
    }
  }
  EXPECT_GE(schemas, 120u);
}

// Each would be decided otherwise by one who lets numbers and integers be spelt freely, looks at
// one layout alone, or knows other limits.
TEST(ConstrainRequests, AgreeWithTheCheckWhereOptionsDecide) {
  ConstraintsConfig config;
  config.schema_bytes_max = 2'000;
  config.work_max = 200'000;
  BothWays both(config);
  const std::vector<std::string> schemas{
      R"({"type":"number","minimum":1e120})",
      R"({"type":"integer","minimum":1e99,"maximum":2e99})",
      R"({"type":"object","properties":{"n":{"type":"number","exclusiveMinimum":1e300}}})",
      R"({"type":"array","minItems":349525,"items":{"type":"null"}})",
      R"({"type":"array","minItems":200000,"items":{"type":"null"}})",
      R"({"type":"array","minItems":180000,"maxItems":180001,"items":{"enum":[null]}})",
      R"({"type":"string","pattern":"^[ab]*a[ab]{12}$"})",
      R"({"type":"string","description":")" + std::string(2'000, 'x') + "\"}",
      R"({"type":"string","pattern":"(b)\\1"})",
      R"({"type":"object","minProperties":2,"maxProperties":1})",
      R"({"properties":{"a":{"minLength":"3"}}})",
      "{",
      "true",
      "false"};
  std::size_t refused = 0;
  for (const std::string& schema : schemas) {
    both.expect_the_same(schema);
    refused += both.checked(schema).empty() ? 0 : 1;
  }
  EXPECT_GE(refused, 7u);
  EXPECT_LT(refused, schemas.size());
}

// One file of the JSON-Schema-Test-Suite, which is there where the data of the tests is.
class ConstrainRequestsOfSuite : public testing::TestWithParam<fs::path> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ConstrainRequestsOfSuite);

std::vector<fs::path> files_of_suite() {
  const fs::path suite = "../shared/data/json-schema-test-suite/tests/draft2020-12";
  std::vector<fs::path> files;
  if (!fs::is_directory(suite)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(suite)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

TEST_P(ConstrainRequestsOfSuite, AgreeWithTheCheck) {
  std::ifstream stream(GetParam());
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  const auto groups = parse_json_node(text);
  ASSERT_TRUE(groups.ok());
  BothWays both;
  for (const JsonNode& group : groups->items) {
    both.expect_the_same(to_json_text(*group.find("schema")));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, ConstrainRequestsOfSuite, testing::ValuesIn(files_of_suite()), [](const auto& tested) {
      std::string name =
          tested.param.parent_path().filename().string() + "_" + tested.param.stem().string();
      std::ranges::replace_if(
          name, [](char c) { return !std::isalnum(c, std::locale::classic()); }, '_');
      return name;
    });

}  // namespace
}  // namespace zerohop
