#include "app/command_line.h"

#include <gtest/gtest.h>

#include "app/command_help.h"

namespace zerohop {
namespace {

using Words = std::vector<std::string>;

std::string fault(const Words& words) {
  const auto line = parse_command_line(words);
  if (line.ok()) return "no error";
  EXPECT_EQ(line.error().code, ErrorCode::kConfiguration);
  return line.error().message;
}

TEST(ParseCommandLine, KeepsConfigurationFlagsAsText) {
  const auto line = parse_command_line(
      {"serve", "--port", "x", "--no-auth", "--model=m.gguf", "--config", "a.yaml"});
  ASSERT_TRUE(line.ok()) << line.error().message;
  EXPECT_EQ(line->command, Command::kServe);
  EXPECT_EQ(line->config_file, "a.yaml");
  std::map<std::string_view, std::string> flags;
  for (const FlagValue& flag : line->flags) flags[flag.key->path] = flag.text;
  EXPECT_EQ(flags, (std::map<std::string_view, std::string>{
                       {"server.port", "x"}, {"auth.no_auth", "true"}, {"model.name", "m.gguf"}}));
}

TEST(ParseCommandLine, LetsTheLastOfAFlagWin) {
  const auto line = parse_command_line({"serve", "--port", "1", "--port", "2"});
  ASSERT_TRUE(line.ok()) << line.error().message;
  ASSERT_EQ(line->flags.size(), 1u);
  EXPECT_EQ(line->flags[0].text, "2");
  const auto chat = parse_command_line({"chat", "--max-tokens", "1", "--max-tokens", "2"});
  ASSERT_TRUE(chat.ok()) << chat.error().message;
  EXPECT_EQ(chat->chat.max_tokens, 2u);
}

TEST(ParseCommandLine, EveryFlagOfTheTableIsKnownToServe) {
  for (const ConfigKey& key : config_table()) {
    if (key.flag.empty()) continue;
    Words words{"serve", std::string(key.flag)};
    if (!key.flag_value.empty()) words.push_back("1");
    const auto line = parse_command_line(words);
    ASSERT_TRUE(line.ok()) << key.flag;
    ASSERT_EQ(line->flags.size(), 1u) << key.flag;
    EXPECT_EQ(line->flags[0].key, &key);
  }
}

TEST(ParseCommandLine, ReadsTheCommandsForKeys) {
  const auto create = parse_command_line({"keys", "create", "--tenant", "law", "--expires-days",
                                          "30", "--requests-per-minute", "60", "--key-store", "k",
                                          "--tokens-per-day", "none", "--json"});
  ASSERT_TRUE(create.ok()) << create.error().message;
  EXPECT_EQ(create->command, Command::kKeys);
  EXPECT_EQ(create->keys.action, KeysAction::kCreate);
  EXPECT_EQ(create->keys.tenant, "law");
  EXPECT_EQ(create->keys.expires_days, 30u);
  EXPECT_TRUE(create->keys.json);
  ASSERT_EQ(create->keys.limits.size(), 2u);
  EXPECT_EQ(create->keys.limits[0].first->name, "requests_per_minute");
  EXPECT_EQ(create->keys.limits[0].second, 60u);
  EXPECT_EQ(create->keys.limits[1].second, std::nullopt);
  ASSERT_EQ(create->flags.size(), 1u);
  EXPECT_EQ(create->flags[0].key->path, "auth.store");

  const auto set = parse_command_line({"keys", "tenants", "set", "serve", "--weight", "0.5",
                                       "--priority", "batch", "--models", "a,b", "--pool", ""});
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(set->keys.action, KeysAction::kSetTenant);
  EXPECT_EQ(set->keys.words, Words{"serve"});
  EXPECT_EQ(set->keys.weight, 0.5);
  EXPECT_EQ(set->keys.priority, PriorityClass::kBatch);
  EXPECT_EQ(set->keys.models, (Words{"a", "b"}));
  EXPECT_EQ(set->keys.pool, "");

  const auto revoke = parse_command_line({"keys", "revoke", "key_a", "key_b"});
  ASSERT_TRUE(revoke.ok()) << revoke.error().message;
  EXPECT_EQ(revoke->keys.words, (Words{"key_a", "key_b"}));
  EXPECT_EQ(parse_command_line({"keys", "tenants"})->keys.action, KeysAction::kListTenants);
  EXPECT_EQ(parse_command_line({"keys", "tenants", "list"})->keys.action, KeysAction::kListTenants);
}

TEST(ParseCommandLine, RefusesWrongWordsForKeys) {
  EXPECT_EQ(fault({"usage", "mend"}), "usage: unexpected argument 'mend'");
  EXPECT_EQ(fault({"keys"}),
            "keys: needs a command: create, list, revoke, limits, tenants, backup or prune");
  EXPECT_EQ(fault({"keys", "mend"}), "keys: unexpected argument 'mend'");
  EXPECT_EQ(fault({"keys", "revoke"}), "keys revoke: needs the id of a key");
  EXPECT_EQ(fault({"keys", "tenants", "set"}), "keys tenants set: needs the name of a tenant");
  EXPECT_EQ(fault({"keys", "backup"}), "keys backup: needs a file");
  EXPECT_EQ(fault({"keys", "create", "x"}), "keys create: unexpected argument 'x'");
  EXPECT_EQ(fault({"keys", "tenants", "set", "a", "b"}),
            "keys tenants set: unexpected argument 'b'");
  EXPECT_EQ(fault({"keys", "tenants", "set", "a", "--wieght", "1"}),
            "keys tenants set: unknown flag '--wieght'; did you mean '--weight'?");
  EXPECT_EQ(fault({"keys", "create", "--expires-days", "x"}),
            "--expires-days: 'x' is not a number that fits");
  EXPECT_EQ(fault({"keys", "create", "--expires-days", "99999"}),
            "--expires-days: 99999 is out of range (at most 36500)");
  EXPECT_EQ(fault({"keys", "create", "--parallel-requests", "-1"}),
            "--parallel-requests: '-1' is not a number that fits");
  EXPECT_EQ(fault({"keys", "tenants", "set", "a", "--priority", "high"}),
            "--priority: 'high' is none of priority, standard, batch");
}

TEST(ParseCommandLine, NamesWhatItDoesNotKnow) {
  EXPECT_EQ(fault({"serve", "--prot", "1"}),
            "serve: unknown flag '--prot'; did you mean '--port'?");
  EXPECT_EQ(fault({"serve", "--guardrails", "a"}), "serve: unknown flag '--guardrails'");
  EXPECT_EQ(fault({"serv"}), "unknown command 'serv'; did you mean 'serve'?");
  EXPECT_EQ(fault({"--prot=1", "serve"}), "unknown flag '--prot'");
  EXPECT_EQ(fault({"serve", "extra"}), "serve: unexpected argument 'extra'");
  EXPECT_EQ(fault({"pull", "a", "b"}), "pull: unexpected argument 'b'");
  EXPECT_EQ(fault({"chat", "--port", "1"}), "chat: unknown flag '--port'");
}

TEST(ParseCommandLine, NamesAFlagWithoutItsValue) {
  EXPECT_EQ(fault({"serve", "--port"}), "--port needs a value");
  EXPECT_EQ(fault({"pull", "--from"}), "--from needs a value");
}

TEST(ParseCommandLine, WantsACommand) {
  EXPECT_EQ(fault({}),
            "no command given; `zerohop serve` starts the server, `zerohop --help` lists the "
            "commands");
}

TEST(ParseCommandLine, ReadsPull) {
  const auto line = parse_command_line({"pull", "gemma3-270m", "--from", "a.whl", "b.whl"});
  ASSERT_TRUE(line.ok()) << line.error().message;
  EXPECT_EQ(line->command, Command::kPull);
  EXPECT_EQ(line->pull.name, "gemma3-270m");
  EXPECT_EQ(line->pull.from, (std::vector<std::filesystem::path>{"a.whl", "b.whl"}));
  EXPECT_TRUE(parse_command_line({"pull", "--list"})->pull.list);
}

TEST(ParseCommandLine, ReadsTokenize) {
  EXPECT_EQ(parse_command_line({"tokenize", "-", "--count"})->tokenize.text, "-");
  EXPECT_TRUE(parse_command_line({"tokenize", "-", "--count"})->tokenize.count);
  EXPECT_EQ(parse_command_line({"tokenize"})->tokenize.text, std::nullopt);
  EXPECT_EQ(parse_command_line({"tokenize", ""})->tokenize.text, "");
  EXPECT_TRUE(parse_command_line({"tokenize", "--json", "x"})->tokenize.json);
}

TEST(ParseCommandLine, ReadsConstrainCheck) {
  const auto line =
      parse_command_line({"constrain", "check", "--schema", "s.json", "--text", "a", "b", "--text",
                          "c", "--order", "any", "--formats", "ignore", "--draft", "7", "--json"});
  ASSERT_TRUE(line.ok()) << line.error().message;
  EXPECT_EQ(line->command, Command::kConstrainCheck);
  const ConstrainCheckOptions& check = line->constrain_check;
  EXPECT_EQ(check.schema, "s.json");
  EXPECT_EQ(check.texts, (std::vector<std::filesystem::path>{"a", "b", "c"}));
  EXPECT_TRUE(check.any_order && check.ignore_formats && check.json && !check.by_tokens);
  EXPECT_EQ(check.draft, SchemaDraft::k7);
  const auto cases = parse_command_line({"constrain", "check", "--cases", "-", "--model", "m"});
  ASSERT_TRUE(cases.ok()) << cases.error().message;
  EXPECT_EQ(cases->constrain_check.cases, "-");
  EXPECT_TRUE(cases->constrain_check.by_tokens);
  EXPECT_FALSE(cases->constrain_check.any_order);
  EXPECT_EQ(cases->flags.size(), 1u);
}

TEST(ParseCommandLine, SaysWhatConstrainCheckNeeds) {
  EXPECT_EQ(fault({"constrain"}), "constrain: needs a command: `zerohop constrain check`");
  EXPECT_EQ(fault({"constrain", "chek"}), "constrain: unexpected argument 'chek'");
  EXPECT_EQ(fault({"constrain", "check"}), "constrain check: needs --schema FILE or --cases FILE");
  EXPECT_EQ(fault({"constrain", "check", "--schema", "a", "--regex", "b"}),
            "constrain check: only one of --schema, --regex and --grammar");
  EXPECT_EQ(fault({"constrain", "check", "--cases", "a", "--text", "b"}),
            "constrain check: --text and --cases are two ways to give texts; use one");
  EXPECT_EQ(fault({"constrain", "check", "--schema", "a", "--order", "some"}),
            "--order: 'some' is neither declared nor any");
  EXPECT_EQ(fault({"constrain", "check", "--schema", "a", "--draft", "3"}),
            "--draft: '3' is none of 4, 6, 7, 2019-09, 2020-12");
  EXPECT_EQ(fault({"constrain", "check", "--shema", "a"}),
            "constrain check: unknown flag '--shema'; did you mean '--schema'?");
  EXPECT_EQ(parse_command_line({"constrain", "check", "--help"})->help_text,
            command_help(Command::kConstrainCheck));
}

TEST(ParseCommandLine, ReadsChat) {
  const auto line = parse_command_line({"chat", "--temperature", "0.5", "--seed", "7",
                                        "--max-tokens", "9", "--model", "m", "hello"});
  ASSERT_TRUE(line.ok()) << line.error().message;
  EXPECT_EQ(line->chat.prompt, "hello");
  EXPECT_EQ(line->chat.temperature, 0.5);
  EXPECT_EQ(line->chat.seed, 7u);
  EXPECT_EQ(line->chat.max_tokens, 9u);
  EXPECT_EQ(fault({"chat", "--seed", "x"}), "--seed: 'x' is not a number that fits");
  EXPECT_EQ(fault({"chat", "--max-tokens", "0"}), "--max-tokens: 0 is out of range (1 or more)");
  EXPECT_EQ(fault({"chat", "--temperature", "nan"}), "--temperature: nan is out of range (0 to 2)");
}

TEST(ParseCommandLine, HelpAndVersionComeBeforeEverythingElse) {
  EXPECT_EQ(parse_command_line({"--version"})->command, Command::kVersion);
  EXPECT_EQ(parse_command_line({"-V"})->command, Command::kVersion);
  const auto help = parse_command_line({"serve", "--help", "--prot"});
  ASSERT_TRUE(help.ok());
  EXPECT_EQ(help->command, Command::kHelp);
  EXPECT_EQ(help->help_text, command_help(Command::kServe));
  EXPECT_EQ(parse_command_line({"--help"})->help_text, command_help(Command::kHelp));
}

TEST(CommandHelp, ServeListsEveryFlagOfTheTable) {
  const std::string help = command_help(Command::kServe);
  for (const ConfigKey& key : config_table()) {
    if (key.flag.empty()) continue;
    EXPECT_NE(help.find("  " + std::string(key.flag) + " "), help.npos) << key.flag;
  }
}

TEST(CommandHelp, NamesEveryCommand) {
  const std::string help = command_help(Command::kHelp);
  for (const std::string_view name : kCommandNames) {
    EXPECT_NE(help.find("\n  " + std::string(name) + " "), help.npos) << name;
  }
}

}  // namespace
}  // namespace zerohop
