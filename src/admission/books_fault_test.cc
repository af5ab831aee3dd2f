// Key store, journal and ledger where the disk cannot be written, and limits under absurd numbers
// and clocks: a typed error, nothing lost, and nobody let in.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "admission/budget_journal.h"
#include "admission/key_store.h"
#include "admission/ledger.h"
#include "admission/limiter_test_kit.h"
#include "store/store_test_folder.h"

namespace zerohop {
namespace {

using std::chrono::hours;

constexpr WallTime kNow{hours(500'000)};

// While it lives, this process can write to no file, as if the disk were full.
class NoFileGrows {
 public:
  NoFileGrows() : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ZH_CHECK(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    rlimit none = before_;
    none.rlim_cur = 0;
    ZH_CHECK(::setrlimit(RLIMIT_FSIZE, &none) == 0);
  }
  ~NoFileGrows() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  NoFileGrows(const NoFileGrows&) = delete;
  NoFileGrows& operator=(const NoFileGrows&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST(BooksUnderFaults, SayWhichFileCannotBeOpenedAndWhy) {
  const StoreTestFolder folder;
  std::filesystem::create_directory(folder.file("folder.db"));
  std::ofstream(folder.file("text.db")) << std::string(5'000, 'x');
  std::ofstream(folder.file("file")) << "x";
  for (const std::string& path : {std::string("/sys/none.db"), folder.file("folder.db"),
                                  folder.file("text.db"), folder.file("file/in.db")}) {
    DatabaseOptions options;
    options.path = path;
    const std::string name = std::filesystem::path(path).filename();
    const auto journal = BudgetJournal::open(options);
    const auto ledger = Ledger::open(options);
    const auto keys = KeyStore::open(path);
    ASSERT_FALSE(journal.ok() || ledger.ok() || keys.ok()) << path;
    for (const Error& error : {journal.error(), ledger.error(), keys.error()}) {
      EXPECT_EQ(error.code, ErrorCode::kConfiguration) << path;
      EXPECT_NE(error.message.find(path.ends_with("in.db") ? "file" : name), std::string::npos)
          << error.message;
    }
  }
}

TEST(BooksUnderFaults, ALedgerKeepsItsRowsInMemoryUntilTheDiskTakesThem) {
  const StoreTestFolder folder;
  DatabaseOptions options;
  options.path = folder.file("ledger.db");
  const auto ledger = std::move(Ledger::open(options)).value();
  LedgerRow row;
  row.at = kNow;
  row.tenant = "acme";
  row.tenant_number = TenantId{1};
  row.tokens.output = 7;
  ledger->add(row);
  {
    const NoFileGrows full;
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(ledger->write_behind().ok());
    ledger->add(row);
    EXPECT_EQ(ledger->waiting(), 2u);
    const auto sums = ledger->sums({});
    ASSERT_FALSE(sums.ok());
    EXPECT_EQ(sums.error().message.find("ledger.db"), std::string::npos);  // a client may see it
    EXPECT_FALSE(ledger->drop_before(kNow).ok());
  }
  EXPECT_TRUE(ledger->write_behind().ok());
  EXPECT_EQ(ledger->sums({}).value()[0].tokens.output, 14u);
}

TEST(BooksUnderFaults, AJournalCountsOnAndWritesWhenItCan) {
  const StoreTestFolder folder;
  DatabaseOptions options;
  options.path = folder.file("budgets.db");
  VirtualClock clock;
  Limits limits;
  limits.tokens_per_day = 1'000;
  for (int life = 0; life < 2; ++life) {
    const auto journal = std::move(BudgetJournal::open(options)).value();
    Limiter limiter;
    limiter.on_new_budget([&](const Limiter::NewBudget& made) { journal->attach(made); });
    LimitParties parties;
    parties.key = LimitParty{"key_1", limits};
    const auto spend = [&](std::uint64_t tokens) {
      Reservation reservation = limiter.enter(parties, limit_moment(clock)).value();
      if (!reservation.claim({{tokens, 0, 0}, {}}, limit_moment(clock)).ok()) return false;
      reservation.settle({tokens, 0, 0}, limit_moment(clock));
      return true;
    };
    if (life == 0) {
      const NoFileGrows full;
      ASSERT_TRUE(spend(900));
      EXPECT_FALSE(journal->write_behind().ok());
      EXPECT_FALSE(spend(101));  // what is in memory holds
      EXPECT_FALSE(journal->write_exact().ok());
    } else {
      EXPECT_FALSE(spend(101));
      EXPECT_TRUE(spend(100));
    }
    EXPECT_TRUE(journal->write_exact().ok());
  }
}

TEST(BooksUnderFaults, AKeyStoreChangesNothingThatItCannotKeep) {
  const StoreTestFolder folder;
  const std::string path = folder.file("keys.sqlite");
  const auto store = std::move(KeyStore::open(path)).value();
  const MadeKey key = store->create_key({}, kNow).value();
  {
    const NoFileGrows full;
    const auto made = store->create_key({}, kNow);
    ASSERT_FALSE(made.ok());
    EXPECT_NE(made.error().message.find("keys.sqlite"), std::string::npos) << made.error().message;
    EXPECT_FALSE(store->revoke_key(key.record.id, kNow).ok());
    EXPECT_FALSE(store->erase_tenant("default").ok());
    EXPECT_FALSE(store->backup_to(folder.file("copy.sqlite")).ok());
    EXPECT_FALSE(std::filesystem::exists(folder.file("copy.sqlite")));
  }
  const KeyStoreContents contents = store->read().value();
  ASSERT_EQ(contents.keys.size(), 1u);
  EXPECT_FALSE(contents.keys[0].revoked_at.has_value());
  EXPECT_TRUE(store->revoke_key(key.record.id, kNow).ok());
  EXPECT_TRUE(store->backup_to(folder.file("copy.sqlite")).ok());
}

TEST_F(LimiterTest, LetsNobodyInTwiceWhenTheClockGoesBack) {
  key.tokens_per_day = 100;
  key.tokens_per_month = 1'000;
  const auto spend = [this](std::uint64_t tokens) {
    Reservation reservation = entered();
    if (!reservation.claim(claim(tokens, 0, 0), moment()).ok()) return false;
    reservation.settle({tokens, 0, 0}, moment());
    return true;
  };
  clock.advance(hours(24 * 40));
  EXPECT_TRUE(spend(100));
  clock.advance(-hours(24));  // a day that is over does not begin again
  EXPECT_FALSE(spend(1));
  clock.advance(-hours(24 * 30));
  EXPECT_FALSE(spend(1));
  EXPECT_EQ(left(LimitKind::kTokensPerDay), 0u);
  clock.advance(hours(24 * 32));
  EXPECT_TRUE(spend(100));
}

TEST_F(LimiterTest, HoldsUnderTheLargestLimitsThereAre) {
  for (const LimitField& field : limit_fields()) key.*field.member = field.max;
  key.cached_input_weight_permille = kWeightMax;
  ASSERT_TRUE(check_limits(key, "limits").ok());
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
  Reservation reservation = entered();
  ASSERT_TRUE(reservation.claim({{kMost, kMost, kMost}, {kPriceMax, 0, 0}}, moment()).ok() ||
              reservation.claim({{kMost, kMost, kMost}, {}}, moment()).ok());
  reservation.settle({kMost, kMost, kMost}, moment());
  EXPECT_EQ(limiter.reservations(), 0u);
  for (const LimitField& field : limit_fields()) {
    Limits above;
    above.*field.member = field.max + 1;
    const Result<void> refused = check_limits(above, "limits");
    ASSERT_FALSE(refused.ok()) << field.name;
    EXPECT_EQ(refused.error().field, "limits." + std::string(field.name));
  }
}

}  // namespace
}  // namespace zerohop
