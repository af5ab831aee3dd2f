#include "admission/ledger.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "admission/old_ledger_test_kit.h"
#include "base/random.h"
#include "store/store_test_folder.h"

namespace zerohop {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

class LedgerTest : public testing::Test {
 protected:
  void SetUp() override { reopen(); }

  void reopen(std::uint32_t pages_max = 0) {
    ledger.reset();
    DatabaseOptions options;
    options.path = folder.file("ledger.db");
    options.pages_max = pages_max;
    Result<std::unique_ptr<Ledger>> opened = Ledger::open(options);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    ledger = std::move(opened).value();
  }

  LedgerRow row(const std::string& key, const std::string& tenant, std::uint64_t output) const {
    LedgerRow made;
    made.at = clock.wall();
    made.key = key;
    made.tenant = tenant;
    made.tenant_number = TenantId{tenant.size()};
    made.model = "small";
    made.tokens = BilledTokens{10, 5, output};
    made.money_micros = 2 * output;
    return made;
  }
  std::vector<LedgerSum> sums(const LedgerQuery& query) {
    Result<std::vector<LedgerSum>> found = ledger->sums(query);
    if (!found.ok()) ADD_FAILURE() << found.error().message;
    return found.ok() ? std::move(*found) : std::vector<LedgerSum>{};
  }

  StoreTestFolder folder;
  VirtualClock clock;
  std::unique_ptr<Ledger> ledger;
};

TEST_F(LedgerTest, SumsUpByKeyTenantModelAndDay) {
  ledger->add(row("k1", "acme", 7));
  ledger->add(row("k1", "acme", 8));
  ledger->add(row("k2", "acme", 9));
  clock.advance(hours(24));
  ledger->add(row("k3", "other", 10));

  const std::vector<LedgerSum> all = sums({});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].requests, 4u);
  EXPECT_EQ(all[0].tokens, (BilledTokens{40, 20, 34}));
  EXPECT_EQ(all[0].money_micros, 68u);
  EXPECT_EQ(all[0].key, "");

  LedgerQuery query;
  query.by.key = true;
  query.by.day = true;
  query.by.model = true;
  const std::vector<LedgerSum> by_key = sums(query);
  ASSERT_EQ(by_key.size(), 3u);
  EXPECT_EQ(by_key[0].key, "k1");
  EXPECT_EQ(by_key[0].day, "2026-01-01");
  EXPECT_EQ(by_key[0].model, "small");
  EXPECT_EQ(by_key[0].tokens.output, 15u);
  EXPECT_EQ(by_key[2].key, "k3");
  EXPECT_EQ(by_key[2].day, "2026-01-02");

  query = {};
  query.by.tenant = true;
  EXPECT_EQ(sums(query).size(), 2u);
}

TEST_F(LedgerTest, FindsByKeyTenantAndTime) {
  ledger->add(row("k1", "acme", 1));
  const WallTime first = clock.wall();
  clock.advance(hours(1));
  ledger->add(row("k1", "acme", 10));
  ledger->add(row("k2", "other", 100));
  const WallTime second = clock.wall();
  const auto output = [this](const LedgerQuery& query) {
    const std::vector<LedgerSum> found = sums(query);
    return found.empty() ? 0 : found[0].tokens.output;
  };
  LedgerQuery query;
  query.key = "k1";
  EXPECT_EQ(output(query), 11u);
  query.tenant = "other";
  EXPECT_EQ(output(query), 0u);
  query = {};
  query.from = first;
  query.until = second;
  EXPECT_EQ(output(query), 1u);
  query.until = second + milliseconds(1);
  EXPECT_EQ(output(query), 111u);
  query.from = first + Duration(1);
  EXPECT_EQ(output(query), 110u);
}

TEST_F(LedgerTest, SumsUpByTheValueOfALabel) {
  LedgerRow labelled = row("k1", "acme", 3);
  labelled.labels = {{"corpus_version", "20240601"}, {"region", "eu"}};
  ledger->add(labelled);
  labelled.labels = {{"corpus_version", "20240601"}, {"region", "us"}};
  ledger->add(labelled);
  labelled.labels = {{"corpus_version", "20250101"}};
  ledger->add(labelled);
  ledger->add(row("k1", "acme", 3));
  LedgerQuery query;
  query.by.labels = {"corpus_version"};
  const std::vector<LedgerSum> by_version = sums(query);
  ASSERT_EQ(by_version.size(), 3u);
  EXPECT_EQ(by_version[0].labels, std::vector<std::string>{""});
  EXPECT_EQ(by_version[1].labels, std::vector<std::string>{"20240601"});
  EXPECT_EQ(by_version[1].requests, 2u);
  query.by.labels = {"region", "corpus_version"};
  EXPECT_EQ(sums(query).size(), 4u);
}

TEST_F(LedgerTest, TakesAnyTextAsLabelKeyAndModel) {
  LedgerRow odd = row("k'1\";--", "ten\nant", 3);
  odd.model = "mod\xffl";
  odd.labels = {{"a\x1f", "b\x1e"}, {"c", "\x1f\x1e"}, {"", ""}};
  ledger->add(odd);
  LedgerQuery query;
  query.by.key = query.by.tenant = true;
  query.by.labels = {"a?", "c", "b"};
  const std::vector<LedgerSum> found = sums(query);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].key, odd.key);
  EXPECT_EQ(found[0].tenant, odd.tenant);
  EXPECT_EQ(found[0].labels, (std::vector<std::string>{"b?", "??", ""}));
}

TEST_F(LedgerTest, KeepsWrittenRowsThroughARestart) {
  ledger->add(row("k1", "acme", 3));
  ASSERT_TRUE(ledger->write_behind().ok());
  EXPECT_EQ(ledger->waiting(), 0u);
  reopen();
  EXPECT_EQ(sums({})[0].tokens.output, 3u);
}

TEST_F(LedgerTest, KeepsRowsWhileTheDiskIsFull) {
  reopen(16);
  std::uint64_t added = 0;
  while (true) {
    for (int i = 0; i < 200; ++i, ++added) ledger->add(row("k" + std::to_string(added), "acme", 1));
    const StoreResult<void> written = ledger->write_behind();
    if (written.ok()) {
      ASSERT_LT(added, 100'000u);
      continue;
    }
    EXPECT_EQ(written.error().fault, StoreFault::kFull);
    break;
  }
  EXPECT_EQ(ledger->waiting(), 200u);
  EXPECT_FALSE(ledger->sums({}).ok());
  ledger->add(row("last", "acme", 1));
  EXPECT_EQ(ledger->waiting(), 201u);
}

TEST_F(LedgerTest, BoundsWhatWaitsAndKeepsTheSums) {
  constexpr std::uint64_t kRows = 3 * kLedgerRowsWaiting;
  for (std::uint64_t i = 0; i < kRows; ++i) {
    ledger->add(row(i % 2 == 0 ? "k1" : "k2", "acme", i % 7));
  }
  EXPECT_LT(ledger->waiting(), 2 * kLedgerRowsWaiting);
  std::uint64_t output = 0;
  for (std::uint64_t i = 0; i < kRows; ++i) output += i % 7;
  const std::vector<LedgerSum> all = sums({});
  EXPECT_EQ(all[0].requests, kRows);
  EXPECT_EQ(all[0].tokens.output, output);
  EXPECT_EQ(all[0].tokens.uncached_input, 10 * kRows);
}

TEST_F(LedgerTest, DropsWhatIsTooOldAndWhatIsATenants) {
  ledger->add(row("k1", "acme", 1));
  clock.advance(hours(48));
  ledger->add(row("k1", "acme", 2));
  ledger->add(row("k2", "other", 4));
  EXPECT_EQ(*ledger->drop_before(clock.wall()), 1);
  EXPECT_EQ(sums({})[0].tokens.output, 6u);
  ledger->add(row("k1", "acme", 8));
  EXPECT_EQ(*ledger->erase_tenant(TenantId{4}), 1);  // and one that waited
  EXPECT_EQ(sums({})[0].tokens.output, 4u);
  EXPECT_EQ(*ledger->erase_tenant(TenantId{77}), 0);
  // What its last requests add is not kept; a tenant of the same name has another number.
  ledger->add(row("k1", "acme", 16));
  EXPECT_EQ(ledger->waiting(), 0u);
  LedgerRow anew = row("k3", "acme", 32);
  anew.tenant_number = TenantId{9};
  ledger->add(anew);
  EXPECT_EQ(sums({})[0].tokens.output, 36u);
}

// As the first version wrote it.
const std::string kOldLedger =
    std::string(kOldLedgerTables) +
    "INSERT INTO usage VALUES (1767225600000, 'k1', 'acme', 'small', 1, 1, 10, 5, 7, 14);";

TEST_F(LedgerTest, GoesOnWithAFileOfTheFirstVersion) {
  ledger.reset();
  DatabaseOptions options;
  options.path = folder.file("old.db");
  const std::string_view scripts[]{kOldLedger};
  ASSERT_TRUE(Database::open(options, scripts).ok());
  auto opened = Ledger::open(options);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  ledger = std::move(opened).value();
  ledger->add(row("k1", "acme", 8));
  EXPECT_EQ(sums({})[0].tokens.output, 15u);
  EXPECT_EQ(*ledger->erase_tenant(TenantId{4}), 1);
  EXPECT_EQ(sums({})[0].tokens.output, 7u);  // nobody knows whose it was
}

TEST_F(LedgerTest, GivesRowsOfTheFirstVersionTheirTenants) {
  ledger.reset();
  DatabaseOptions options;
  options.path = folder.file("old.db");
  const std::string more =
      kOldLedger +
      "INSERT INTO usage VALUES (1767225600000, 'k2', 'gone', 'small', 1, 1, 10, 5, 1, 2);"
      "INSERT INTO usage VALUES (1767225600000, '', 'default', 'small', 1, 1, 10, 5, 2, 2);";
  const std::string_view scripts[]{more};
  ASSERT_TRUE(Database::open(options, scripts).ok());
  ledger = Ledger::open(options).value();
  const auto owner_of = [](std::string_view key, std::string_view tenant) {
    EXPECT_FALSE(key.empty()) << "open access belongs to nobody";
    const bool known = key == "k1" && tenant == "acme";
    return known ? std::optional(TenantId{4}) : std::nullopt;
  };
  EXPECT_EQ(*ledger->adopt(owner_of), 1);
  EXPECT_EQ(*ledger->adopt(owner_of), 0);
  EXPECT_EQ(*ledger->erase_tenant(TenantId{4}), 1);
  EXPECT_EQ(sums({})[0].tokens.output, 3u);
}

TEST_F(LedgerTest, KeepsTenantsOfOneNameApart) {
  ledger->add(row("k1", "acme", 7));
  LedgerRow other = row("k2", "acme", 8);
  other.tenant_number = TenantId{99};
  ledger->add(other);
  LedgerQuery query;
  query.by.tenant = true;
  const std::vector<LedgerSum> apart = sums(query);
  ASSERT_EQ(apart.size(), 2u);
  EXPECT_EQ(apart[0].tenant_number, TenantId{4});
  EXPECT_EQ(apart[0].tokens.output, 7u);
  EXPECT_EQ(apart[1].tenant_number, TenantId{99});
  EXPECT_EQ(sums({}).size(), 1u) << "whoever does not ask for tenants gets one sum";
}

TEST_F(LedgerTest, SumsUpToWhatManyThreadsAdded) {
  std::atomic<std::uint64_t> output{0};
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this, &output, thread] {
      Random random(thread);
      for (int i = 0; i < 500; ++i) {
        const std::uint64_t tokens = random.below(1'000);
        ledger->add(row("k" + std::to_string(random.below(5)), "acme", tokens));
        output += tokens;
        if (i % 100 == 0) {
          EXPECT_TRUE(ledger->write_behind().ok());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  LedgerQuery query;
  query.by.key = true;
  std::uint64_t sum = 0;
  std::uint64_t requests = 0;
  for (const LedgerSum& one : sums(query)) {
    sum += one.tokens.output;
    requests += one.requests;
  }
  EXPECT_EQ(sum, output.load());
  EXPECT_EQ(requests, 2'000u);
}

}  // namespace
}  // namespace zerohop
