#include "app/config_table.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "app/config_load.h"
#include "app/config_rules.h"
#include "app/config_text.h"

namespace zerohop {
namespace {

TEST(ConfigTable, HasUniquePathsFlagsAndVariables) {
  std::set<std::string> seen;
  for (const ConfigKey& key : config_table()) {
    EXPECT_TRUE(seen.insert(std::string(key.path)).second) << key.path;
    EXPECT_TRUE(seen.insert(key.variable()).second) << key.path;
    if (key.flag.empty()) continue;
    EXPECT_TRUE(seen.insert(std::string(key.flag)).second) << key.path;
  }
}

TEST(ConfigTable, KeepsSectionsTogether) {
  std::set<std::string_view> closed;
  std::string_view current;
  for (const ConfigKey& key : config_table()) {
    if (key.section() == current) continue;
    EXPECT_TRUE(closed.insert(key.section()).second) << key.path;
    current = key.section();
  }
}

TEST(ConfigTable, EveryDefaultIsAllowedAndComesBackUnchanged) {
  for (const ConfigKey& key : config_table()) {
    Config config;
    const RawValue value = current_value(key, Config{});
    const auto applied = apply_value(key, value, config);
    EXPECT_TRUE(applied.ok()) << key.path << ": " << (applied.ok() ? "" : applied.error().message);
    EXPECT_EQ(current_value(key, config), value) << key.path;
  }
}

TEST(ConfigTable, EveryKeyChangesItsOwnMemberAndNoOther) {
  for (const ConfigKey& key : config_table()) {
    Config config;
    RawValue changed = std::string("63");
    if (const auto* type = std::get_if<IntegerType>(&key.type)) {
      changed = std::to_string(type->max - 1);
    } else if (std::holds_alternative<NumberType>(key.type)) {
      changed = std::string(std::get<NumberType>(key.type).max < 1.5 ? "0.5" : "1.5");
    } else if (std::holds_alternative<BooleanType>(key.type)) {
      changed = std::string("true");
    } else if (const auto* choice = std::get_if<ChoiceType>(&key.type)) {
      const bool first = current_value(key, config) == RawValue(std::string(choice->names[0]));
      changed = std::string(choice->names[first ? 1 : 0]);
    } else if (std::holds_alternative<TextMapType>(key.type)) {
      changed = RawEntries{{"a", "b"}};
    } else if (const auto* text = std::get_if<TextType>(&key.type)) {
      if (text->rule != nullptr && text->rule("63")) changed = std::string("/63");
    } else {
      changed = std::vector<std::string>{"63"};
    }
    const auto applied = apply_value(key, changed, config);
    ASSERT_TRUE(applied.ok()) << key.path << ": " << applied.error().message;
    EXPECT_EQ(current_value(key, config), changed) << key.path;
    for (const ConfigKey& other : config_table()) {
      if (&other == &key) continue;
      EXPECT_EQ(current_value(other, config), current_value(other, Config{}))
          << key.path << " changed " << other.path;
    }
  }
}

TEST(AdminListenRule, TakesThisMachineAlone) {
  for (const char* good : {"", "/run/admin.sock", "127.0.0.1:9090", "[::1]:0", "localhost:1"}) {
    EXPECT_FALSE(admin_listen_rule(good).has_value()) << good;
  }
  for (const char* bad : {"0.0.0.0:9090", "[::]:9090", "example.org:80", "127.0.0.1", ":9090",
                          "127.0.0.1:", "127.0.0.1:70000", "127.0.0.1:x", "admin.sock"}) {
    EXPECT_TRUE(admin_listen_rule(bad).has_value()) << bad;
  }
}

TEST(ConfigTable, NamesTimesAndSizesWithTheirUnit) {
  for (const ConfigKey& key : config_table()) {
    EXPECT_EQ(key.unit == "seconds", key.path.ends_with("_seconds")) << key.path;
    EXPECT_EQ(key.unit == "milliseconds", key.path.ends_with("_ms")) << key.path;
    EXPECT_EQ(key.unit == "bytes", key.path.find("_bytes") != key.path.npos) << key.path;
    EXPECT_TRUE(key.help.ends_with(".")) << key.path;
  }
}

TEST(ConfigMarkdown, SaysWhenAKeyTakesEffect) {
  const std::string text = config_markdown();
  const auto row = [&text](const std::string& path) {
    const std::size_t begin = text.find("| `" + path + "` |");
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  EXPECT_NE(row("limits.prices").find("| reload |"), std::string::npos);
  EXPECT_NE(row("server.port").find("| restart |"), std::string::npos);
}

TEST(ConfigTable, VariableIsThePathInCapitals) {
  EXPECT_EQ(find_config_key("server.unix_socket")->variable(), "ZEROHOP_SERVER_UNIX_SOCKET");
  EXPECT_EQ(find_config_key("server.nothing"), nullptr);
}

TEST(ApplyValue, ChangesNothingWhenTheValueIsWrong) {
  Config config;
  const auto applied = apply_value(*find_config_key("server.port"), std::string("70000"), config);
  ASSERT_FALSE(applied.ok());
  EXPECT_EQ(applied.error().field, "server.port");
  EXPECT_EQ(config.server.port, 8080);
}

TEST(ConfigMarkdown, CommittedDocumentIsUpToDate) {
  constexpr const char* kDocument = "docs/CONFIG.md";
  if (std::getenv("ZEROHOP_GOLDEN_UPDATE") != nullptr) {
    std::ofstream(kDocument, std::ios::binary) << config_markdown();
  }
  std::ifstream file(kDocument, std::ios::binary);
  const std::string committed{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(committed, config_markdown())
      << "run again with ZEROHOP_GOLDEN_UPDATE=1 to write " << kDocument << " anew";
}

}  // namespace
}  // namespace zerohop
