// Every function of the Berkeley function-calling leaderboard, answered at random. Its files are
// not part of this tree; without them this test is left out.
#include <gtest/gtest.h>

#include "random_sampling.h"

namespace zerohop {
namespace {

const std::filesystem::path kLeaderboard = "../shared/data/tools";

// Types of the leaderboard are Python's.
void make_json_schema(JsonNode& schema) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"dict", "object"}, {"float", "number"}, {"tuple", "array"}};
  std::erase_if(schema.members, [](const auto& member) {
    return member.first == "type" && member.second.text == "any";
  });
  for (auto& [name, value] : schema.members) {
    if (name == "type") {
      for (const auto& [python, json] : kTypes) {
        if (value.text == python) value.text = json;
      }
    } else if (name == "properties") {
      for (auto& [property, inner] : value.members) make_json_schema(inner);
    } else if (name == "items" || name == "additionalProperties") {
      make_json_schema(value);
    }
  }
}

std::vector<NamedSchema> leaderboard_schemas() {
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kLeaderboard)) {
    if (entry.path().extension() == ".json") files.insert(entry.path());
  }
  std::vector<NamedSchema> schemas;
  for (const auto& path : files) {
    for (const JsonNode& row : read_lines(path)) {
      for (const JsonNode& function : row.find("function")->items) {
        JsonNode schema = *function.find("parameters");
        make_json_schema(schema);
        schemas.push_back(
            {row.find("id")->text + "/" + function.find("name")->text, to_json_text(schema)});
      }
    }
  }
  return schemas;
}

TEST(RandomSampling, EveryDocumentOfTheLeaderboardsFunctionsIsValid) {
  const auto schemas = leaderboard_schemas();
  EXPECT_GT(schemas.size(), 3'000u);
  sample_all(schemas, 1);
}

}  // namespace
}  // namespace zerohop
