#include "app/doctor_report.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace zerohop {
namespace {

Verdict verdict_about(const std::vector<Diagnosis>& found, std::string_view about) {
  const auto at = std::ranges::find(found, about, &Diagnosis::about);
  EXPECT_NE(at, found.end()) << about;
  return at == found.end() ? Verdict::kFine : at->verdict;
}

MachineFacts healthy() {
  MachineFacts facts;
  facts.processor = "a processor";
  facts.cores = 4;
  facts.free_memory_bytes = std::uint64_t{8} << 30;
  facts.open_files_max = 1 << 20;
  facts.rates = {20e9, 100e9};
  facts.model_bytes = std::uint64_t{1} << 30;
  return facts;
}

TEST(Doctor, IsContentWithAHealthyMachine) {
  for (const Diagnosis& diagnosis : diagnose_machine(healthy(), Config{})) {
    EXPECT_EQ(diagnosis.verdict, Verdict::kFine) << diagnosis.text;
  }
}

TEST(Doctor, WarnsOfMemoryThatIsScarceOrNotThere) {
  MachineFacts facts = healthy();
  facts.free_memory_bytes = facts.model_bytes + facts.model_bytes / 4;
  EXPECT_EQ(verdict_about(diagnose_machine(facts, Config{}), "memory"), Verdict::kAdvice);
  facts.free_memory_bytes = facts.model_bytes / 2;
  EXPECT_EQ(verdict_about(diagnose_machine(facts, Config{}), "memory"), Verdict::kWrong);
}

TEST(Doctor, WantsAFileForEachConnection) {
  MachineFacts facts = healthy();
  Config config;
  config.server.connections_max = 1000;
  facts.open_files_max = 1024;
  EXPECT_EQ(verdict_about(diagnose_machine(facts, config), "files"), Verdict::kAdvice);
}

TEST(Doctor, SaysHowAMissingModelIsBrought) {
  MachineFacts facts = healthy();
  facts.model_bytes = 0;
  const auto found = diagnose_machine(facts, Config{});
  EXPECT_EQ(verdict_about(found, "model"), Verdict::kAdvice);
  EXPECT_EQ(verdict_about(found, "memory"), Verdict::kFine);
  EXPECT_NE(diagnoses_text(found).find("zerohop pull"), std::string::npos);
}

TEST(Doctor, RepeatsWhatIsWrongWithAConfiguration) {
  EXPECT_EQ(diagnose_config(Error{ErrorCode::kConfiguration, "server.port: 0", "", {}}).verdict,
            Verdict::kWrong);
  LoadedConfig loaded;
  EXPECT_EQ(diagnose_config(loaded).verdict, Verdict::kFine);
  loaded.warnings = {"one is not used", "nor is two"};
  const Diagnosis advice = diagnose_config(loaded);
  EXPECT_EQ(advice.verdict, Verdict::kAdvice);
  EXPECT_EQ(advice.text, "one is not used; nor is two");
}

TEST(Doctor, NamesAGatewayPressureAndAnOpenCircuit) {
  const auto found = diagnose_server(
      R"({"version":"1","instance":"i","pressure":{"rung":"shed","cause":"cells",)"
      R"("circuit_open":true},"preparation":{"policy":"off","prepared":false,"reason":"off"},)"
      R"("gateways":[{"name":"litellm"},7]})");
  EXPECT_EQ(verdict_about(found, "pressure"), Verdict::kAdvice);
  EXPECT_EQ(verdict_about(found, "engine"), Verdict::kWrong);
  EXPECT_EQ(verdict_about(found, "gateway"), Verdict::kAdvice);
  EXPECT_EQ(verdict_about(found, "model"), Verdict::kAdvice);
  EXPECT_NE(diagnoses_json(found).find("\"verdict\":\"wrong\""), std::string::npos);
}

TEST(Doctor, TellsOtherServersApart) {
  for (const char* body : {"", "{}", "[]", "nginx"}) {
    EXPECT_EQ(verdict_about(diagnose_server(body), "server"), Verdict::kWrong) << body;
  }
}

}  // namespace
}  // namespace zerohop
