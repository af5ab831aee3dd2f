#include "app/usage_keeper.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>

#include "app/test_folder.h"

namespace zerohop {
namespace {

using std::chrono::hours;

class UsageKeeperTest : public testing::Test {
 protected:
  std::unique_ptr<UsageKeeper> open() {
    UsageKeeperParts parts;
    parts.folder = folder.path() / "usage";
    parts.limiter = &limiter;
    parts.clock = used_clock;
    parts.kept = std::chrono::days(30);
    parts.doubts_clock = doubts_clock;
    auto opened = UsageKeeper::open(std::move(parts), io.get_executor());
    if (!opened.ok()) ADD_FAILURE() << opened.error().message;
    return opened.ok() ? std::move(opened).value() : nullptr;
  }
  LedgerRow row(std::uint64_t tenant, std::uint64_t output) const {
    LedgerRow made;
    made.at = clock.wall();
    made.tenant = "acme";
    made.tenant_number = TenantId{tenant};
    made.tokens.output = output;
    return made;
  }
  // What is on the disk, once the keeper has gone.
  std::uint64_t output_kept() const {
    DatabaseOptions file;
    file.path = ledger_file(folder.path() / "usage");
    const auto sums = Ledger::open(file).value()->sums({}).value();
    return sums.empty() ? 0 : sums[0].tokens.output;
  }
  void spend(std::string_view id, std::uint64_t tenant) {
    Limits limits;
    limits.tokens_per_month = 1'000;
    LimitParties parties;
    parties.key = LimitParty{id, limits, "", TenantId{tenant}};
    Reservation reservation = limiter.enter(parties, limit_moment(clock)).value();
    ASSERT_TRUE(reservation.claim({{100, 0, 0}, {}}, limit_moment(clock)).ok());
    reservation.settle({100, 0, 0}, limit_moment(clock));
  }
  std::uint64_t left(std::string_view id) {
    Limits limits;
    limits.tokens_per_month = 1'000;
    LimitParties parties;
    parties.key = LimitParty{id, limits};
    const Reservation reservation = limiter.enter(parties, limit_moment(clock)).value();
    return reservation.report(limit_moment(clock)).tokens->remaining;
  }

  const TestFolder folder;
  boost::asio::io_context io;
  VirtualClock clock;
  const Clock* used_clock = &clock;
  Duration doubts_clock = std::chrono::hours(24);
  Limiter limiter;
};

TEST_F(UsageKeeperTest, DropsOldRowsAtItsStartThoughNobodyAsksForAnything) {
  // The clock stands still while one is open, whose own thread looks at it.
  open()->add(row(1, 1));
  clock.advance(hours(24 * 29));
  open()->add(row(1, 2));
  clock.advance(hours(24 * 2));
  open()->add(row(1, 4));
  EXPECT_EQ(output_kept(), 7u);
  open().reset();
  EXPECT_EQ(output_kept(), 6u);
}

TEST_F(UsageKeeperTest, DropsOldRowsWhereNoNewOnesComeOnceItHasRunForADay) {
  open()->add(row(1, 1));
  clock.advance(hours(24 * 31));
  open().reset();
  EXPECT_EQ(output_kept(), 1u);
  doubts_clock = Duration::zero();
  open().reset();
  EXPECT_EQ(output_kept(), 0u);
}

// A machine whose clock is set by the network some seconds after the server has started.
TEST_F(UsageKeeperTest, AClockThatIsMonthsAheadAtTheStartDropsNothingOfThePresent) {
  {
    const auto keeper = open();
    spend("key_1", 3);
    keeper->add(row(3, 1));
  }
  limiter.forget_if([](const LimitIdentity&) { return true; });
  VirtualClock ahead;
  ahead.advance(hours(24 * 300));
  used_clock = &ahead;
  open().reset();
  used_clock = &clock;
  EXPECT_EQ(output_kept(), 1u);
  const auto keeper = open();
  EXPECT_EQ(left("key_1"), 900u);
}

TEST_F(UsageKeeperTest, ErasesWhoIsGoneFromBothBooks) {
  {
    const auto keeper = open();
    spend("key_1", 3);
    spend("key_2", 4);
    spend("key_3", 4);
    keeper->add(row(3, 1));
    keeper->add(row(4, 2));
  }
  limiter.forget_if([](const LimitIdentity&) { return true; });
  {
    const auto keeper = open();
    // Of a tenant, and of one key of another.
    keeper->erase({{TenantId{3}}, {LimitIdentity{LimitOwner::kKey, "key_3"}}});
    keeper->erase({{TenantId{3}}, {}});
  }
  EXPECT_EQ(output_kept(), 2u);
  const auto keeper = open();
  EXPECT_EQ(left("key_1"), 1'000u);
  EXPECT_EQ(left("key_2"), 900u);
  EXPECT_EQ(left("key_3"), 1'000u);
}

TEST_F(UsageKeeperTest, DropsBudgetsWhosePeriodIsOver) {
  {
    const auto keeper = open();
    spend("key_1", 3);
    clock.advance(hours(24 * 70));
    keeper->add(row(4, 1));
  }
  limiter.forget_if([](const LimitIdentity&) { return true; });
  open().reset();
  DatabaseOptions file;
  file.path = (folder.path() / "usage" / "budgets.sqlite").string();
  const auto database = Database::open(file, std::vector<std::string_view>(2, "")).value();
  Statement row = database->prepare("SELECT count(*) FROM budgets").value();
  ASSERT_TRUE(*row.step());
  EXPECT_EQ(row.integer(0), 0);
}

TEST_F(UsageKeeperTest, IsForOneProcessAtATime) {
  const auto first = open();
  UsageKeeperParts parts;
  parts.folder = folder.path() / "usage";
  parts.limiter = &limiter;
  parts.clock = &clock;
  const auto second = UsageKeeper::open(std::move(parts), io.get_executor());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kConfiguration);
  EXPECT_NE(second.error().message.find("in use"), std::string::npos) << second.error().message;
}

}  // namespace
}  // namespace zerohop
