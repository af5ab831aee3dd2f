// What the configuration loader accepts, what it refuses and in which words.
#include <gtest/gtest.h>

#include <fstream>

#include "app/config_load.h"
#include "app/config_text.h"
#include "app/test_folder.h"

namespace zerohop {
namespace {

// One loading with a file, an environment and flags, each as text.
struct Given {
  std::string yaml;
  Environment environment;
  std::vector<std::pair<std::string, std::string>> flags;  // path, text
  std::uint64_t seed = 0;
};

Result<LoadedConfig> load(const Given& given) {
  const TestFolder folder;
  ConfigSources sources;
  sources.environment = given.environment;
  sources.seed = given.seed;
  if (!given.yaml.empty()) {
    sources.file = folder.path() / "z.yaml";
    std::ofstream(*sources.file) << given.yaml;
  }
  for (const auto& [path, text] : given.flags) {
    sources.flags.push_back({find_config_key(path), text});
  }
  return load_config(sources);
}

// The message, with the name of the temporary folder taken out.
std::string fault(const Given& given) {
  const auto loaded = load(given);
  if (loaded.ok()) return "no error";
  EXPECT_EQ(loaded.error().code, ErrorCode::kConfiguration);
  const std::string& message = loaded.error().message;
  const std::size_t file = message.find("z.yaml");
  return message.substr(file == message.npos ? 0 : file);
}

std::string origin_of(const LoadedConfig& loaded, std::string_view path) {
  for (const ConfigOrigin& entry : loaded.origins) {
    if (entry.key->path == path) return entry.origin;
  }
  return "missing";
}

TEST(LoadConfig, StartsFromTheDefaults) {
  const auto loaded = load({});
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->config.server.port, 8080);
  EXPECT_EQ(loaded->config.server.host, "127.0.0.1");
  EXPECT_EQ(loaded->config.model.name, "smollm2-135m");
  EXPECT_EQ(loaded->config.server.body_bytes_max, limits::kBodyBytesMax);
  EXPECT_EQ(origin_of(*loaded, "server.port"), "default");
}

TEST(LoadConfig, FlagGoesOverEnvironmentOverFileOverDefault) {
  Given given;
  given.yaml = "server:\n  port: 1\nengine:\n  sequences: 2\nlog:\n  level: error\n";
  given.environment = {{"ZEROHOP_SERVER_PORT", "3"}, {"ZEROHOP_ENGINE_SEQUENCES", "4"}};
  given.flags = {{"server.port", "5"}};
  const auto loaded = load(given);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->config.server.port, 5);
  EXPECT_EQ(loaded->config.engine.sequences, 4u);
  EXPECT_EQ(loaded->config.log.level, LogLevel::kError);
  EXPECT_EQ(loaded->config.engine.batch_rows, 512u);
  EXPECT_EQ(origin_of(*loaded, "server.port"), "--port");
  EXPECT_EQ(origin_of(*loaded, "engine.sequences"), "ZEROHOP_ENGINE_SEQUENCES");
  EXPECT_TRUE(origin_of(*loaded, "log.level").ends_with("z.yaml:6"));
  EXPECT_EQ(origin_of(*loaded, "engine.batch_rows"), "default");
}

TEST(LoadConfig, ReadsEveryKindOfValue) {
  Given given;
  given.yaml =
      "model:\n"
      "  gpu_layers: all\n"
      "  devices: [CUDA0, CUDA1]\n"
      "  tensor_split: [3, 1.5]\n"
      "  split_mode: row\n"
      "  prepare: off\n"
      "  prepare_kl_max: 0.125\n"
      "  aliases:\n"
      "    claude-*-haiku-*: small\n"
      "    gpt-4o-mini: small\n"
      "engine:\n"
      "  threads: auto\n"
      "  deterministic: true\n"
      "  kv_layout: streams\n"
      "instance:\n"
      "  labels: {corpus_version: 20240601}\n"
      "stream:\n"
      "  ping_seconds: off\n";
  const auto loaded = load(given);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const Config& config = loaded->config;
  EXPECT_EQ(config.model.gpu_layers, ModelConfig::kAllLayers);
  EXPECT_EQ(config.model.devices, (std::vector<std::string>{"CUDA0", "CUDA1"}));
  EXPECT_EQ(config.model.tensor_split, (std::vector<double>{3, 1.5}));
  EXPECT_EQ(config.model.split_mode, LlamaSplitMode::kRow);
  EXPECT_EQ(config.model.prepare, PreparePolicy::kOff);
  EXPECT_EQ(config.model.prepare_kl_max, 0.125);
  EXPECT_EQ(config.model.aliases.at("claude-*-haiku-*"), "small");
  EXPECT_EQ(config.model.aliases.size(), 2u);
  EXPECT_EQ(config.engine.threads, 0u);
  EXPECT_TRUE(config.engine.deterministic);
  EXPECT_EQ(config.engine.kv_layout, KvLayoutChoice::kStreams);
  EXPECT_EQ(config.instance.labels.at("corpus_version"), "20240601");
  EXPECT_EQ(config.stream.ping_seconds, 0u);
}

TEST(LoadConfig, ReadsListsAndMapsFromOneText) {
  Given given;
  given.environment = {{"ZEROHOP_INSTANCE_LABELS", "a=1,b=x=y"}};
  given.flags = {{"model.tensor_split", "3,1"}, {"model.devices", "CUDA0"}};
  const auto loaded = load(given);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->config.instance.labels.at("b"), "x=y");
  EXPECT_EQ(loaded->config.model.tensor_split, (std::vector<double>{3, 1}));
  EXPECT_EQ(loaded->config.model.devices, std::vector<std::string>{"CUDA0"});
}

TEST(LoadConfig, KeepsTheDigitsOfNumbersInAMapOfMaps) {
  Given given;
  given.yaml =
      "prompt:\n"
      "  profiles:\n"
      "    desk:\n"
      "      system: \"7\"\n"
      "      tools:\n"
      "        - name: pay\n"
      "          input_schema:\n"
      "            properties: {cents: {multipleOf: 1.50, maximum: 1e3}}\n"
      "            required: []\n"
      "          strict: true\n"
      "          description: ~\n";
  const auto loaded = load(given);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->config.prompt.profiles.at("desk"),
            R"({"system":"7","tools":[{"name":"pay","input_schema":{"properties":{"cents":)"
            R"({"multipleOf":1.50,"maximum":1e3}},"required":[]},"strict":true,)"
            R"("description":null}]})");
}

TEST(LoadConfig, RefusesAFileInAnotherEncoding) {
  EXPECT_EQ(fault({.yaml = "\xff\xfes"}), "z.yaml: is not UTF-8 text");
}

TEST(LoadConfig, NamesAnUnknownKeyAndTheNearestKnownOne) {
  EXPECT_EQ(fault({.yaml = "server:\n  prot: 1\n"}),
            "z.yaml:2: unknown key 'server.prot'; did you mean 'server.port'?");
  EXPECT_EQ(fault({.yaml = "sever:\n  port: 1\n"}),
            "z.yaml:1: unknown section 'sever'; did you mean 'server'?");
  EXPECT_EQ(fault({.yaml = "engine:\n  prepare: safe\n"}),
            "z.yaml:2: unknown key 'engine.prepare'");
  EXPECT_EQ(fault({.environment = {{"ZEROHOP_SERVER_PROT", "1"}}}),
            "unknown environment variable 'ZEROHOP_SERVER_PROT'; did you mean "
            "'ZEROHOP_SERVER_PORT'?");
}

TEST(LoadConfig, LeavesForeignVariablesAlone) {
  EXPECT_TRUE(load({.environment = {{"ZEROHOP_GOLDEN_UPDATE", "1"}, {"SERVER_PROT", "1"}}}).ok());
}

TEST(LoadConfig, NamesAWrongNumberWithItsRangeAndPlace) {
  EXPECT_EQ(fault({.yaml = "server:\n  host: ::1\n  port: 65536\n"}),
            "z.yaml:3: server.port: 65536 is out of range (0 to 65535)");
  EXPECT_EQ(fault({.yaml = "server:\n  port: http\n"}),
            "z.yaml:2: server.port: 'http' is not a whole number (0 to 65535)");
  EXPECT_EQ(fault({.flags = {{"server.port", "-1"}}}), "--port: -1 is out of range (0 to 65535)");
  EXPECT_EQ(fault({.environment = {{"ZEROHOP_ENGINE_THREADS", "99999999999999999999999"}}}),
            "ZEROHOP_ENGINE_THREADS: 99999999999999999999999 is out of range (1 to 512, or auto)");
  EXPECT_EQ(fault({.flags = {{"engine.threads", "0"}}}),
            "--threads: 0 is out of range (1 to 512, or auto)");
  EXPECT_EQ(fault({.flags = {{"engine.context_tokens", "8k"}}}),
            "--context: '8k' is not a whole number (64 to 2147483647, or auto)");
  EXPECT_EQ(fault({.flags = {{"model.tensor_split", "1,-2"}}}),
            "--tensor-split: '-2' is not a number of 0 or more");
  EXPECT_EQ(fault({.flags = {{"model.tensor_split", "1,nan"}}}),
            "--tensor-split: 'nan' is not a number of 0 or more");
}

TEST(LoadConfig, NamesAWrongChoiceWithTheRightOnes) {
  EXPECT_EQ(fault({.flags = {{"log.level", "warn"}}}),
            "--log-level: 'warn' is not debug, info, warning, error or off");
  EXPECT_EQ(fault({.flags = {{"log.format", "jsn"}}}),
            "--log-format: 'jsn' is not text or json; did you mean 'json'?");
  EXPECT_EQ(fault({.yaml = "engine: {deterministic: yes}\n"}),
            "z.yaml:1: engine.deterministic: 'yes' is not true or false");
}

TEST(LoadConfig, NamesAValueOfTheWrongShape) {
  EXPECT_EQ(fault({.yaml = "server:\n  port: [1, 2]\n"}),
            "z.yaml:2: server.port: needs one value (0 to 65535), not a list");
  EXPECT_EQ(fault({.yaml = "server:\n  port:\n"}), "z.yaml:2: server.port: has no value");
  EXPECT_EQ(fault({.yaml = "instance:\n  labels: a\n"}),
            "z.yaml:2: instance.labels: needs a map of name to text");
  EXPECT_EQ(fault({.yaml = "model:\n  devices: {a: b}\n"}),
            "z.yaml:2: model.devices: needs a list of names, not a map");
  EXPECT_EQ(fault({.yaml = "model:\n  devices: [[a]]\n"}),
            "z.yaml:2: model.devices: an item must be one word or number");
  EXPECT_EQ(fault({.yaml = "server: 1\n"}), "z.yaml:1: section 'server' must be a map of keys");
  EXPECT_EQ(fault({.yaml = "- server\n"}), "z.yaml:1: must be a map of sections");
  EXPECT_EQ(fault({.environment = {{"ZEROHOP_INSTANCE_LABELS", "a"}}}),
            "ZEROHOP_INSTANCE_LABELS: 'a' is not of the form name=text");
}

TEST(LoadConfig, RefusesWhatIsGivenTwice) {
  EXPECT_EQ(fault({.yaml = "server:\n  port: 1\n  port: 2\n"}),
            "z.yaml:3: key 'server.port' is given twice");
  EXPECT_EQ(fault({.yaml = "log: {level: info}\nlog: {format: text}\n"}),
            "z.yaml:2: section 'log' is given twice");
  EXPECT_EQ(fault({.yaml = "instance: {labels: {a: 1, a: 2}}\n"}),
            "z.yaml:1: instance.labels: 'a' is given twice");
}

TEST(LoadConfig, RefusesTextThatCannotTravelInHeaders) {
  EXPECT_EQ(fault({.flags = {{"instance.id", "a b"}}}),
            "--instance-id: 'a b' must be 1 to 64 letters, digits, '-', '_' or '.'");
  EXPECT_EQ(fault({.yaml = "instance: {labels: {\"a b\": 1}}\n"}),
            "z.yaml:1: instance.labels: 'a b' must be 1 to 64 letters, digits, '-', '_' or '.'");
  EXPECT_EQ(fault({.flags = {{"server.unix_socket", std::string(108, 'x')}}}),
            "--unix-socket: '" + std::string(108, 'x') +
                "' is longer than the 107 bytes that a Unix socket's path may have");
}

TEST(LoadConfig, TellsWhereAFileIsNotYaml) {
  const std::string message = fault({.yaml = "server:\n  port: [1\n"});
  EXPECT_TRUE(message.starts_with("z.yaml:3: not valid YAML: ")) << message;
  EXPECT_EQ(fault({.yaml = "--- {}\n--- {}\n"}), "z.yaml:2: only one YAML document is allowed");
}

TEST(LoadConfig, NeverCrashesOnDamagedYaml) {
  const std::string good = "server:\n  port: 1\nmodel:\n  aliases: {a: b}\n  devices: [x]\n";
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const char byte : {'\0', '{', '[', ':', '&', '*', '!', '"', '\n', '\xff'}) {
      std::string damaged = good;
      damaged[at] = byte;
      const auto settings = parse_config_yaml(damaged, "z.yaml");
      if (settings.ok()) continue;
      EXPECT_TRUE(settings.error().message.starts_with("z.yaml:")) << settings.error().message;
    }
  }
  EXPECT_FALSE(parse_config_yaml(std::string(100'000, '['), "z.yaml").ok());
  EXPECT_FALSE(parse_config_yaml(std::string(2'000'000, 'a'), "z.yaml").ok());
}

TEST(LoadConfig, TellsThatTheFileIsMissing) {
  ConfigSources sources;
  sources.file = "/nonexistent/z.yaml";
  const auto loaded = load_config(sources);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().message, "/nonexistent/z.yaml: no such file");
}

TEST(LoadConfig, AcceptsAnEmptyFileAndEmptySections) {
  EXPECT_TRUE(load({.yaml = "# nothing\n"}).ok());
  EXPECT_TRUE(load({.yaml = "server:\nlog: {}\n"}).ok());
}

TEST(LoadConfig, MakesUpAnInstanceIdFromPoolAndSeed) {
  const auto one = load({.flags = {{"instance.pool", "gpu"}}, .seed = 1});
  const auto two = load({.flags = {{"instance.pool", "gpu"}}, .seed = 2});
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(one->config.instance.id.size(), std::string("gpu-01234567").size());
  EXPECT_TRUE(one->config.instance.id.starts_with("gpu-"));
  EXPECT_NE(one->config.instance.id, two->config.instance.id);
  EXPECT_EQ(load({.flags = {{"instance.id", "law-20240601"}}})->config.instance.id, "law-20240601");
}

// Whether there are keys is seen when the store is read (key_watch.h).
TEST(LoadConfig, RefusesToServeAPublicAddressWithoutKeysOnPurpose) {
  EXPECT_TRUE(load({.flags = {{"server.host", "0.0.0.0"}}}).ok());
  EXPECT_EQ(fault({.flags = {{"server.host", "0.0.0.0"}, {"auth.required", "never"}}}),
            "auth.required: never is allowed only on loopback or a Unix socket, not on '0.0.0.0'");
  EXPECT_EQ(fault({.flags = {{"auth.no_auth", "true"}, {"auth.required", "always"}}}),
            "no_auth and auth.required: always contradict each other");
  EXPECT_EQ(fault({.flags = {{"server.host", "::"}, {"auth.no_auth", "true"}}}),
            "no_auth is allowed only on loopback or a Unix socket, not on '::'");
  EXPECT_TRUE(load({.flags = {{"server.host", "::1"}, {"auth.no_auth", "true"}}}).ok());
  EXPECT_TRUE(
      load({.flags = {{"server.host", "0.0.0.0"}, {"server.unix_socket", "/run/z.sock"}}}).ok());
}

TEST(LoadConfig, RefusesSettingsThatContradictEachOther) {
  EXPECT_EQ(fault({.yaml = "engine: {batch_rows: 4, sequences: 8}\n"}),
            "z.yaml:1: engine.batch_rows (4) must be at least engine.sequences (8): each running "
            "sequence "
            "needs a row");
  EXPECT_EQ(
      fault({.yaml = "engine: {kv_cells: 100, context_tokens: 200}\n"}),
      "z.yaml:1: engine.kv_cells (100) must be at least engine.context_tokens (200), or auto");
  EXPECT_EQ(fault({.yaml = "engine: {sequences: 256, context_tokens: 8388608}\n"}),
            "z.yaml:1: engine.sequences × engine.context_tokens (2147483648) exceeds 2147483647 "
            "cells; lower "
            "one of them or set engine.kv_cells");
}

TEST(IsLoopbackHost, KnowsEveryFormOfThisMachine) {
  for (const char* host :
       {"localhost", "127.0.0.1", "127.8.9.10", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(is_loopback_host(host)) << host;
  }
  for (const char* host : {"", "0.0.0.0", "::", "128.0.0.1", "127.0.0.1.example.org", "127.1",
                           "::ffff:10.0.0.1", "10.0.0.1", "example.org"}) {
    EXPECT_FALSE(is_loopback_host(host)) << host;
  }
}

TEST(EffectiveConfigText, GivesTheSameConfigurationAgain) {
  Given given;
  given.yaml =
      "server: {host: ::1, unix_socket: \"/tmp/a b.sock\"}\n"
      "model: {devices: [CUDA0], tensor_split: [1, 0.5], aliases: {\"claude-*\": default}}\n"
      "engine: {threads: 3, deterministic: true, kv_cells: 9000}\n"
      "instance: {id: law-1, labels: {quote: 'say \"hi\" \\ there', colon: \"a: b # c\"}}\n"
      "prompt: {profiles: {desk: {system: 'a \"b\"\n: c', temperature: 0.50, top_k: 3}}}\n"
      "slo: {objectives: {up: {indicator: availability, target: 0.999}}}\n";
  const auto first = load(given);
  ASSERT_TRUE(first.ok()) << first.error().message;
  const auto second = load({.yaml = effective_config_text(*first)});
  ASSERT_TRUE(second.ok()) << second.error().message;
  for (const ConfigKey& key : config_table()) {
    EXPECT_EQ(current_value(key, first->config), current_value(key, second->config)) << key.path;
  }
}

TEST(LoadConfig, TellsTheLineOfAnEntryThatIsWrong) {
  const std::string yaml =
      "slo:\n  objectives:\n"
      "    up: {indicator: availability, target: 0.9}\n"
      "    late:\n      indicator: ttft\n      threshold_ms: 100\n      target: 2\n";
  const std::string told = fault({.yaml = yaml});
  EXPECT_TRUE(told.starts_with("z.yaml:4: slo.objectives: 'late': target: 2 is not")) << told;
  const std::string name = fault({.yaml = "slo:\n  objectives:\n\n    A b: {x: 1}\n"});
  EXPECT_TRUE(name.starts_with("z.yaml:4: slo.objectives: 'A b' must be")) << name;
  // Where no entry is named, the key's.
  const std::string same = fault({.yaml = "model:\n  name: x\n  aliases:\n    - 1\n"});
  EXPECT_TRUE(same.starts_with("z.yaml:3: model.aliases: needs")) << same;
}

TEST(EffectiveConfigText, ShowsWhereEachValueComesFrom) {
  const auto loaded = load({.flags = {{"server.port", "9000"}, {"instance.id", "x"}}});
  ASSERT_TRUE(loaded.ok());
  const std::string text = effective_config_text(*loaded);
  EXPECT_TRUE(
      text.starts_with("server:\n"
                       "  host: 127.0.0.1                            # default\n"
                       "  port: 9000                                 # --port\n"))
      << text.substr(0, 200);
}

}  // namespace
}  // namespace zerohop
