#include "app/slo_objectives.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

using std::chrono::milliseconds;

Result<std::vector<SloObjective>> read(const std::map<std::string, std::string>& objectives) {
  Config config;
  config.slo.objectives = objectives;
  return slo_objectives(config);
}

// The complaint about one objective; its place aside.
std::string fault(const std::string& members) {
  const auto objectives = read({{"x", members}});
  if (objectives.ok()) return "no error";
  EXPECT_EQ(objectives.error().code, ErrorCode::kConfiguration);
  const std::string place = "slo.objectives: 'x': ";
  EXPECT_TRUE(objectives.error().message.starts_with(place)) << objectives.error().message;
  return objectives.error().message.substr(place.size());
}

TEST(SloObjectives, AreReadMemberByMember) {
  const auto objectives =
      read({{"up", R"({"indicator":"availability","target":0.999})"},
            {"first", R"({"indicator":"ttft","class":"priority","threshold_ms":250.5,)"
                      R"("target":0.99,"tier":"small"})"}});
  ASSERT_TRUE(objectives.ok()) << objectives.error().message;
  ASSERT_EQ(objectives->size(), 2u);
  const SloObjective& first = objectives->at(0);
  EXPECT_EQ(first.name, "first");
  EXPECT_EQ(first.indicator, SloIndicator::kTtft);
  EXPECT_EQ(first.priority, PriorityClass::kPriority);
  EXPECT_EQ(first.threshold, std::chrono::microseconds(250'500));
  EXPECT_EQ(first.target, 0.99);
  EXPECT_EQ(first.tier, "small");
  const SloObjective& up = objectives->at(1);
  EXPECT_EQ(up.indicator, SloIndicator::kAvailability);
  EXPECT_EQ(up.priority, std::nullopt);
  EXPECT_EQ(up.threshold, Duration::zero());
  EXPECT_EQ(up.tier, "");
}

TEST(SloObjectives, ThereMayBeNone) {
  const auto objectives = read({});
  ASSERT_TRUE(objectives.ok());
  MetricsRegistry registry({"i", "p"});
  EXPECT_EQ(make_slo_metrics(registry, *objectives, "small"), nullptr);
}

TEST(SloObjectives, RefuseWhatIsAbsurd) {
  const std::string time = R"({"indicator":"ttft","target":0.9,"threshold_ms":)";
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"target":0.9})", "indicator is missing"},
      {R"({"indicator":"ttfb","target":0.9,"threshold_ms":1})",
       "indicator: 'ttfb' is not availability, ttft, itl or total; did you mean 'ttft'?"},
      {R"({"indicator":7,"target":0.9,"threshold_ms":1})", "indicator: 7 is not"},
      {R"({"indicator":"availability"})", "target is missing"},
      {R"({"indicator":"availability","target":1})", "target: 1 is not a share above 0"},
      {R"({"indicator":"availability","target":0})", "target: 0 is not a share"},
      {R"({"indicator":"availability","target":-0.5})", "target: -0.5 is not a share"},
      {R"({"indicator":"availability","target":99.9})", "target: 99.9 is not a share"},
      {R"({"indicator":"availability","target":"0.9"})", "target: '0.9' is not a share"},
      {R"({"indicator":"availability","target":0.9,"threshold_ms":5})",
       "availability has no threshold_ms"},
      {R"({"indicator":"itl","target":0.9})", "threshold_ms is missing"},
      {time + "0}", "threshold_ms: 0 is not a number of milliseconds above 0"},
      {time + "-3}", "threshold_ms: -3 is not"},
      {time + "1e-9}", "threshold_ms: 1e-09 is not"},
      {time + "86400001}", "threshold_ms: 86400001 is not"},
      {time + "1e300}", "threshold_ms: 1e+300 is not"},
      {time + R"("1s"})", "threshold_ms: '1s' is not"},
      {time + R"(5,"class":"gold"})", "class: 'gold' is not priority, standard or batch"},
      {time + R"(5,"class":"standart"})", "did you mean 'standard'?"},
      {time + R"(5,"class":null})", "class: null is not"},
      {time + R"(5,"tier":""})", "tier: '' is not the name of a model"},
      {time + R"(5,"tier":3})", "tier: 3 is not the name of a model"},
      {time + R"(5,"treshold_ms":3})",
       "unknown member 'treshold_ms'; did you mean 'threshold_ms'?"},
      {"[1]", "must be a map"},
      {"", "must be a map"},
  };
  for (const auto& [members, complaint] : cases) {
    const std::string told = fault(members);
    EXPECT_NE(told.find(complaint), told.npos) << members << ": " << told;
  }
}

TEST(SloObjectives, ShareAndTimeMayBeSmall) {
  EXPECT_EQ(fault(R"({"indicator":"itl","target":0.001,"threshold_ms":0.001})"), "no error");
  EXPECT_EQ(fault(R"({"indicator":"itl","target":0.99999,"threshold_ms":86400000})"), "no error");
}

TEST(SloObjectives, MustNotMeasureTheSameTwice) {
  const std::string first = R"({"indicator":"ttft","target":0.9,"threshold_ms":500})";
  const auto same = read({{"a", first},
                          {"b", R"({"indicator":"ttft","target":0.99,)"
                                R"("threshold_ms":500.0})"}});
  ASSERT_FALSE(same.ok());
  EXPECT_EQ(same.error().message, "slo.objectives: 'b': measures the same as 'a'");
  for (const char* other : {R"({"indicator":"ttft","target":0.9,"threshold_ms":501})",
                            R"({"indicator":"itl","target":0.9,"threshold_ms":500})",
                            R"({"indicator":"ttft","class":"batch","target":0.9,)"
                            R"("threshold_ms":500})",
                            R"({"indicator":"ttft","tier":"x","target":0.9,"threshold_ms":500})"}) {
    EXPECT_TRUE(read({{"a", first}, {"b", other}}).ok()) << other;
  }
}

TEST(SloObjectives, MustAllHaveSeriesOfTheirOwn) {
  Config config;
  config.metrics.series_max = 10;
  for (int i = 1; i <= 3; ++i) {
    config.slo.objectives["o" + std::to_string(i)] =
        R"({"indicator":"ttft","target":0.9,"threshold_ms":)" + std::to_string(i) + "}";
  }
  EXPECT_TRUE(slo_objectives(config).ok());
  config.slo.objectives["o4"] =
      R"({"indicator":"itl","class":"batch","target":0.9,"threshold_ms":9})";
  const auto many = slo_objectives(config);
  ASSERT_FALSE(many.ok());
  EXPECT_NE(many.error().message.find("slo.objectives: they need 10 series"), std::string::npos)
      << many.error().message;
}

TEST(SloObjectives, NameTiersThatRun) {
  SloObjective one;
  one.name = "up";
  EXPECT_TRUE(check_objective_tiers({one}, "small").ok());
  one.tier = "small";
  EXPECT_TRUE(check_objective_tiers({one}, "small").ok());
  const auto other = check_objective_tiers({one}, "large");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().message,
            "slo.objectives: 'up': tier: 'small' does not run here, but the model that runs is "
            "'large'");
}

TEST(ObjectiveNameRule, TakesWhatALabelAndAnAlertCanBear) {
  for (const char* good : {"a", "ttft-standard", "p99", "7"}) {
    EXPECT_FALSE(objective_name_rule(good).has_value()) << good;
  }
  const std::string long_one(65, 'a');
  for (const std::string& bad :
       {std::string(), std::string("A"), std::string("a_b"), std::string("-a"), std::string("a-"),
        std::string("a b"), std::string("a\"b"), long_one}) {
    EXPECT_TRUE(objective_name_rule(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace zerohop
