// The formats of the JSON-Schema-Test-Suite, asked of the languages themselves.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/utf8.h"
#include "constrain/content_automaton.h"
#include "constrain/schema_document.h"
#include "constrain/string_formats.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCases =
    "../shared/data/json-schema-test-suite/tests/draft2020-12/optional/format";

TEST(StringFormatSuite, NothingIsWronglyAccepted) {
  int right = 0;
  for (const auto& entry : fs::directory_iterator(kCases)) {
    const std::string name = entry.path().stem().string();
    RegexPool pool;
    const auto term = format_language(pool, name);
    if (!term) continue;
    const auto made = ContentAutomaton::make(pool, *term, {}, {});
    ASSERT_TRUE(made.ok()) << name;
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    const auto groups = parse_json_node(text.str());
    ASSERT_TRUE(groups.ok()) << name;
    for (const JsonNode& group : groups->items) {
      for (const JsonNode& one : group.find("tests")->items) {
        const JsonNode& data = *one.find("data");
        if (!data.is(JsonNode::Type::kString)) continue;
        const bool wanted = one.find("valid")->is(JsonNode::Type::kTrue);
        const bool accepted = (*made)->contains(utf8_decode(data.text));
        EXPECT_TRUE(wanted || !accepted) << name << " accepts " << data.text;
        right += wanted == accepted ? 1 : 0;
        // A-labels are left out, nothing else.
        const bool coded = name == "hostname" && data.text.starts_with("xn--");
        EXPECT_TRUE(accepted || !wanted || coded) << name << " rejects " << data.text;
      }
    }
  }
  EXPECT_GE(right, 530);
}

}  // namespace
}  // namespace zerohop
