#include "engine/fault_finder.h"

#include <gtest/gtest.h>

#include <memory>

namespace zerohop {
namespace {

class FaultFinderTest : public testing::Test {
 protected:
  FaultFinderTest() {
    for (std::uint64_t i = 0; i < 4; ++i) {
      owned_.push_back(std::make_unique<Sequence>());
      owned_.back()->id = EngineRequestId(i);
      owned_.back()->computed = 10;
      owned_.back()->step_rows = 2;
      all_.push_back(owned_.back().get());
    }
  }
  std::vector<Sequence*> chosen() {
    std::vector<Sequence*> runnable = all_;
    finder_.choose(runnable);
    return runnable;
  }

  std::vector<std::unique_ptr<Sequence>> owned_;
  std::vector<Sequence*> all_;
  FaultFinder finder_;
};

TEST_F(FaultFinderTest, RepeatsAFirstFailureWithEverybody) {
  EXPECT_TRUE(finder_.failed(all_).empty());
  EXPECT_EQ(chosen(), all_);
}

TEST_F(FaultFinderTest, RunsSuspectsAloneInTurnsWithTheOthers) {
  const std::vector<Sequence*> first_two{all_[0], all_[1]};
  finder_.failed(all_);
  finder_.failed(first_two);
  EXPECT_EQ(chosen(), (std::vector<Sequence*>{all_[0]}));
  EXPECT_EQ(chosen(), (std::vector<Sequence*>{all_[2], all_[3]}));
  EXPECT_EQ(finder_.failed(std::vector<Sequence*>{all_[0]}), (std::vector<Sequence*>{all_[0]}));
}

TEST_F(FaultFinderTest, AcquitsASequenceThatIsPastThePlaceOfTheFailure) {
  finder_.failed(all_);
  finder_.failed(all_);
  all_[1]->computed = 11;
  FaultFinder::acquit_if_past(*all_[1]);
  EXPECT_TRUE(all_[1]->faults.any());
  all_[1]->computed = 12;
  FaultFinder::acquit_if_past(*all_[1]);
  EXPECT_FALSE(all_[1]->faults.any());
}

TEST_F(FaultFinderTest, HoldsAFailureOnTheWayBackAgainstNobody) {
  const std::vector<Sequence*> one{all_[0]};
  EXPECT_TRUE(finder_.failed(one).empty());
  all_[0]->computed = 0;
  all_[0]->step_rows = 8;
  EXPECT_TRUE(finder_.failed(one).empty());
  all_[0]->computed = 10;
  all_[0]->step_rows = 2;
  EXPECT_EQ(finder_.failed(one), one);
}

TEST_F(FaultFinderTest, EndsASequenceWithWhichNothingEverWorks) {
  const std::vector<Sequence*> one{all_[0]};
  finder_.failed(one);
  all_[0]->computed = 0;
  all_[0]->step_rows = 1;
  int failures = 1;
  while (finder_.failed(one).empty()) ASSERT_LT(++failures, 20);
}

TEST_F(FaultFinderTest, ComputesOneAtATimeAndInTurnsWhileNothingWorks) {
  for (std::uint32_t i = 0; i < FaultFinder::kCircuitFailures; ++i) {
    EXPECT_FALSE(finder_.circuit_open());
    finder_.no_room(4);
  }
  EXPECT_TRUE(finder_.circuit_open());
  EXPECT_EQ(chosen(), (std::vector<Sequence*>{all_[1]}));
  EXPECT_EQ(chosen(), (std::vector<Sequence*>{all_[2]}));
  EXPECT_EQ(chosen(), (std::vector<Sequence*>{all_[3]}));
  EXPECT_EQ(chosen(), (std::vector<Sequence*>{all_[0]}));
  finder_.succeeded();
  EXPECT_FALSE(finder_.circuit_open());
  EXPECT_EQ(chosen(), all_);
}

TEST_F(FaultFinderTest, GivesEverythingAwayBeforeALackOfRoomIsAnybodysFault) {
  EXPECT_FALSE(finder_.short_of_room());
  EXPECT_EQ(finder_.no_room(3), FaultFinder::NoRoom::kDropIdle);
  EXPECT_TRUE(finder_.short_of_room());
  EXPECT_EQ(finder_.no_room(3), FaultFinder::NoRoom::kPark);
  EXPECT_EQ(finder_.no_room(2), FaultFinder::NoRoom::kPark);
  EXPECT_EQ(finder_.no_room(1), FaultFinder::NoRoom::kGuilty);
  finder_.succeeded();
  EXPECT_EQ(finder_.no_room(1), FaultFinder::NoRoom::kDropIdle);
  EXPECT_EQ(finder_.no_room(1), FaultFinder::NoRoom::kDropIdle);
  EXPECT_EQ(finder_.no_room(1), FaultFinder::NoRoom::kGuilty);
}

}  // namespace
}  // namespace zerohop
