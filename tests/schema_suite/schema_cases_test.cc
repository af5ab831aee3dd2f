// The project's own cases (tests/cases/schema_cases.jsonl), asked byte by byte and token by token.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <variant>

#include "constrain/schema_compiler.h"
#include "document_judge.h"

namespace zerohop {
namespace {

struct Case {
  JsonNode line;
  std::string id;
  std::shared_ptr<const SchemaForm> form;
};

std::vector<Case> read_cases() {
  std::vector<Case> cases;
  std::ifstream file("tests/cases/schema_cases.jsonl");
  std::string line;
  while (std::getline(file, line)) {
    auto parsed = parse_json_node(line);
    if (!parsed.ok()) {
      ADD_FAILURE() << line;
      continue;
    }
    const CompiledSchema compiled = compile_schema(to_json_text(*parsed->find("schema")));
    const auto* form = std::get_if<std::shared_ptr<const SchemaForm>>(&compiled);
    std::string id = parsed->find("id")->text;
    EXPECT_NE(form, nullptr) << id;
    if (form != nullptr) cases.push_back({std::move(parsed.value()), std::move(id), *form});
  }
  EXPECT_GE(cases.size(), 60u);
  return cases;
}

TEST(SchemaCases, AreAnsweredRightInEveryWay) {
  for (const auto& [line, id, form] : read_cases()) {
    DocumentJudge judge(form, {.vocabulary = default_vocabulary(), .masks_every = 8});
    for (const bool wanted : {true, false}) {
      for (const JsonNode& each : line.find(wanted ? "accept" : "reject")->items) {
        const DocumentJudge::Verdict found = judge.judge_text(each.text);
        EXPECT_EQ(found.ever, wanted) << id << ": " << each.text;
        EXPECT_EQ(found.always, wanted) << id << ": " << each.text;
        for (const std::string& fault : found.disagreements) ADD_FAILURE() << id << ": " << fault;
        const auto value = parse_json_node(each.text);
        if (!value.ok()) continue;
        const DocumentJudge::Verdict styled = judge.judge(*value);
        EXPECT_EQ(wanted ? styled.always : styled.ever, wanted) << id << ": " << each.text;
        for (const std::string& fault : styled.disagreements) ADD_FAILURE() << id << ": " << fault;
      }
    }
  }
}

}  // namespace
}  // namespace zerohop
