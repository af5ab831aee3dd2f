#include "batches/batch_store.h"

#include <fstream>

#include "batches/batch_test_store.h"
#include "core/limits.h"

namespace zerohop {
namespace {

using BatchStoreTest = WithBatchStore;

constexpr std::int64_t kFirstNumber = 1;

TEST_F(BatchStoreTest, KeepsABatchThroughARestart) {
  create("msgbatch_1", 3);
  reopen();
  const MessageBatch batch = get("msgbatch_1");
  EXPECT_EQ(batch.id, "msgbatch_1");
  EXPECT_EQ(batch.status, BatchStatus::kInProgress);
  EXPECT_EQ(batch.counts, (BatchCounts{3, 0, 0, 0, 0}));
  EXPECT_EQ(batch.created_at, clock.wall());
  EXPECT_EQ(batch.expires_at, clock.wall() + std::chrono::hours(24));
  EXPECT_FALSE(batch.ended_at || batch.cancel_initiated_at || batch.archived_at);
}

TEST_F(BatchStoreTest, RefusesABatchWithoutRequestsOrWithTooMany) {
  const auto empty = store->create(batch_of("b", 0), clock.wall());
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().field, "requests");
  const auto large = store->create(batch_of("b", limits::kBatchRequestsMax + 1), clock.wall());
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code, ErrorCode::kInvalidRequest);
}

TEST_F(BatchStoreTest, RefusesACustomIdThatComesTwice) {
  NewBatch batch = batch_of("b", 3);
  batch.requests[2].custom_id = "r0";
  const auto made = store->create(batch, clock.wall());
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().field, "requests[2].custom_id");
  EXPECT_EQ(store->get("b").error().code, ErrorCode::kNotFound);
}

TEST_F(BatchStoreTest, TakesTheLargestBatch) {
  create("large", limits::kBatchRequestsMax);
  EXPECT_EQ(get("large").counts.processing, limits::kBatchRequestsMax);
  const auto last = store->next_pending(kFirstNumber, 99'998);
  ASSERT_TRUE(last.ok() && last->has_value());
  EXPECT_EQ((*last)->custom_id, "r99999");
  ASSERT_TRUE(store->settle_rest({kFirstNumber, -1}, BatchOutcome::kExpired, clock.wall()).ok());
  EXPECT_EQ(get("large").counts.expired, limits::kBatchRequestsMax);
}

TEST_F(BatchStoreTest, ShowsCountsOnlyWhenTheBatchHasEnded) {
  create("b", 4);
  const auto settle = [this](std::int64_t position, BatchOutcome outcome) {
    ASSERT_TRUE(store->settle({{kFirstNumber, position}, outcome, "text"}, clock.wall()).ok());
  };
  settle(0, BatchOutcome::kSucceeded);
  settle(2, BatchOutcome::kErrored);
  settle(3, BatchOutcome::kCanceled);
  EXPECT_EQ(get("b").counts, (BatchCounts{4, 0, 0, 0, 0}));
  EXPECT_EQ(get("b").status, BatchStatus::kInProgress);
  EXPECT_EQ(store->results({"b"}).error().code, ErrorCode::kInvalidRequest);
  clock.advance(std::chrono::seconds(5));
  settle(1, BatchOutcome::kExpired);
  const MessageBatch ended = get("b");
  EXPECT_EQ(ended.counts, (BatchCounts{0, 1, 1, 1, 1}));
  EXPECT_EQ(ended.status, BatchStatus::kEnded);
  EXPECT_EQ(ended.ended_at, clock.wall());
}

TEST_F(BatchStoreTest, KeepsTheFirstResultOfARequest) {
  create("b", 2);
  const BatchRequestKey key{kFirstNumber, 0};
  ASSERT_TRUE(store->settle({key, BatchOutcome::kSucceeded, "first"}, clock.wall()).ok());
  ASSERT_TRUE(store->settle({key, BatchOutcome::kErrored, "second"}, clock.wall()).ok());
  ASSERT_TRUE(store->settle_rest({kFirstNumber, -1}, BatchOutcome::kCanceled, clock.wall()).ok());
  EXPECT_EQ(get("b").counts, (BatchCounts{0, 1, 0, 1, 0}));
  EXPECT_EQ(results("b")[0].text, "first");
}

TEST_F(BatchStoreTest, HandsOutResultsInPagesByNumberAndBytes) {
  create("b", 7);
  for (std::int64_t i = 0; i < 7; ++i) {
    const BatchOutcome outcome = i == 4 ? BatchOutcome::kErrored : BatchOutcome::kSucceeded;
    const std::string text(100, static_cast<char>('a' + i));
    ASSERT_TRUE(store->settle({{kFirstNumber, i}, outcome, text}, clock.wall()).ok());
  }
  const std::vector<BatchResult> all = results("b");
  ASSERT_EQ(all.size(), 7u);
  EXPECT_EQ(all[4].custom_id, "r4");
  EXPECT_EQ(all[4].outcome, BatchOutcome::kErrored);
  EXPECT_EQ(all[4].text, std::string(100, 'e'));
  const auto small = store->results({"b", 2, 1'000, 250});
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(small->results.size(), 3u);
  EXPECT_EQ(small->next, 5);
  EXPECT_EQ(store->results({"b", 0, 1'000, 1})->results.size(), 1u);
}

TEST_F(BatchStoreTest, KeepsTextsByteForByte) {
  NewBatch batch = batch_of("b", 1);
  batch.requests[0].params = std::string("{\"a\":\"\0\xff\"}", 11);
  ASSERT_TRUE(store->create(batch, clock.wall()).ok());
  const auto pending = store->next_pending(kFirstNumber, -1);
  EXPECT_EQ((*pending)->params, batch.requests[0].params);
  EXPECT_EQ((*pending)->batch_id, "b");
  EXPECT_EQ((*pending)->key, (BatchRequestKey{kFirstNumber, 0}));
}

std::vector<std::string> ids(const Result<BatchPage>& page) {
  std::vector<std::string> all;
  EXPECT_TRUE(page.ok());
  if (!page.ok()) return all;
  for (const MessageBatch& batch : page->batches) all.push_back(batch.id);
  return all;
}

TEST_F(BatchStoreTest, NobodyFindsTheBatchesOfAnother) {
  const TenantId law{1};
  const TenantId art{2};
  NewBatch batch = batch_of("b", 1);
  batch.owner = law;
  ASSERT_TRUE(store->create(batch, clock.wall()).ok());
  EXPECT_TRUE(store->get("b", law).ok());
  for (const TenantId other : {art, TenantId{}}) {
    EXPECT_EQ(store->get("b", other).error().code, ErrorCode::kNotFound);
    EXPECT_EQ(store->cancel("b", clock.wall(), other).error().code, ErrorCode::kNotFound);
    EXPECT_EQ(store->erase("b", other).error().code, ErrorCode::kNotFound);
    EXPECT_EQ(store->results({"b", 0, 1, 1, other}).error().code, ErrorCode::kNotFound);
    EXPECT_TRUE(store->list({5, "", "", other})->batches.empty());
    // Not even as the edge of a page.
    EXPECT_EQ(store->list({5, "b", "", other}).error().code, ErrorCode::kInvalidRequest);
  }
  EXPECT_EQ(ids(store->list({5, "", "", law})), std::vector<std::string>{"b"});
  EXPECT_EQ((*store->next_pending(kFirstNumber, -1))->owner, law);
}

TEST_F(BatchStoreTest, DropsWhatBelongsToTenantsThatAreNoMore) {
  const TenantId law{1};
  const TenantId gone{2};
  for (const auto& [id, owner] : std::vector<std::pair<std::string, TenantId>>{
           {"mine", law}, {"ended", gone}, {"open", gone}, {"everybodys", {}}}) {
    NewBatch batch = batch_of(id, 1);
    batch.owner = owner;
    ASSERT_TRUE(store->create(batch, clock.wall()).ok());
  }
  ASSERT_TRUE(store->settle({{2, 0}, BatchOutcome::kSucceeded, "x"}, clock.wall()).ok());
  const TenantId erased[]{gone, TenantId{9}};
  ASSERT_TRUE(store->drop_owners(erased, clock.wall()).ok());
  EXPECT_FALSE(store->get("ended", gone).ok());
  EXPECT_EQ(store->get("open", gone)->status, BatchStatus::kCanceling);
  ASSERT_TRUE(store->settle({{3, 0}, BatchOutcome::kCanceled, ""}, clock.wall()).ok());
  ASSERT_TRUE(store->drop_owners(erased, clock.wall()).ok());
  EXPECT_FALSE(store->get("open", gone).ok());
  EXPECT_TRUE(store->get("mine", law).ok());
  EXPECT_TRUE(store->get("everybodys").ok());
}

TEST_F(BatchStoreTest, ListsNewestFirstInBothDirections) {
  using Ids = std::vector<std::string>;
  for (const char* id : {"1", "2", "3", "4", "5"}) create(id, 1);
  EXPECT_EQ(ids(store->list({2})), (Ids{"5", "4"}));
  EXPECT_TRUE(store->list({2})->has_more);
  EXPECT_EQ(ids(store->list({2, "4"})), (Ids{"3", "2"}));
  EXPECT_EQ(ids(store->list({2, "2"})), (Ids{"1"}));
  EXPECT_FALSE(store->list({2, "2"})->has_more);
  EXPECT_EQ(ids(store->list({2, "", "2"})), (Ids{"4", "3"}));
  EXPECT_TRUE(store->list({2, "", "2"})->has_more);
  EXPECT_EQ(ids(store->list({2, "", "3"})), (Ids{"5", "4"}));
  EXPECT_FALSE(store->list({2, "", "3"})->has_more);
  EXPECT_EQ(ids(store->list({5})).size(), 5u);
  EXPECT_FALSE(store->list({5})->has_more);
}

TEST_F(BatchStoreTest, RefusesToListFromAnUnknownBatch) {
  EXPECT_EQ(store->list({2, "nobody"}).error().field, "after_id");
  EXPECT_EQ(store->list({2, "", "nobody"}).error().field, "before_id");
}

TEST_F(BatchStoreTest, CancelsOnlyWhatHasNotEnded) {
  EXPECT_EQ(store->cancel("b", clock.wall()).error().code, ErrorCode::kNotFound);
  create("b", 2);
  const WallTime begin = clock.wall();
  EXPECT_EQ(store->cancel("b", begin)->status, BatchStatus::kCanceling);
  clock.advance(std::chrono::seconds(1));
  EXPECT_EQ(store->cancel("b", clock.wall())->cancel_initiated_at, begin);
  EXPECT_EQ(get("b").status, BatchStatus::kCanceling);
  EXPECT_EQ(get("b").counts.processing, 2u);
  ASSERT_TRUE(store->settle_rest({kFirstNumber, -1}, BatchOutcome::kCanceled, clock.wall()).ok());
  EXPECT_EQ(get("b").status, BatchStatus::kEnded);
  EXPECT_EQ(store->cancel("b", clock.wall()).error().code, ErrorCode::kInvalidRequest);
}

TEST_F(BatchStoreTest, ErasesOnlyWhatHasEnded) {
  EXPECT_EQ(store->erase("b").error().code, ErrorCode::kNotFound);
  create("b", 2);
  EXPECT_EQ(store->erase("b").error().code, ErrorCode::kInvalidRequest);
  ASSERT_TRUE(store->settle_rest({kFirstNumber, -1}, BatchOutcome::kCanceled, clock.wall()).ok());
  EXPECT_TRUE(store->erase("b").ok());
  EXPECT_EQ(store->get("b").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store->results({"b"}).error().code, ErrorCode::kNotFound);
  create("b", 1);  // its number is new, so nothing of the old one can turn up
  EXPECT_EQ(store->open_batches()->front().number, kFirstNumber + 1);
}

TEST_F(BatchStoreTest, DropsResultsAfterTwentyNineDays) {
  create("old", 2);
  ASSERT_TRUE(store->settle_rest({kFirstNumber, -1}, BatchOutcome::kCanceled, clock.wall()).ok());
  clock.advance(std::chrono::hours(24 * 29) - std::chrono::milliseconds(1));
  create("young", 1);
  ASSERT_TRUE(store->archive_old(clock.wall()).ok());
  EXPECT_EQ(results("old").size(), 2u);
  clock.advance(std::chrono::milliseconds(1));
  ASSERT_TRUE(store->archive_old(clock.wall()).ok());
  EXPECT_EQ(get("old").archived_at, clock.wall());
  EXPECT_EQ(get("old").counts.canceled, 2u);
  EXPECT_EQ(store->results({"old"}).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(get("young").archived_at.has_value());
}

TEST_F(BatchStoreTest, CreatesABatchWholeOrNotAtAllWhenTheDiskIsFull) {
  reopen(40);
  NewBatch batch = batch_of("b", 100);
  for (NewBatchRequest& request : batch.requests) request.params = std::string(4'000, 'x');
  const auto made = store->create(batch, clock.wall());
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::kOverloaded);
  EXPECT_GT(made.error().retry_after.count(), 0);
  EXPECT_EQ(store->get("b").error().code, ErrorCode::kNotFound);
  create("small", 2);
  EXPECT_TRUE(store->open_batches()->size() == 1);
}

// What a server of the version before owners, and one of the version before their keys, has left.
constexpr const char* kOldSchema1 = R"sql(
CREATE TABLE batches (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL,
  cancel_ms INTEGER,
  ended_ms INTEGER,
  archived_ms INTEGER,
  total INTEGER NOT NULL,
  pending INTEGER NOT NULL,
  succeeded INTEGER NOT NULL DEFAULT 0,
  errored INTEGER NOT NULL DEFAULT 0,
  canceled INTEGER NOT NULL DEFAULT 0,
  expired INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX batches_open ON batches (number) WHERE ended_ms IS NULL;
CREATE TABLE requests (
  batch INTEGER NOT NULL REFERENCES batches (number) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  custom_id TEXT NOT NULL,
  params TEXT,
  outcome INTEGER,
  result TEXT,
  PRIMARY KEY (batch, position)
) STRICT;
CREATE INDEX requests_pending ON requests (batch, position) WHERE outcome IS NULL;
INSERT INTO batches (id, created_ms, expires_ms, total, pending, succeeded)
  VALUES ('old', 1767225600000, 1767312000000, 2, 1, 1);
INSERT INTO requests VALUES (1, 0, 'done', NULL, 0, 'the answer');
INSERT INTO requests VALUES (1, 1, 'open', 'p1', NULL, NULL);
)sql";
constexpr const char* kOldSchema2 = R"sql(
ALTER TABLE batches ADD COLUMN owner INTEGER NOT NULL DEFAULT 0;
CREATE INDEX batches_of_owner ON batches (owner, number);
UPDATE batches SET owner = 7;
)sql";

TEST_F(BatchStoreTest, GoesOnWithTheFilesOfEarlierVersions) {
  for (const int version : {1, 2}) {
    store.reset();
    const std::string file = folder.file("version" + std::to_string(version) + ".db");
    std::vector<std::string_view> scripts{kOldSchema1};
    if (version == 2) scripts.emplace_back(kOldSchema2);
    DatabaseOptions options;
    options.path = file;
    ASSERT_TRUE(Database::open(options, scripts).ok());
    for (int opening = 0; opening < 2; ++opening) {
      auto opened = BatchStore::open(options);
      ASSERT_TRUE(opened.ok()) << opened.error().message;
      store = std::move(opened).value();
      const TenantId owner{version == 2 ? 7u : 0u};
      EXPECT_EQ(store->get("old", owner)->counts.processing, 2u) << version;
      const auto pending = store->next_pending(kFirstNumber, -1);
      ASSERT_TRUE(pending.ok() && pending->has_value()) << version;
      EXPECT_EQ((*pending)->params, "p1");
      EXPECT_EQ((*pending)->owner, owner);
      EXPECT_EQ((*pending)->owner_key, 0u);
    }
    ASSERT_TRUE(
        store->settle({{kFirstNumber, 1}, BatchOutcome::kSucceeded, "x"}, clock.wall()).ok());
    const auto results = store->results({"old", 0, 9, 1u << 20, TenantId{version == 2 ? 7u : 0u}});
    ASSERT_TRUE(results.ok()) << results.error().message;
    EXPECT_EQ(results->results[0].text, "the answer");
  }
}

TEST_F(BatchStoreTest, RemembersTheKeyThatMadeABatch) {
  NewBatch batch = batch_of("b", 1);
  batch.owner = TenantId{3};
  batch.owner_key = 12;
  ASSERT_TRUE(store->create(batch, clock.wall()).ok());
  reopen();
  const auto pending = store->next_pending(kFirstNumber, -1);
  ASSERT_TRUE(pending.ok() && pending->has_value());
  EXPECT_EQ((*pending)->owner_key, 12u);
}

TEST_F(BatchStoreTest, SaysWhichFileIsNoStore) {
  store.reset();
  std::ofstream(folder.file("batches.db")) << std::string(5000, 'x');
  DatabaseOptions options;
  options.path = folder.file("batches.db");
  const auto opened = BatchStore::open(options);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::kConfiguration);
  EXPECT_NE(opened.error().message.find("batches.db"), std::string::npos);
}

TEST_F(BatchStoreTest, FailsWithATypedErrorWhenTheFileIsDamaged) {
  NewBatch batch = batch_of("b", 300);
  for (NewBatchRequest& request : batch.requests) request.params = std::string(2'000, 'x');
  ASSERT_TRUE(store->create(batch, clock.wall()).ok());
  store.reset();  // everything is in the main file now
  {
    std::fstream file(folder.file("batches.db"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(500 << 10, '\x5a');
  }
  reopen();
  const auto found = store->get("b");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kInternal);
  EXPECT_EQ(found.error().message.find("batches.db"), std::string::npos);
}

}  // namespace
}  // namespace zerohop
