// One SQLite file behind values: open, bring the schema up to date, statements, transactions. The
// owner brings its tables; nothing here knows what is kept.
//
// Strict: every failure of SQLite is a StoreError and leaves the transaction undone; wrong SQL and
// wrong use are bugs and crash. A crash of the process loses no committed transaction.
//
// One thread at a time; the owner guards it. Statements and transactions must end before their
// database.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "store/store_error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace zerohop {

enum class Durability : std::uint8_t {
  /// Write-ahead log, synchronous = NORMAL (https://sqlite.org/wal.html): readers and a writer do
  /// not wait for each other. A loss of power may lose the last transactions, never the file.
  kFast,
  /// Rollback journal, synchronous = FULL: a committed transaction survives a loss of power. Some
  /// milliseconds a transaction. Between transactions the file is all there is, so it can also be
  /// read where its folder cannot be written.
  kPower,
};

enum class OpenRule : std::uint8_t {
  kMake,      ///< a missing file is made
  kMustExist  ///< a missing file is an error
};

struct DatabaseOptions {
  std::string path;
  Durability durability = Durability::kFast;
  OpenRule rule = OpenRule::kMake;
  /// How long a statement waits for another process that holds the file.
  std::chrono::milliseconds busy_timeout{2'000};
  /// Most pages of 4 KiB; 0: as many as the disk has.
  std::uint32_t pages_max = 0;
};

class Database;

/// A prepared statement. Parameters and columns are counted from 0.
class Statement {
 public:
  /// All parameters at once, in order: integers, texts (any bytes) or nothing (NULL).
  template <class... Values>
  Statement& bind(const Values&... values) {
    reset();
    int index = 0;
    (bind_one(index++, values), ...);
    return *this;
  }

  /// True when there is a row to read. After false or an error the statement is reset.
  StoreResult<bool> step();
  /// For statements without rows.
  StoreResult<void> run();

  // Of the current row
  std::int64_t integer(int column) const;
  std::optional<std::int64_t> integer_or_null(int column) const;
  /// Empty for NULL. Valid until the next step, bind or reset.
  std::string_view text(int column) const;

  /// Ends a reading; done by bind() as well.
  void reset();

 private:
  friend class Database;
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };

  Statement(const Database& database, sqlite3_stmt* statement)
      : database_(&database), statement_(statement) {}

  void bind_one(int index, std::int64_t value);
  void bind_one(int index, std::string_view text);
  void bind_one(int index, std::nullopt_t);
  void bind_one(int index, std::optional<std::int64_t> value);

  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
};

/// Everything between begin() and commit(), or nothing: undone when destroyed without commit().
/// After an error in between nothing more may be done in it, because SQLite may have undone it
/// already.
class Transaction {
 public:
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  /// After an error everything is undone by the destructor.
  StoreResult<void> commit();

 private:
  friend class Database;
  explicit Transaction(Database& database) : database_(&database) {}

  Database* database_;  // null once ended
};

class Database {
 public:
  /// Opens or makes the file. `migrations` are scripts: the first makes the schema of version 1,
  /// each further one the next version; those that the file has not seen run in one transaction.
  static StoreResult<std::unique_ptr<Database>> open(const DatabaseOptions& options,
                                                     std::span<const std::string_view> migrations);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// `sql` is one statement.
  StoreResult<Statement> prepare(std::string_view sql);

  /// One or more statements without parameters.
  StoreResult<void> execute(const std::string& sql);

  /// Takes the right to write at once, so that nothing read in it changes before the commit.
  StoreResult<Transaction> begin();
  /// For reading only: what is read until it ends is as of one moment, its first read.
  StoreResult<Transaction> begin_reading();

  /// Rows that the last statement inserted, changed or deleted.
  std::int64_t rows_changed() const;
  /// The same of all statements since it was opened, those that were undone included.
  std::int64_t total_changes() const;
  /// Row id of the last insertion.
  std::int64_t last_row() const;

  /// A number that changes whenever another connection has committed a change to the file, and not
  /// for this connection's own (https://sqlite.org/pragma.html#pragma_data_version).
  StoreResult<std::int64_t> data_version();

  /// A whole copy as of now, in a new file that only its owner may read; others go on working
  /// meanwhile. Errors: beside those of the store, kUnavailable where `path` is taken.
  StoreResult<void> backup_to(const std::string& path);

 private:
  friend class Statement;
  friend class Transaction;
  struct Closer {
    void operator()(sqlite3* handle) const;
  };

  explicit Database(std::string path) : path_(std::move(path)) {}

  StoreResult<void> connect(const DatabaseOptions& options);
  StoreResult<void> configure(const DatabaseOptions& options);
  StoreResult<std::int64_t> pragma(const std::string& name);
  StoreResult<void> migrate(std::span<const std::string_view> migrations);
  StoreError error_of(int code) const;

  const std::string path_;
  std::unique_ptr<sqlite3, Closer> handle_;
};

}  // namespace zerohop
