#include "store/database.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "store/store_test_folder.h"

namespace zerohop {
namespace {

constexpr std::string_view kFirst = "CREATE TABLE notes (number INTEGER PRIMARY KEY, text TEXT);";
constexpr std::string_view kSecond =
    "ALTER TABLE notes ADD COLUMN weight INTEGER; CREATE INDEX by_weight ON notes (weight);";

class DatabaseTest : public testing::Test {
 protected:
  StoreResult<std::unique_ptr<Database>> try_open(
      std::vector<std::string_view> migrations = {kFirst}, std::uint32_t pages_max = 0) {
    DatabaseOptions options;
    options.path = folder_.file("notes.db");
    options.busy_timeout = std::chrono::milliseconds(1);
    options.pages_max = pages_max;
    return Database::open(options, migrations);
  }
  std::unique_ptr<Database> open(std::vector<std::string_view> migrations = {kFirst},
                                 std::uint32_t pages_max = 0) {
    auto opened = try_open(std::move(migrations), pages_max);
    if (!opened.ok()) ADD_FAILURE() << opened.error().message;
    return opened.ok() ? std::move(opened).value() : nullptr;
  }
  static StoreResult<void> add(Database& database, std::string_view text) {
    Statement insert = database.prepare("INSERT INTO notes (text) VALUES (?)").value();
    return insert.bind(text).run();
  }
  static std::int64_t count(Database& database) {
    Statement read = database.prepare("SELECT count(*) FROM notes").value();
    EXPECT_TRUE(read.step().value());
    return read.integer(0);
  }

  StoreTestFolder folder_;
};

TEST_F(DatabaseTest, KeepsWhatWasWritten) {
  ASSERT_TRUE(add(*open(), "first").ok());
  const auto database = open();
  Statement read = database->prepare("SELECT number, text, NULL FROM notes").value();
  ASSERT_TRUE(read.step().value());
  EXPECT_EQ(read.integer(0), 1);
  EXPECT_EQ(read.text(1), "first");
  EXPECT_EQ(read.text(2), "");
  EXPECT_FALSE(read.integer_or_null(2).has_value());
  EXPECT_FALSE(read.step().value());
}

TEST_F(DatabaseTest, KeepsAnyBytesOfATextAndAnEmptyOne) {
  const auto database = open();
  const std::string odd("a\0b\xff", 4);
  ASSERT_TRUE(add(*database, odd).ok());
  ASSERT_TRUE(add(*database, std::string_view()).ok());
  Statement read = database->prepare("SELECT text, text IS NULL FROM notes").value();
  ASSERT_TRUE(read.step().value());
  EXPECT_EQ(read.text(0), odd);
  ASSERT_TRUE(read.step().value());
  EXPECT_EQ(read.text(0), "");
  EXPECT_EQ(read.integer(1), 0);
}

TEST_F(DatabaseTest, BindsNothingAndOptionalNumbers) {
  const auto database = open({kFirst, kSecond});
  Statement insert = database->prepare("INSERT INTO notes (text, weight) VALUES (?, ?)").value();
  ASSERT_TRUE(insert.bind(std::nullopt, std::optional<std::int64_t>(7)).run().ok());
  EXPECT_EQ(database->last_row(), 1);
  ASSERT_TRUE(insert.bind(std::string("x"), std::optional<std::int64_t>()).run().ok());
  Statement read = database->prepare("SELECT text IS NULL, weight FROM notes").value();
  ASSERT_TRUE(read.step().value());
  EXPECT_EQ(read.integer(0), 1);
  EXPECT_EQ(read.integer_or_null(1), 7);
  ASSERT_TRUE(read.step().value());
  EXPECT_EQ(read.integer(0), 0);
  EXPECT_FALSE(read.integer_or_null(1).has_value());
}

TEST_F(DatabaseTest, UndoesATransactionThatWasNotCommitted) {
  const auto database = open();
  {
    const auto transaction = database->begin();
    ASSERT_TRUE(transaction.ok());
    ASSERT_TRUE(add(*database, "lost").ok());
  }
  EXPECT_EQ(count(*database), 0);
  auto transaction = database->begin();
  ASSERT_TRUE(add(*database, "kept").ok());
  ASSERT_TRUE(transaction.value().commit().ok());
  EXPECT_EQ(count(*database), 1);
}

TEST_F(DatabaseTest, BringsAnOldSchemaUpToDate) {
  ASSERT_TRUE(add(*open({kFirst}), "old").ok());
  const auto database = open({kFirst, kSecond});
  ASSERT_NE(database, nullptr);
  EXPECT_EQ(count(*database), 1);
  EXPECT_TRUE(database->execute("UPDATE notes SET weight = 3").ok());
  EXPECT_EQ(database->rows_changed(), 1);
}

TEST_F(DatabaseTest, RefusesTheFileOfANewerVersion) {
  open({kFirst, kSecond});
  const auto opened = try_open({kFirst});
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().fault, StoreFault::kNewer);
  EXPECT_NE(opened.error().message.find("has version 2"), std::string::npos);
}

TEST_F(DatabaseTest, ChangesNothingWhenAMigrationFails) {
  ASSERT_TRUE(add(*open({kFirst}), "old").ok());
  EXPECT_FALSE(try_open({kFirst, "CREATE TABLE more (x); NONSENSE;"}).ok());
  EXPECT_EQ(count(*open({kFirst})), 1);
}

TEST_F(DatabaseTest, SaysThatItIsFullAndGoesOn) {
  const auto database = open({kFirst}, 16);
  const std::string page(4096, 'p');
  StoreResult<void> added;
  int fitting = 0;
  while ((added = add(*database, page)).ok()) ++fitting;
  EXPECT_EQ(added.error().fault, StoreFault::kFull);
  EXPECT_GT(fitting, 2);
  EXPECT_EQ(count(*database), fitting);
  ASSERT_TRUE(database->execute("DELETE FROM notes").ok());
  EXPECT_TRUE(add(*database, page).ok());
}

TEST_F(DatabaseTest, UndoesATransactionThatMeetsAFullDisk) {
  const auto database = open({kFirst}, 16);
  {
    auto transaction = database->begin();
    while (add(*database, std::string(4096, 'p')).ok()) {
    }
  }
  EXPECT_EQ(count(*database), 0);
}

TEST_F(DatabaseTest, SaysThatAFileIsNoDatabase) {
  std::ofstream(folder_.file("notes.db")) << std::string(8192, 'x');
  const auto opened = try_open();
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().fault, StoreFault::kCorrupt);
}

TEST_F(DatabaseTest, SaysThatAFileIsDamaged) {
  {
    const auto database = open();
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(add(*database, std::string(2000, 't')).ok());
  }
  const std::string path = folder_.file("notes.db");
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);  // the first page stays
    file << std::string(64 << 10, '\x5a');
  }
  const auto database = open();
  ASSERT_NE(database, nullptr);
  Statement read = database->prepare("SELECT sum(length(text)) FROM notes").value();
  const auto row = read.step();
  ASSERT_FALSE(row.ok());
  EXPECT_EQ(row.error().fault, StoreFault::kCorrupt);
}

TEST_F(DatabaseTest, SaysThatItCannotOpenAFile) {
  DatabaseOptions options;
  options.path = folder_.file("no such folder/notes.db");
  const auto opened = Database::open(options, {});
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().fault, StoreFault::kUnavailable);
}

TEST_F(DatabaseTest, SaysThatAnotherConnectionHoldsTheFile) {
  const auto first = open();
  const auto second = open();
  const auto transaction = first->begin();
  ASSERT_TRUE(transaction.ok());
  const auto refused = second->begin();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().fault, StoreFault::kBusy);
}

TEST_F(DatabaseTest, IsReadableByItsOwnerAlone) {
  ASSERT_TRUE(add(*open(), "secret").ok());
  const auto rights = std::filesystem::status(folder_.file("notes.db")).permissions();
  EXPECT_EQ(rights, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(DatabaseTest, MakesNoFileWhereOneMustExist) {
  DatabaseOptions options;
  options.path = folder_.file("none.db");
  options.rule = OpenRule::kMustExist;
  const std::string_view migrations[]{kFirst};
  const auto opened = Database::open(options, migrations);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().fault, StoreFault::kUnavailable);
  EXPECT_FALSE(std::filesystem::exists(options.path));
}

TEST_F(DatabaseTest, OpensAnUpToDateFileWithoutWriting) {
  const auto first = open();
  const auto transaction = first->begin();  // nobody else may write now
  ASSERT_TRUE(transaction.ok());
  EXPECT_TRUE(try_open().ok());
}

TEST_F(DatabaseTest, CommitsToTheDiskWhereAskedTo) {
  DatabaseOptions options;
  options.path = folder_.file("power.db");
  options.durability = Durability::kPower;
  const std::string_view migrations[]{kFirst};
  const auto database = Database::open(options, migrations).value();
  Statement journal = database->prepare("PRAGMA journal_mode").value();
  ASSERT_TRUE(journal.step().value());
  EXPECT_EQ(journal.text(0), "delete");
  Statement synchronous = database->prepare("PRAGMA synchronous").value();
  ASSERT_TRUE(synchronous.step().value());
  EXPECT_EQ(synchronous.integer(0), 2);  // FULL
}

TEST_F(DatabaseTest, TellsThatAnotherConnectionHasWritten) {
  const auto reader = open();
  const auto writer = open();
  const std::int64_t before = reader->data_version().value();
  EXPECT_EQ(reader->data_version().value(), before);
  ASSERT_TRUE(add(*writer, "new").ok());
  const std::int64_t after = reader->data_version().value();
  EXPECT_NE(after, before);
  ASSERT_TRUE(add(*reader, "own").ok());
  EXPECT_EQ(reader->data_version().value(), after);
}

TEST_F(DatabaseTest, ReadsAsOfOneMoment) {
  const auto reader = open();
  const auto writer = open();
  {
    const auto moment = reader->begin_reading();
    ASSERT_TRUE(moment.ok());
    EXPECT_EQ(count(*reader), 0);
    ASSERT_TRUE(add(*writer, "later").ok());
    EXPECT_EQ(count(*reader), 0);
  }
  EXPECT_EQ(count(*reader), 1);
}

TEST_F(DatabaseTest, CopiesItselfWhileItIsInUse) {
  const auto database = open();
  const auto other = open();
  ASSERT_TRUE(add(*database, "kept").ok());
  const auto transaction = other->begin();
  ASSERT_TRUE(add(*other, "not yet").ok());
  const std::string copy = folder_.file("copy.db");
  ASSERT_TRUE(database->backup_to(copy).ok());
  const auto rights = std::filesystem::status(copy).permissions();
  EXPECT_EQ(rights, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  DatabaseOptions options;
  options.path = copy;
  const std::string_view migrations[]{kFirst};
  EXPECT_EQ(count(*Database::open(options, migrations).value()), 1);
}

TEST_F(DatabaseTest, CopiesItselfOverNothing) {
  const auto database = open();
  const std::string taken = folder_.file("taken");
  std::ofstream(taken) << "precious";
  const auto refused = database->backup_to(taken);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().fault, StoreFault::kUnavailable);
  EXPECT_EQ(std::filesystem::file_size(taken), 8u);
}

TEST(StoreError, TellsClientsNoFileNames) {
  const StoreError full{StoreFault::kFull, "store \"/secret/path\": full"};
  EXPECT_EQ(client_error(full).code, ErrorCode::kOverloaded);
  EXPECT_GT(client_error(full).retry_after.count(), 0);
  EXPECT_EQ(client_error({StoreFault::kBusy, ""}).code, ErrorCode::kOverloaded);
  for (const StoreFault fault :
       {StoreFault::kCorrupt, StoreFault::kNewer, StoreFault::kUnavailable}) {
    EXPECT_EQ(client_error({fault, "/secret"}).code, ErrorCode::kInternal);
    EXPECT_EQ(client_error({fault, "/secret"}).message.find("secret"), std::string::npos);
  }
  EXPECT_EQ(startup_error(full).code, ErrorCode::kConfiguration);
  EXPECT_EQ(startup_error(full).message, full.message);
}

}  // namespace
}  // namespace zerohop
