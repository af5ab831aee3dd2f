#include "admission/key_store.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "store/store_test_folder.h"

namespace zerohop {
namespace {

using std::chrono::hours;

constexpr WallTime kNow{hours(500'000)};

class KeyStoreTest : public testing::Test {
 protected:
  std::string path() const { return folder_.file("keys.sqlite"); }
  std::unique_ptr<KeyStore> open(OpenRule rule = OpenRule::kMake) const {
    auto opened = KeyStore::open(path(), rule);
    if (!opened.ok()) ADD_FAILURE() << opened.error().message;
    return opened.ok() ? std::move(opened).value() : nullptr;
  }
  static KeyVerdict verdict(KeyStore& store, const std::string& text, WallTime now = kNow) {
    return KeyRing(store.read().value()).find(text, now).verdict;
  }
  std::string file_bytes() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  StoreTestFolder folder_;
};

TEST_F(KeyStoreTest, KeepsKeysThroughAReopening) {
  MadeKey made;
  {
    const auto store = open();
    NewKey wanted;
    wanted.name = "Jürgen's laptop";
    wanted.expires_at = kNow + hours(24);
    wanted.limits.requests_per_minute = 60;
    wanted.limits.parallel_requests = 0;
    made = store->create_key(wanted, kNow).value();
  }
  const auto store = open(OpenRule::kMustExist);
  const KeyStoreContents contents = store->read().value();
  ASSERT_EQ(contents.keys.size(), 1u);
  const KeyRecord& key = contents.keys[0];
  EXPECT_EQ(key.id, made.record.id);
  EXPECT_TRUE(key.id.starts_with("key_"));
  EXPECT_EQ(key.name, "Jürgen's laptop");
  EXPECT_EQ(key.shown, made.text.substr(0, 10));
  EXPECT_EQ(key.created_at, kNow);
  EXPECT_EQ(key.expires_at, kNow + hours(24));
  EXPECT_FALSE(key.revoked_at.has_value());
  EXPECT_EQ(key.limits.requests_per_minute, 60u);
  EXPECT_EQ(key.limits.parallel_requests, 0u);
  EXPECT_FALSE(key.limits.tokens_per_day.has_value());
  EXPECT_TRUE(contents.had_keys);
  ASSERT_EQ(contents.tenants.size(), 1u);
  EXPECT_EQ(contents.tenants[0].name, "default");
  EXPECT_EQ(verdict(*store, made.text), KeyVerdict::kGood);
  EXPECT_EQ(verdict(*store, made.text, kNow + hours(24)), KeyVerdict::kExpired);
}

TEST_F(KeyStoreTest, HoldsNoTextOfAKey) {
  const auto store = open();
  const MadeKey made = store->create_key({}, kNow).value();
  const std::string bytes = file_bytes();
  EXPECT_NE(bytes.find(made.record.shown), bytes.npos);
  EXPECT_EQ(bytes.find(made.text.substr(kKeyShownCharacters)), bytes.npos);
  // Behind what is shown stands its hash, which may begin like the rest of the key.
  EXPECT_EQ(bytes.find(made.text.substr(0, kKeyShownCharacters + 6)), bytes.npos);
}

TEST_F(KeyStoreTest, IsReadableByItsOwnerAloneAndSoIsItsBackup) {
  const auto store = open();
  const MadeKey made = store->create_key({}, kNow).value();
  const std::string copy = folder_.file("copy.sqlite");
  ASSERT_TRUE(store->backup_to(copy).ok());
  using std::filesystem::perms;
  for (const std::string& file : {path(), copy}) {
    EXPECT_EQ(std::filesystem::status(file).permissions(), perms::owner_read | perms::owner_write);
  }
  const auto restored = KeyStore::open(copy, OpenRule::kMustExist).value();
  EXPECT_EQ(verdict(*restored, made.text), KeyVerdict::kGood);
}

TEST_F(KeyStoreTest, WritesNoBackupOverAFile) {
  const auto store = open();
  const auto refused = store->backup_to(path());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kConfiguration);
  EXPECT_TRUE(store->create_key({}, kNow).ok());
  EXPECT_FALSE(store->backup_to(folder_.file("no folder/x")).ok());
}

TEST_F(KeyStoreTest, RevokesByIdAndByTheKeyItself) {
  const auto store = open();
  const MadeKey first = store->create_key({}, kNow).value();
  const MadeKey second = store->create_key({}, kNow).value();
  EXPECT_EQ(store->revoke_key(first.record.id, kNow + hours(1))->revoked_at, kNow + hours(1));
  EXPECT_EQ(store->revoke_key(second.text, kNow + hours(2))->id, second.record.id);
  // The first time counts.
  EXPECT_EQ(store->revoke_key(first.record.id, kNow + hours(5))->revoked_at, kNow + hours(1));
  EXPECT_EQ(verdict(*store, first.text), KeyVerdict::kRevoked);
  EXPECT_EQ(verdict(*store, second.text), KeyVerdict::kRevoked);
}

TEST_F(KeyStoreTest, SaysThatThereIsNoSuchKeyWithoutRepeatingASecret) {
  const auto store = open();
  EXPECT_EQ(store->revoke_key("key_x", kNow).error().message, "no key has the id 'key_x'");
  const std::string text = make_key_text();
  const auto unknown = store->revoke_key(text, kNow);
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(unknown.error().message.find(text), std::string::npos);
  EXPECT_EQ(store->revoke_key(text + "x", kNow).error().message.find(text), std::string::npos);
}

TEST_F(KeyStoreTest, ChangesLimitsOfAKey) {
  const auto store = open();
  const MadeKey made = store->create_key({}, kNow).value();
  const auto set = [](Limits& limits) {
    limits.tokens_per_day = 1'000;
    limits.requests_per_minute = 5;
  };
  ASSERT_TRUE(store->change_key_limits(made.record.id, set).ok());
  const auto drop = [](Limits& limits) { limits.requests_per_minute.reset(); };
  ASSERT_TRUE(store->change_key_limits(made.record.id, drop).ok());
  const Limits limits = store->read()->keys[0].limits;
  EXPECT_EQ(limits.tokens_per_day, 1'000u);
  EXPECT_FALSE(limits.requests_per_minute.has_value());
  const auto absurd = [](Limits& same) { same.tokens_per_day = UINT64_MAX; };
  const auto refused = store->change_key_limits(made.record.id, absurd);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().field, "limits.tokens_per_day");
  EXPECT_EQ(store->read()->keys[0].limits, limits);
}

TEST_F(KeyStoreTest, KeepsAndChangesTenants) {
  const auto store = open();
  const auto made = store->change_tenant("law", [](TenantRecord& tenant) {
    tenant.weight = 2.5;
    tenant.priority = PriorityClass::kPriority;
    tenant.pool = "gpu";
    tenant.models = {"claude-*", "small"};
    tenant.limits.tokens_per_month = 7;
  });
  ASSERT_TRUE(made.ok()) << made.error().message;
  const auto changed = store->change_tenant("law", [](TenantRecord& tenant) { tenant.pool = ""; });
  EXPECT_EQ(changed->number, made->number);
  const KeyStoreContents contents = store->read().value();
  ASSERT_EQ(contents.tenants.size(), 1u);
  const TenantRecord& kept = contents.tenants[0];
  EXPECT_EQ(kept.number, made->number);
  EXPECT_EQ(kept.name, "law");
  EXPECT_EQ(kept.weight, 2.5);
  EXPECT_EQ(kept.priority, PriorityClass::kPriority);
  EXPECT_EQ(kept.pool, "");
  EXPECT_EQ(kept.models, (std::vector<std::string>{"claude-*", "small"}));
  EXPECT_EQ(kept.limits.tokens_per_month, 7u);
  EXPECT_FALSE(contents.had_keys);
}

// As the first version wrote it.
constexpr std::string_view kOldSchema = R"sql(
CREATE TABLE secrets (
  name TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) STRICT;
CREATE TABLE tenants (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  weight_permille INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  pool TEXT NOT NULL,
  models TEXT NOT NULL
) STRICT;
CREATE TABLE erased_tenants (
  number INTEGER PRIMARY KEY
) STRICT;
CREATE TABLE keys (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  tenant INTEGER NOT NULL REFERENCES tenants (number) ON DELETE CASCADE,
  name TEXT NOT NULL,
  shown TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  revoked_ms INTEGER
) STRICT;
CREATE INDEX keys_of_tenant ON keys (tenant);
CREATE TABLE limits (
  owner INTEGER NOT NULL,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (owner, number, name)
) STRICT, WITHOUT ROWID;
INSERT INTO tenants VALUES (5, 'law', 2000, 1, '', '');
INSERT INTO limits VALUES (1, 5, 'tokens_per_day', 77);
)sql";

TEST_F(KeyStoreTest, GoesOnWithAFileOfTheFirstVersion) {
  DatabaseOptions options;
  options.path = path();
  options.durability = Durability::kPower;
  const std::string_view scripts[]{kOldSchema};
  ASSERT_TRUE(Database::open(options, scripts).ok());
  const auto store = open();
  const TenantRecord law = store->read()->tenants.at(0);
  EXPECT_EQ(law.name, "law");
  EXPECT_EQ(law.limits.tokens_per_day, 77u);
  EXPECT_FALSE(law.overload_status.has_value());
  const auto changed =
      store->change_tenant("law", [](TenantRecord& tenant) { tenant.overload_status = 503; });
  ASSERT_TRUE(changed.ok()) << changed.error().message;
  EXPECT_EQ(open()->read()->tenants.at(0).overload_status, 503);
  EXPECT_EQ(changed->number, TenantId{5});
  const auto made = store->change_tenant("art", [](TenantRecord&) {});
  EXPECT_GT(made->number.value, std::uint64_t{1} << 40) << "as in a new file";
  const auto refused =
      store->change_tenant("law", [](TenantRecord& tenant) { tenant.overload_status = 500; });
  EXPECT_EQ(refused.error().field, "overload_status");
}

TEST_F(KeyStoreTest, RefusesTenantsThatCannotBe) {
  const auto store = open();
  const auto field = [&](const std::string& name, auto change) {
    const auto made = store->change_tenant(name, change);
    return made.ok() ? std::string("(made)") : made.error().field;
  };
  const auto nothing = [](TenantRecord&) {};
  EXPECT_EQ(field("", nothing), "tenant");
  EXPECT_EQ(field("a b", nothing), "tenant");
  EXPECT_EQ(field(std::string(65, 'a'), nothing), "tenant");
  EXPECT_EQ(field("a", [](TenantRecord& t) { t.weight = 0; }), "weight");
  EXPECT_EQ(field("a", [](TenantRecord& t) { t.weight = 1e9; }), "weight");
  EXPECT_EQ(field("a", [](TenantRecord& t) { t.weight = 0.0 / 0.0; }), "weight");
  EXPECT_EQ(field("a", [](TenantRecord& t) { t.pool = "p p"; }), "pool");
  EXPECT_EQ(field("a", [](TenantRecord& t) { t.models = {""}; }), "models");
  EXPECT_EQ(field("a", [](TenantRecord& t) { t.models = {"a\nb"}; }), "models");
  EXPECT_EQ(store->read()->tenants.size(), 0u);
}

TEST_F(KeyStoreTest, RefusesKeysThatCannotBe) {
  const auto store = open();
  const auto fault = [&](const NewKey& wanted) {
    const auto made = store->create_key(wanted, kNow);
    return made.ok() ? std::string("(made)") : made.error().field;
  };
  NewKey wanted;
  wanted.tenant = "nobody";
  EXPECT_EQ(fault(wanted), "tenant");
  wanted = {};
  wanted.expires_at = kNow;
  EXPECT_EQ(fault(wanted), "expires_at");
  wanted = {};
  wanted.name = "two\nlines";
  EXPECT_EQ(fault(wanted), "name");
  wanted.name = "\xff";
  EXPECT_EQ(fault(wanted), "name");
  wanted.name = std::string(129, 'n');
  EXPECT_EQ(fault(wanted), "name");
  EXPECT_FALSE(store->read()->had_keys);
}

TEST_F(KeyStoreTest, ErasesATenantWithItsKeysAndNeverGivesItsNumberAgain) {
  const auto store = open();
  const TenantRecord law =
      store
          ->change_tenant("law",
                          [](TenantRecord& tenant) { tenant.limits.requests_per_minute = 1; })
          .value();
  NewKey wanted;
  wanted.tenant = "law";
  wanted.limits.tokens_per_day = 3;
  const MadeKey gone = store->create_key(wanted, kNow).value();
  ASSERT_TRUE(store->create_key(wanted, kNow).ok());
  const MadeKey kept = store->create_key({}, kNow).value();
  EXPECT_EQ(store->erase_tenant("law").value(), 2u);
  EXPECT_EQ(verdict(*store, gone.text), KeyVerdict::kUnknown);
  EXPECT_EQ(verdict(*store, kept.text), KeyVerdict::kGood);
  EXPECT_EQ(store->erase_tenant("law").error().code, ErrorCode::kNotFound);
  const auto again = store->change_tenant("law", [](TenantRecord&) {});
  EXPECT_NE(again->number, law.number);
  EXPECT_EQ(store->read()->erased_tenants, std::vector<TenantId>{law.number});
  EXPECT_FALSE(again->limits.requests_per_minute.has_value());
  EXPECT_FALSE(store->create_key(wanted, kNow)->record.number == gone.record.number);
}

// Usage, budgets and batches are kept by number in files of their own, and outlive this one.
TEST_F(KeyStoreTest, NumbersOfOneFileMeanNobodyInAnother) {
  const auto nothing = [](TenantRecord&) {};
  const auto store = open();
  const auto other = KeyStore::open(folder_.file("other.sqlite")).value();
  EXPECT_NE(store->change_tenant("law", nothing)->number,
            other->change_tenant("art", nothing)->number);
  EXPECT_NE(store->create_key({}, kNow)->record.number, other->create_key({}, kNow)->record.number);
  // Nor in an older copy, which takes this one's place.
  const std::string copy = folder_.file("copy.sqlite");
  ASSERT_TRUE(store->backup_to(copy).ok());
  const auto later = store->change_tenant("later", nothing);
  const auto restored = KeyStore::open(copy).value();
  EXPECT_NE(later->number, restored->change_tenant("another", nothing)->number);
  EXPECT_EQ(restored->change_tenant("law", nothing)->number,
            store->change_tenant("law", nothing)->number);
}

TEST_F(KeyStoreTest, NumbersGrowAndStayExactInJson) {
  const auto store = open();
  KeyId last{0};
  for (int i = 0; i < 20; ++i) {
    const KeyId number = store->create_key({}, kNow)->record.number;
    EXPECT_GT(number, last);
    EXPECT_LT(number.value, std::uint64_t{1} << 53);
    last = number;
  }
}

TEST_F(KeyStoreTest, DropsKeysThatEndedLongAgoAndStaysClosed) {
  const auto store = open();
  NewKey short_lived;
  short_lived.expires_at = kNow + hours(1);
  const MadeKey expired = store->create_key(short_lived, kNow).value();
  const MadeKey revoked = store->create_key({}, kNow).value();
  ASSERT_TRUE(store->revoke_key(revoked.record.id, kNow + hours(1)).ok());
  EXPECT_EQ(store->drop_ended(kNow + hours(1)).value(), 0u);
  EXPECT_EQ(store->drop_ended(kNow + hours(2)).value(), 2u);
  const KeyStoreContents contents = store->read().value();
  EXPECT_TRUE(contents.keys.empty());
  EXPECT_TRUE(contents.had_keys);
  EXPECT_EQ(verdict(*store, expired.text), KeyVerdict::kUnknown);
}

TEST_F(KeyStoreTest, TellsOthersThatItHasChanged) {
  const auto watcher = open();
  const auto writer = open();
  const std::int64_t before = watcher->data_version().value();
  EXPECT_EQ(watcher->data_version().value(), before);
  ASSERT_TRUE(writer->create_key({}, kNow).ok());
  EXPECT_NE(watcher->data_version().value(), before);
}

TEST_F(KeyStoreTest, MakesNoFileWhereOneMustExist) {
  const auto opened = KeyStore::open(path(), OpenRule::kMustExist);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::kConfiguration);
  EXPECT_NE(opened.error().message.find(path()), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(KeyStoreTest, SaysThatAFileIsDamaged) {
  std::ofstream(path()) << std::string(8192, 'x');
  const auto opened = KeyStore::open(path());
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::kConfiguration);
}

TEST_F(KeyStoreTest, RefusesALimitThatItDoesNotKnow) {
  open()->create_key({}, kNow).value();
  {
    DatabaseOptions options;
    options.path = path();
    const std::string_view versions[]{"SELECT 1", "SELECT 2"};
    const auto database = Database::open(options, versions).value();
    ASSERT_TRUE(database->execute("INSERT INTO limits VALUES (2, 1, 'of_tomorrow', 5)").ok());
  }
  const auto read = open()->read();
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("of_tomorrow"), std::string::npos);
}

TEST_F(KeyStoreTest, RefusesATenantThatNobodyCouldHaveMade) {
  open()->create_key({}, kNow).value();
  {
    DatabaseOptions options;
    options.path = path();
    const std::string_view versions[]{"SELECT 1", "SELECT 2"};
    const auto database = Database::open(options, versions).value();
    ASSERT_TRUE(database->execute("UPDATE tenants SET weight_permille = 0").ok());
  }
  EXPECT_FALSE(open()->read().ok());
}

// A child makes and revokes keys until it is killed: what it had reported is there afterwards.
TEST_F(KeyStoreTest, LosesNothingThatWasReportedWhenItsProcessIsKilled) {
  open();
  for (int round = 0; round < 5; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      const auto store = KeyStore::open(path()).value();
      while (true) {
        const MadeKey made = store->create_key({}, kNow).value();
        (void)store->revoke_key(made.record.id, kNow).value();
        if (write(ends[1], made.record.id.data(), made.record.id.size()) < 0) _exit(1);
      }
    }
    close(ends[1]);
    std::string reported;
    char bytes[20];
    while (reported.size() < 20u * static_cast<std::size_t>(1 + round)) {
      const ssize_t count = read(ends[0], bytes, sizeof bytes);
      ASSERT_GT(count, 0);
      reported.append(bytes, static_cast<std::size_t>(count));
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(ends[0]);
    const KeyStoreContents contents = open(OpenRule::kMustExist)->read().value();
    for (std::size_t at = 0; at + 20 <= reported.size(); at += 20) {
      const auto found = std::ranges::find_if(
          contents.keys, [&](const KeyRecord& key) { return key.id == reported.substr(at, 20); });
      ASSERT_NE(found, contents.keys.end());
      EXPECT_TRUE(found->revoked_at.has_value());
    }
  }
}

}  // namespace
}  // namespace zerohop
