#include "admission/budget_journal.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <vector>

#include "base/random.h"
#include "store/store_test_folder.h"

namespace zerohop {
namespace {

using std::chrono::hours;

class BudgetJournalTest : public testing::Test {
 protected:
  void SetUp() override { restart(); }

  // As a crash does: what is in memory is gone, reservations and all.
  void restart(std::uint32_t pages_max = 0) {
    running.clear();
    limiter = std::make_unique<Limiter>();
    journal.reset();
    DatabaseOptions options;
    options.path = folder.file("budgets.db");
    options.pages_max = pages_max;
    Result<std::unique_ptr<BudgetJournal>> opened = BudgetJournal::open(options);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    journal = std::move(opened).value();
    limiter->on_new_budget([this](const Limiter::NewBudget& made) { journal->attach(made); });
  }

  Reservation entered() {
    LimitParties parties;
    parties.key = LimitParty{"key_1", limits};
    auto reservation = limiter->enter(parties, limit_moment(clock));
    EXPECT_TRUE(reservation.ok());
    return reservation.ok() ? std::move(*reservation) : Reservation{};
  }
  bool spend(std::uint64_t tokens) {
    Reservation reservation = entered();
    const TokenClaim claim{{tokens, 0, 0}, {}};
    if (!reservation.claim(claim, limit_moment(clock)).ok()) return false;
    reservation.settle(claim.tokens, limit_moment(clock));
    return true;
  }
  std::uint64_t used() {
    const Reservation reservation = entered();
    const LimitReport report = reservation.report(limit_moment(clock));
    return report.tokens->limit - report.tokens->remaining;
  }

  StoreTestFolder folder;
  VirtualClock clock;
  Limits limits;
  std::unique_ptr<BudgetJournal> journal;
  std::unique_ptr<Limiter> limiter;
  std::vector<Reservation> running;
};

TEST_F(BudgetJournalTest, RestoresTheExactNumberAfterAnOrderlyEnd) {
  limits.tokens_per_day = 10'000;
  ASSERT_TRUE(spend(123));
  ASSERT_TRUE(journal->write_behind().ok());
  ASSERT_TRUE(journal->write_exact().ok());
  for (int i = 0; i < 3; ++i) {
    restart();
    EXPECT_EQ(used(), 123u);
    ASSERT_TRUE(journal->write_behind().ok());
  }
}

TEST_F(BudgetJournalTest, ForfeitsTheOpenLeaseInACrash) {
  limits.tokens_per_day = 10'000;
  ASSERT_TRUE(spend(123));
  ASSERT_TRUE(journal->write_behind().ok());
  restart();
  EXPECT_EQ(used(), 123u + budget_lease(10'000));
  // Crashes of a server that serves nothing cost nothing more.
  ASSERT_TRUE(journal->write_behind().ok());
  restart();
  EXPECT_EQ(used(), 123u + budget_lease(10'000));
}

TEST_F(BudgetJournalTest, ForgetsReservationsAndRemembersWhatTheyWereServed) {
  limits.tokens_per_day = 10'000;
  Reservation open = entered();
  ASSERT_TRUE(open.claim({{100, 0, 5'000}, {}}, limit_moment(clock)).ok());
  const std::unique_ptr<TokenMeter> meter = open.meter({});
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(meter->spend_output_token());
  limiter->count_served();
  ASSERT_TRUE(journal->write_behind().ok());
  running.push_back(std::move(open));
  restart();
  EXPECT_EQ(used(), 150u + budget_lease(10'000));
}

TEST_F(BudgetJournalTest, BeginsAnewInTheNextPeriod) {
  limits.tokens_per_day = 10'000;
  ASSERT_TRUE(spend(4'000));
  ASSERT_TRUE(journal->write_behind().ok());
  clock.advance(hours(24));
  EXPECT_EQ(used(), 0u);
  ASSERT_TRUE(spend(5));
  ASSERT_TRUE(journal->write_behind().ok());
  restart();
  EXPECT_EQ(used(), 5u + budget_lease(10'000));
  clock.advance(hours(24));
  restart();
  EXPECT_EQ(used(), 0u);
}

TEST_F(BudgetJournalTest, KeepsEachBudgetOfEachOwner) {
  limits = {};
  limits.tokens_per_day = 1'000;
  limits.tokens_per_month = 2'000;
  limits.money_micros_per_month = 3'000;
  const auto run = [this](std::string_view id, LimitOwner owner, const TokenClaim& claim) {
    LimitParties parties;
    (owner == LimitOwner::kKey ? parties.key : parties.tenant) = LimitParty{id, limits};
    auto reservation = limiter->enter(parties, limit_moment(clock));
    ASSERT_TRUE(reservation.ok());
    ASSERT_TRUE(reservation->claim(claim, limit_moment(clock)).ok());
    reservation->settle(claim.tokens, limit_moment(clock));
  };
  std::vector<Budget::Spent> spent;
  const auto watch = [this, &spent] {
    limiter->on_new_budget([this, &spent](const Limiter::NewBudget& made) {
      journal->attach(made);
      spent.push_back(made.budget->spent());
    });
  };
  run("same", LimitOwner::kKey, {{100, 0, 0}, {2'000'000, 0, 0}});
  run("same", LimitOwner::kTenant, {{7, 0, 0}, {}});
  ASSERT_TRUE(journal->write_exact().ok());
  restart();
  watch();
  run("same", LimitOwner::kKey, {});
  ASSERT_EQ(spent.size(), 3u);
  EXPECT_EQ(spent[0].amount, 100u);
  EXPECT_EQ(spent[1].amount, 100u);
  EXPECT_EQ(spent[2].amount, 200u);
  run("same", LimitOwner::kTenant, {});
  ASSERT_EQ(spent.size(), 6u);
  EXPECT_EQ(spent[3].amount, 7u);
  EXPECT_EQ(spent[5].amount, 0u);
}

TEST_F(BudgetJournalTest, GoesOnWhereAForgottenBudgetStood) {
  limits.tokens_per_day = 1'000;
  ASSERT_TRUE(spend(40));
  limiter->forget_if([](const LimitIdentity& owner) { return owner.id == "key_1"; });
  EXPECT_EQ(used(), 40u);
}

TEST_F(BudgetJournalTest, ErasesAnOwner) {
  limits.tokens_per_day = 1'000;
  ASSERT_TRUE(spend(40));
  ASSERT_TRUE(journal->write_exact().ok());
  limiter->forget_if([](const LimitIdentity& owner) { return owner.id == "key_1"; });
  ASSERT_TRUE(journal->erase(LimitOwner::kKey, "key_1").ok());
  EXPECT_EQ(used(), 0u);
  restart();
  EXPECT_EQ(used(), 0u);
}

TEST_F(BudgetJournalTest, TakesALeaseOfTheNewSizeAtOnceWhenALimitChanges) {
  limits.tokens_per_day = 100'000;
  ASSERT_TRUE(spend(10));
  ASSERT_TRUE(journal->write_behind().ok());
  limits.tokens_per_day = 1'000'000;
  clock.advance(std::chrono::milliseconds(1));
  entered().release();
  ASSERT_TRUE(journal->write_behind().ok());
  restart();
  EXPECT_EQ(used(), 10u + 1'000u);
  limits.tokens_per_day = 10'000;
  entered().release();
  ASSERT_TRUE(journal->write_behind().ok());
  restart();
  EXPECT_EQ(used(), 1'010u + 10u);
  // While there is no limit, nothing more is forfeited than under the last one.
  limits.tokens_per_day.reset();
  entered().release();
  ASSERT_TRUE(journal->write_behind().ok());
  restart();
  limits.tokens_per_day = 10'000;
  EXPECT_EQ(used(), 1'020u);
  // Raised and lowered again before anything was written: as if nothing had been.
  limits.tokens_per_day = 50'000;
  entered().release();
  limits.tokens_per_day = 10'000;
  ASSERT_TRUE(spend(1));
  ASSERT_TRUE(journal->write_behind().ok());
  restart();
  EXPECT_EQ(used(), 1'031u);
}

TEST_F(BudgetJournalTest, NeverGivesBackWhatWasSpentUnderALoweredLimit) {
  limits.tokens_per_day = 1'000'000;
  ASSERT_TRUE(spend(600'000));
  ASSERT_TRUE(journal->write_behind().ok());
  limits.tokens_per_day = 500'000;
  EXPECT_FALSE(spend(1));
  ASSERT_TRUE(journal->write_behind().ok());
  restart();
  EXPECT_FALSE(spend(1));
  limits.tokens_per_day = 1'000'000;
  EXPECT_EQ(used(), 600'000u + budget_lease(500'000));
}

TEST_F(BudgetJournalTest, ErasesATenantWithItsKeys) {
  limits.tokens_per_day = 1'000;
  const auto run = [this](LimitOwner owner, std::string_view id, std::uint64_t tenant) {
    LimitParties parties;
    (owner == LimitOwner::kKey ? parties.key : parties.tenant) =
        LimitParty{id, limits, "", TenantId{tenant}};
    auto reservation = limiter->enter(parties, limit_moment(clock));
    ASSERT_TRUE(reservation.ok());
    ASSERT_TRUE(reservation->claim({{40, 0, 0}, {}}, limit_moment(clock)).ok());
    reservation->settle({40, 0, 0}, limit_moment(clock));
  };
  const auto used_by = [this](LimitOwner owner, std::string_view id) {
    LimitParties parties;
    (owner == LimitOwner::kKey ? parties.key : parties.tenant) = LimitParty{id, limits};
    const auto reservation = limiter->enter(parties, limit_moment(clock));
    return 1'000 - reservation->report(limit_moment(clock)).tokens->remaining;
  };
  run(LimitOwner::kKey, "key_1", 3);
  run(LimitOwner::kTenant, "#3", 3);
  run(LimitOwner::kKey, "key_2", 4);
  ASSERT_TRUE(journal->write_exact().ok());
  restart();  // so that some of it is known of the file alone
  run(LimitOwner::kKey, "key_1", 3);
  const auto gone =
      limiter->forget_if([](const LimitIdentity& owner) { return owner.tenant == TenantId{3}; });
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].id, "key_1");
  ASSERT_TRUE(journal->erase_tenant(TenantId{3}).ok());
  EXPECT_EQ(used_by(LimitOwner::kKey, "key_1"), 0u);
  EXPECT_EQ(used_by(LimitOwner::kTenant, "#3"), 0u);
  EXPECT_EQ(used_by(LimitOwner::kKey, "key_2"), 40u);
  restart();
  EXPECT_EQ(used_by(LimitOwner::kKey, "key_1"), 0u);
  EXPECT_EQ(used_by(LimitOwner::kTenant, "#3"), 0u);
  EXPECT_EQ(used_by(LimitOwner::kKey, "key_2"), 40u);
}

TEST_F(BudgetJournalTest, GoesOnWithAFileOfTheFirstVersion) {
  journal.reset();
  std::filesystem::remove(folder.file("budgets.db"));
  DatabaseOptions options;
  options.path = folder.file("budgets.db");
  const std::string_view scripts[]{R"sql(
CREATE TABLE budgets (
  owner INTEGER NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  period INTEGER NOT NULL,
  spent INTEGER NOT NULL,
  PRIMARY KEY (owner, id, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO budgets VALUES (0, 'key_1', 'tokens_per_day', 2192, 55);
INSERT INTO budgets VALUES (0, 'key_1', 'tokens_per_month', 72, -7);
INSERT INTO budgets VALUES (0, 'key_1', 'no such limit', 72, 7);
)sql"};
  ASSERT_EQ(calendar_at(clock.wall()).day, 2'192u);
  ASSERT_TRUE(Database::open(options, scripts).ok());
  restart();
  limits.tokens_per_day = 1'000;
  EXPECT_EQ(used(), 55u);
  ASSERT_TRUE(spend(5));
  ASSERT_TRUE(journal->write_exact().ok());
  restart();
  EXPECT_EQ(used(), 60u);
}

// Also those of keys that nobody asks about any more.
TEST_F(BudgetJournalTest, DropsPeriodsThatAreOver) {
  limits.tokens_per_day = 1'000;
  limits.tokens_per_month = 10'000;
  ASSERT_TRUE(spend(10));
  ASSERT_TRUE(journal->write_exact().ok());
  restart();  // nobody has asked for key_1 since
  const auto drop = [this] { return *journal->drop_over(calendar_at(clock.wall())); };
  EXPECT_EQ(drop(), 0);
  clock.advance(hours(24));
  EXPECT_EQ(drop(), 0) << "yesterday, for clocks that go back a little";
  clock.advance(hours(24));
  EXPECT_EQ(drop(), 1);
  limits.tokens_per_day.reset();
  EXPECT_EQ(used(), 10u) << "of the month";
  clock.advance(hours(24 * 62));
  EXPECT_EQ(drop(), 1);
  EXPECT_EQ(drop(), 0);
}

TEST_F(BudgetJournalTest, WritesAgainWhatWasDroppedUnderIt) {
  limits.tokens_per_day = 1'000;
  ASSERT_TRUE(spend(10));
  ASSERT_TRUE(journal->write_behind().ok());
  clock.advance(hours(72));
  EXPECT_EQ(*journal->drop_over(calendar_at(clock.wall())), 1);
  ASSERT_TRUE(spend(5));
  ASSERT_TRUE(journal->write_exact().ok());
  restart();
  EXPECT_EQ(used(), 5u);
}

TEST_F(BudgetJournalTest, WritesOnlyWhenHalfOfALeaseIsUsed) {
  limits.tokens_per_day = 100'000;  // leases of 100
  ASSERT_TRUE(spend(1));
  ASSERT_TRUE(journal->write_behind().ok());
  ASSERT_TRUE(spend(49));
  ASSERT_TRUE(journal->write_behind().ok());
  restart();
  EXPECT_EQ(used(), 101u);  // of the first lease
}

TEST_F(BudgetJournalTest, ReportsAFullDiskAndWritesWhenThereIsRoomAgain) {
  limits.tokens_per_day = 10'000'000;
  restart(8);
  bool failed = false;
  for (int key = 0; key < 2'000 && !failed; ++key) {
    LimitParties parties;
    const std::string id = "a key with a rather long name, number " + std::to_string(key);
    parties.key = LimitParty{id, limits};
    auto reservation = limiter->enter(parties, limit_moment(clock));
    ASSERT_TRUE(reservation.ok());
    ASSERT_TRUE(reservation->claim({{1, 0, 0}, {}}, limit_moment(clock)).ok());
    reservation->settle({1, 0, 0}, limit_moment(clock));
    if (key % 50 != 0) continue;
    const StoreResult<void> written = journal->write_behind();
    if (written.ok()) continue;
    EXPECT_EQ(written.error().fault, StoreFault::kFull);
    failed = true;
  }
  EXPECT_TRUE(failed);
  restart();
  ASSERT_TRUE(spend(77));
  ASSERT_TRUE(journal->write_exact().ok());
  restart();
  EXPECT_EQ(used(), 77u);
}

// Crashes at random points of random lives. Spending never goes down by more than what was spent
// since the last write, and never up by more than a lease for each crash.
TEST_F(BudgetJournalTest, LosesNoMoreThanTheWindowInCrashesAtRandomPoints) {
  limits.tokens_per_day = kBudgetMax;
  limits.tokens_per_month = 1'000'000;
  limits.tokens_per_day.reset();
  const std::uint64_t lease = budget_lease(1'000'000);
  Random random(42);
  std::uint64_t spent = 0;          // what this life knows
  std::uint64_t spent_written = 0;  // at the last write
  int crashes = 0;
  for (int step = 0; step < 1'500 && spent < 900'000; ++step) {
    const std::uint64_t action = random.below(20);
    if (action < 8) {
      const std::uint64_t tokens = random.below(150);
      ASSERT_TRUE(spend(tokens));
      spent += tokens;
    } else if (action < 12 && running.size() < 50) {
      Reservation reservation = entered();
      const TokenClaim claim{{random.below(20), 0, 100}, {}};
      ASSERT_TRUE(reservation.claim(claim, limit_moment(clock)).ok());
      const std::unique_ptr<TokenMeter> meter = reservation.meter({});
      const std::uint64_t served = random.below(100);
      for (std::uint64_t i = 0; i < served; ++i) ASSERT_TRUE(meter->spend_output_token());
      spent += claim.tokens.uncached_input + served;
      running.push_back(std::move(reservation));
      limiter->count_served();
    } else if (action < 19) {
      limiter->count_served();
      ASSERT_TRUE(journal->write_behind().ok());
      spent_written = spent;
    } else {
      restart();
      ++crashes;
      const std::uint64_t restored = used();
      ASSERT_GE(restored, spent_written);
      ASSERT_LE(restored, spent + lease);
      spent = spent_written = restored;
    }
  }
  EXPECT_GT(crashes, 10);
}

}  // namespace
}  // namespace zerohop
