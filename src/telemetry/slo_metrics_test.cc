#include "telemetry/slo_metrics.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "telemetry/metrics_test_kit.h"

namespace zerohop {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using End = AnswerForSlo::End;
using Outcome = SloMetrics::Outcome;

constexpr PriorityClass kStandard = PriorityClass::kStandard;

SloObjective objective(const std::string& name, SloIndicator indicator, Duration threshold = {}) {
  SloObjective made;
  made.name = name;
  made.indicator = indicator;
  made.threshold = threshold;
  made.target = 0.99;
  return made;
}

// One objective of each kind, for every class.
std::vector<SloObjective> one_of_each() {
  return {objective("up", SloIndicator::kAvailability),
          objective("first", SloIndicator::kTtft, seconds(1)),
          objective("pause", SloIndicator::kItl, milliseconds(300)),
          objective("whole", SloIndicator::kTotal, seconds(10))};
}

struct Page {
  MetricsRegistry registry{{"i", "p"}};
  SloMetrics slo;

  explicit Page(const std::vector<SloObjective>& objectives = one_of_each())
      : slo(registry, objectives, "small") {}

  std::string value(const std::string& family, const std::string& name,
                    const std::string& priority) const {
    const std::string labels =
        "objective=\"" + name + "\",tier=\"small\",class=\"" + priority + "\"";
    return value_of(registry, family, labels);
  }
  // "good of total"
  std::string count(const std::string& name, const std::string& priority = "standard") const {
    return value("zerohop_slo_good_total", name, priority) + " of " +
           value("zerohop_slo_total", name, priority);
  }
};

// A stream that met every objective.
AnswerForSlo quick() {
  AnswerForSlo answer;
  answer.first_text = milliseconds(400);
  answer.longest_pause = milliseconds(40);
  answer.total = seconds(4);
  return answer;
}

// What `answer` alone does to the objectives of a time.
std::string counts_of(const AnswerForSlo& answer) {
  Page page;
  page.slo.count_answer(answer);
  EXPECT_EQ(page.count("up"), "0 of 0") << "an answer says nothing about availability";
  return page.count("first") + ", " + page.count("pause") + ", " + page.count("whole");
}

TEST(SloMetrics, StandsOnThePageBeforeAnythingHappens) {
  const Page page;
  for (const char* name : {"up", "first", "pause", "whole"}) {
    for (const char* priority : {"priority", "standard", "batch"}) {
      EXPECT_EQ(page.count(name, priority), "0 of 0") << name;
    }
  }
}

TEST(SloMetrics, CountsAGoodAnswerForEveryTime) {
  EXPECT_EQ(counts_of(quick()), "1 of 1, 1 of 1, 1 of 1");
}

TEST(SloMetrics, TheThresholdItselfIsGood) {
  AnswerForSlo answer = quick();
  answer.first_text = seconds(1);
  answer.longest_pause = milliseconds(300);
  answer.total = seconds(10);
  EXPECT_EQ(counts_of(answer), "1 of 1, 1 of 1, 1 of 1");
  answer.first_text = seconds(1) + Duration(1);
  answer.longest_pause = milliseconds(300) + Duration(1);
  answer.total = seconds(10) + Duration(1);
  EXPECT_EQ(counts_of(answer), "0 of 1, 0 of 1, 0 of 1");
}

TEST(SloMetrics, AWholeAnswerWithoutTextHasNoFirstToken) {
  AnswerForSlo answer = quick();
  answer.first_text.reset();
  answer.longest_pause.reset();
  EXPECT_EQ(counts_of(answer), "0 of 0, 0 of 0, 1 of 1");
}

TEST(SloMetrics, WhatIsNoStreamHasNoPauses) {
  AnswerForSlo answer = quick();
  answer.longest_pause.reset();
  EXPECT_EQ(counts_of(answer), "1 of 1, 0 of 0, 1 of 1");
}

TEST(SloMetrics, AFailureIsNeverInTime) {
  AnswerForSlo answer = quick();
  answer.end = End::kFailed;
  EXPECT_EQ(counts_of(answer), "1 of 1, 1 of 1, 0 of 1") << "its first token did come";
  answer.first_text.reset();
  answer.longest_pause.reset();
  answer.total = milliseconds(1);
  EXPECT_EQ(counts_of(answer), "0 of 1, 0 of 0, 0 of 1");
}

TEST(SloMetrics, WhoLeavesCountsWhereItWasDecided) {
  AnswerForSlo answer = quick();
  answer.end = End::kLeft;
  EXPECT_EQ(counts_of(answer), "1 of 1, 1 of 1, 0 of 0") << "its end might have been in time";
  answer.total = seconds(11);
  EXPECT_EQ(counts_of(answer), "1 of 1, 1 of 1, 0 of 1");
  answer.first_text.reset();
  answer.longest_pause.reset();
  EXPECT_EQ(counts_of(answer), "0 of 1, 0 of 0, 0 of 1");
  answer.total = seconds(1);
  EXPECT_EQ(counts_of(answer), "0 of 0, 0 of 0, 0 of 0");
}

TEST(SloMetrics, RequestsCountForAvailabilityAlone) {
  Page page;
  page.slo.count_request(kStandard, Outcome::kGood);
  page.slo.count_request(kStandard, Outcome::kGood);
  page.slo.count_request(kStandard, Outcome::kBad);
  page.slo.count_request(PriorityClass::kBatch, Outcome::kBad);
  EXPECT_EQ(page.count("up"), "2 of 3");
  EXPECT_EQ(page.count("up", "batch"), "0 of 1");
  EXPECT_EQ(page.count("up", "priority"), "0 of 0");
  for (const char* name : {"first", "pause", "whole"}) EXPECT_EQ(page.count(name), "0 of 0");
}

TEST(SloMetrics, AnObjectiveOfAClassCountsThatClass) {
  std::vector<SloObjective> objectives = one_of_each();
  for (SloObjective& one : objectives) one.priority = PriorityClass::kPriority;
  Page page(objectives);
  AnswerForSlo answer = quick();
  page.slo.count_answer(answer);
  page.slo.count_request(kStandard, Outcome::kBad);
  answer.priority = PriorityClass::kPriority;
  page.slo.count_answer(answer);
  page.slo.count_request(answer.priority, Outcome::kGood);
  for (const char* name : {"up", "first", "pause", "whole"}) {
    EXPECT_EQ(page.count(name, "priority"), "1 of 1");
    EXPECT_EQ(page.count(name, "standard"), "missing of missing");
  }
}

TEST(SloMetrics, AnObjectiveOfAnotherTierCountsNothing) {
  std::vector<SloObjective> objectives = one_of_each();
  objectives[1].tier = "small";
  objectives[3].tier = "large";
  Page page(objectives);
  page.slo.count_answer(quick());
  EXPECT_EQ(page.count("first"), "1 of 1");
  EXPECT_EQ(page.count("whole"), "missing of missing");
}

// Two readings of one configuration: a reload does not begin anew.
TEST(SloMetrics, GoesOnCountingWhereItWasMadeBefore) {
  Page page;
  page.slo.count_answer(quick());
  const SloMetrics again(page.registry, one_of_each(), "small");
  again.count_answer(quick());
  EXPECT_EQ(page.count("first"), "2 of 2");
}

TEST(SloMetrics, WhatIsNoLongerAnObjectiveLeavesThePage) {
  Page page;
  page.slo.count_answer(quick());
  std::vector<SloObjective> next = one_of_each();
  next[1].name = "renamed";
  next[2].priority = kStandard;
  next[3].tier = "large";
  page.slo.retire_all_but(page.registry, next);
  const SloMetrics after(page.registry, next, "small");
  after.count_answer(quick());
  page.slo.count_answer(quick());  // one that began before
  EXPECT_EQ(page.count("up"), "0 of 0");
  EXPECT_EQ(page.count("renamed"), "1 of 1");
  EXPECT_EQ(page.count("first"), "missing of missing");
  EXPECT_EQ(page.count("pause"), "3 of 3");
  EXPECT_EQ(page.count("pause", "batch"), "missing of missing");
  EXPECT_EQ(page.count("whole"), "missing of missing");
  // Back again: a counter never falls.
  const SloMetrics back(page.registry, one_of_each(), "small");
  EXPECT_EQ(page.count("first"), "2 of 2");
}

}  // namespace
}  // namespace zerohop
