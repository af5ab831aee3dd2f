#include "app/otlp_settings.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "app/config_load.h"
#include "app/test_folder.h"

namespace zerohop {
namespace {

OtlpConfig endpoint(const std::string& text) {
  OtlpConfig config;
  config.endpoint = text;
  return config;
}

OtlpConfig header(const std::string& name, const std::string& origin) {
  OtlpConfig config;
  config.headers[name] = origin;
  return config;
}

std::string fault_of(const OtlpConfig& config) {
  const Result<void> checked = check_otlp_rules(config);
  return checked.ok() ? "" : checked.error().message;
}

TEST(OtlpRules, TakeAnHttpAddressWithOrWithoutAPath) {
  for (const char* good : {"", "http://127.0.0.1:4318", "http://collector:4318/", "http://[::1]:1",
                           "http://collector", "http://collector:4318/otlp/zerohop"}) {
    EXPECT_EQ(fault_of(endpoint(good)), "") << good;
  }
  for (const char* bad :
       {"collector:4318", "http://", "http://:4318", "http://collector:", "http://collector:0",
        "http://collector:70000", "http://collector:x", "http://user:secret@collector:4318",
        "http://collector:4318/?a=b", "http://collector:4318/#a", "grpc://collector:4317",
        "http://collect or:4318", "http://collector:4318/\r\nx: y"}) {
    const std::string fault = fault_of(endpoint(bad));
    EXPECT_TRUE(fault.starts_with("otlp.endpoint: ")) << bad;
    EXPECT_EQ(fault.find("secret"), std::string::npos) << fault;
  }
}

TEST(OtlpRules, SayThatHttpsIsNotSupported) {
  EXPECT_NE(fault_of(endpoint("https://collector:4318")).find("https is not supported"),
            std::string::npos);
}

TEST(OtlpRules, WantTheValuesOfHeadersSomewhereElse) {
  for (const char* good : {"env:TOKEN", "file:/run/secrets/otlp"}) {
    EXPECT_EQ(fault_of(header("authorization", good)), "") << good;
  }
  for (const char* bad : {"Bearer abcdef", "env:", "file:", "ENV:TOKEN"}) {
    const std::string fault = fault_of(header("authorization", bad));
    EXPECT_TRUE(fault.starts_with("otlp.headers: ")) << bad;
    EXPECT_EQ(fault.find("abcdef"), std::string::npos) << fault;
  }
  for (const char* ours : {"Content-Type", "host", "content-length", "Connection"}) {
    EXPECT_NE(fault_of(header(ours, "env:TOKEN")), "") << ours;
  }
}

TEST(CollectorOf, LeavesOutTheSlashAtTheEnd) {
  EXPECT_EQ(collector_of(endpoint("http://a:4318")).path, "");
  EXPECT_EQ(collector_of(endpoint("http://a:4318/")).path, "");
  EXPECT_EQ(collector_of(endpoint("http://a:4318/x/y/")).path, "/x/y");
  EXPECT_EQ(collector_of(endpoint("http://[::1]:4318")).host, "::1");
}

TEST(SecretHeaders, ComeFromVariablesAndFromFilesAsTheyAreNow) {
  const TestFolder folder;
  const std::filesystem::path file = folder.path() / "token";
  OtlpConfig config;
  config.headers = {{"authorization", "file:" + file.string()}, {"x-scope", "env:SCOPE"}};
  const SecretHeaders headers(config, {{"SCOPE", "team-a"}});
  const auto missing = headers.read();
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find(file.string()), std::string::npos);
  for (const std::string token : {"Bearer one", "Bearer two"}) {
    std::ofstream(file) << token << "\n";
    const auto read = headers.read();
    ASSERT_TRUE(read.ok()) << read.error().message;
    ASSERT_EQ(read->size(), 2u);
    EXPECT_EQ((*read)[0].value, token);
    EXPECT_EQ((*read)[1].value, "team-a");
  }
  std::ofstream(file) << "two\nlines";
  const auto broken = headers.read();
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().message.find("lines"), std::string::npos) << broken.error().message;
}

TEST(SecretHeaders, ThatStandNowhereAreAFault) {
  const SecretHeaders headers(header("authorization", "env:NOBODY_SETS_THIS"), {});
  EXPECT_FALSE(headers.read().ok());
}

// ---- In the configuration ----

LoadedConfig loaded(const Environment& environment, const std::string& yaml = "") {
  const TestFolder folder;
  ConfigSources sources;
  sources.environment = environment;
  if (!yaml.empty()) {
    sources.file = folder.path() / "zerohop.yaml";
    std::ofstream(*sources.file) << yaml;
  }
  auto config = load_config(sources);
  EXPECT_TRUE(config.ok()) << config.error().message;
  return std::move(config).value();
}

TEST(StandardVariables, CountWhereNobodyElseSaysAnything) {
  const Environment environment{{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318"},
                                {"OTEL_SERVICE_NAME", "llm"}};
  const LoadedConfig by_them = loaded(environment);
  EXPECT_EQ(by_them.config.otlp.endpoint, "http://collector:4318");
  EXPECT_EQ(by_them.config.otlp.service_name, "llm");
  const LoadedConfig off = loaded(environment, "otlp: {endpoint: \"\", service_name: own}");
  EXPECT_EQ(off.config.otlp.endpoint, "");
  EXPECT_EQ(off.config.otlp.service_name, "own");
  Environment both = environment;
  both["ZEROHOP_OTLP_ENDPOINT"] = "http://other:4318";
  EXPECT_EQ(loaded(both).config.otlp.endpoint, "http://other:4318");
  EXPECT_EQ(loaded({}).config.otlp.endpoint, "");
}

// They were set for every program of the machine: that one of them cannot export to there is to be
// said, and no reason to serve nobody.
TEST(StandardVariables, ThatCannotBeUsedAreLeftOutWithAWarning) {
  const LoadedConfig secure = loaded(
      {{"OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector:4318"}, {"OTEL_SERVICE_NAME", "llm"}});
  EXPECT_EQ(secure.config.otlp.endpoint, "");
  EXPECT_EQ(secure.config.otlp.service_name, "llm");
  ASSERT_EQ(secure.warnings.size(), 1u);
  const std::string& warning = secure.warnings[0];
  for (const char* part : {"OTEL_EXPORTER_OTLP_ENDPOINT is not used: ", "https is not supported",
                           "reached over http", "ZEROHOP_OTLP_ENDPOINT"}) {
    EXPECT_NE(warning.find(part), warning.npos) << warning;
  }
  const LoadedConfig odd = loaded({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://jo:secret@collector"},
                                   {"OTEL_SERVICE_NAME", "a\nb"}});
  EXPECT_EQ(odd.config.otlp.endpoint, "");
  EXPECT_EQ(odd.config.otlp.service_name, OtlpConfig().service_name);
  ASSERT_EQ(odd.warnings.size(), 2u);
  for (const std::string& text : odd.warnings) EXPECT_EQ(text.find("secret"), text.npos) << text;
}

TEST(StandardVariables, WarnOfNothingWhereTheyDoNotCount) {
  const Environment https{{"OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector:4318"}};
  EXPECT_TRUE(loaded(https, "otlp: {endpoint: \"\"}").warnings.empty());
  EXPECT_TRUE(loaded({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318"}}).warnings.empty());
  // What else is wrong in the section is not their fault, and stops the start as ever.
  ConfigSources sources;
  sources.environment = {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318"},
                         {"ZEROHOP_OTLP_HEADERS", "authorization=Bearer x"}};
  const auto config = load_config(sources);
  ASSERT_FALSE(config.ok());
  EXPECT_TRUE(config.error().message.starts_with("ZEROHOP_OTLP_HEADERS: otlp.headers: "))
      << config.error().message;
}

// Set for this program it is a fault of its configuration.
TEST(StandardVariables, AreForgivenAndOwnOnesAreNot) {
  ConfigSources sources;
  sources.environment = {{"ZEROHOP_OTLP_ENDPOINT", "https://collector:4318"}};
  const auto config = load_config(sources);
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.error().code, ErrorCode::kConfiguration);
  EXPECT_TRUE(config.error().message.starts_with("ZEROHOP_OTLP_ENDPOINT: otlp.endpoint: "))
      << config.error().message;
}

}  // namespace
}  // namespace zerohop
