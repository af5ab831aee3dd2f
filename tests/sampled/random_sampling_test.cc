// Every schema and every tool of tests/cases, answered at random.
#include "random_sampling.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

const std::filesystem::path kCases = "tests/cases";

std::vector<NamedSchema> committed_schemas() {
  std::vector<NamedSchema> schemas;
  for (const JsonNode& line : read_lines(kCases / "sampled_schemas.jsonl")) {
    schemas.push_back({line.find("id")->text, to_json_text(*line.find("schema"))});
  }
  for (const JsonNode& line : read_lines(kCases / "sampled_tools.jsonl")) {
    for (const JsonNode& tool : line.find("tools")->items) {
      schemas.push_back({tool.find("name")->text, to_json_text(*tool.find("input_schema"))});
    }
  }
  return schemas;
}

TEST(RandomSampling, EveryDocumentOfTheCommittedSchemasIsValid) {
  sample_all(committed_schemas(), 20);
}

}  // namespace
}  // namespace zerohop
