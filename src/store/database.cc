#include "store/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/file_sync.h"

namespace zerohop {
namespace {

// Of the write-ahead log after a checkpoint; a large transaction must not leave it large for good.
constexpr int kLogBytesMax = 16 << 20;

StoreFault fault_of(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL: return StoreFault::kFull;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return StoreFault::kBusy;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return StoreFault::kCorrupt;
    default: return StoreFault::kUnavailable;
  }
}

// What only a bug in the caller's SQL or in its order of calls can cause.
bool is_bug(int code) {
  const int primary = code & 0xff;
  return primary == SQLITE_MISUSE || primary == SQLITE_RANGE || primary == SQLITE_CONSTRAINT ||
         primary == SQLITE_MISMATCH;
}

// What is kept is the users' text: for the owner of the process alone. SQLite gives its other files
// the rights of this one, and an empty file is an empty database.
void make_private(const std::string& path) {
  const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) ::close(file);
}

}  // namespace

// ---- Statement ----

void Statement::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

StoreResult<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    reset();
    return false;
  }
  StoreError error = database_->error_of(code);
  reset();
  return error;
}

StoreResult<void> Statement::run() {
  ZH_ASSIGN_OR_RETURN(const bool row, step());
  ZH_CHECK(!row);
  return {};
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::optional<std::int64_t> Statement::integer_or_null(int column) const {
  if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) return std::nullopt;
  return integer(column);
}

std::string_view Statement::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

// The code of a failed step is returned again; it has been dealt with.
void Statement::reset() { sqlite3_reset(statement_.get()); }

void Statement::bind_one(int index, std::int64_t value) {
  ZH_CHECK(sqlite3_bind_int64(statement_.get(), index + 1, value) == SQLITE_OK);
}

// A copy: the statement may be stepped after the text is gone. An empty view may have no address,
// which SQLite would take for NULL.
void Statement::bind_one(int index, std::string_view text) {
  const char* bytes = text.data() == nullptr ? "" : text.data();
  const int code = sqlite3_bind_text64(statement_.get(), index + 1, bytes, text.size(),
                                       SQLITE_TRANSIENT, SQLITE_UTF8);
  ZH_CHECK(code == SQLITE_OK);
}

void Statement::bind_one(int index, std::nullopt_t) {
  ZH_CHECK(sqlite3_bind_null(statement_.get(), index + 1) == SQLITE_OK);
}

void Statement::bind_one(int index, std::optional<std::int64_t> value) {
  if (value) {
    bind_one(index, *value);
  } else {
    bind_one(index, std::nullopt);
  }
}

// ---- Transaction ----

Transaction::Transaction(Transaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

// A failed statement may have ended the transaction already (a full disk does).
Transaction::~Transaction() {
  if (database_ == nullptr) return;
  sqlite3* handle = database_->handle_.get();
  if (sqlite3_get_autocommit(handle) == 0) {
    sqlite3_exec(handle, "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

StoreResult<void> Transaction::commit() {
  ZH_CHECK(database_ != nullptr);
  ZH_RETURN_IF_ERROR(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

// ---- Database ----

void Database::Closer::operator()(sqlite3* handle) const {
  ZH_CHECK(sqlite3_close(handle) == SQLITE_OK);  // no statement may be left
}

Database::~Database() = default;

StoreError Database::error_of(int code) const {
  ZH_CHECK(!is_bug(code));
  const char* reason = handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_.get());
  return StoreError{fault_of(code), "store \"" + path_ + "\": " + reason};
}

StoreResult<std::unique_ptr<Database>> Database::open(
    const DatabaseOptions& options, std::span<const std::string_view> migrations) {
  std::unique_ptr<Database> database(new Database(options.path));
  ZH_RETURN_IF_ERROR(database->connect(options));
  ZH_RETURN_IF_ERROR(database->configure(options));
  ZH_RETURN_IF_ERROR(database->migrate(migrations));
  return database;
}

StoreResult<void> Database::connect(const DatabaseOptions& options) {
  const bool makes = options.rule == OpenRule::kMake;
  if (makes) make_private(options.path);
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (makes ? SQLITE_OPEN_CREATE : 0);
  const int code = sqlite3_open_v2(options.path.c_str(), &handle, flags, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) return error_of(code);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, static_cast<int>(options.busy_timeout.count()));
  return {};
}

StoreResult<void> Database::configure(const DatabaseOptions& options) {
  const bool fast = options.durability == Durability::kFast;
  ZH_RETURN_IF_ERROR(execute(fast ? "PRAGMA journal_mode = WAL" : "PRAGMA journal_mode = DELETE"));
  ZH_RETURN_IF_ERROR(execute(fast ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL"));
  ZH_RETURN_IF_ERROR(execute("PRAGMA foreign_keys = ON"));
  ZH_RETURN_IF_ERROR(execute("PRAGMA journal_size_limit = " + std::to_string(kLogBytesMax)));
  if (options.pages_max != 0) {
    return execute("PRAGMA max_page_count = " + std::to_string(options.pages_max));
  }
  return {};
}

StoreResult<std::int64_t> Database::pragma(const std::string& name) {
  ZH_ASSIGN_OR_RETURN(Statement read, prepare("PRAGMA " + name));
  ZH_ASSIGN_OR_RETURN(const bool row, read.step());
  ZH_CHECK(row);
  return read.integer(0);
}

// A file that is up to date is opened without writing. The version is read again once nobody else
// can write: two processes may start at once.
StoreResult<void> Database::migrate(std::span<const std::string_view> migrations) {
  const auto newest = static_cast<std::int64_t>(migrations.size());
  ZH_ASSIGN_OR_RETURN(const std::int64_t found, pragma("user_version"));
  if (found == newest) return {};
  ZH_ASSIGN_OR_RETURN(Transaction transaction, begin());
  ZH_ASSIGN_OR_RETURN(const std::int64_t version, pragma("user_version"));
  if (version > newest) {
    return StoreError{StoreFault::kNewer,
                      "store \"" + path_ + "\" has version " + std::to_string(version) +
                          ", newer than this program's " + std::to_string(newest)};
  }
  if (version == newest) return {};
  for (std::int64_t i = version; i < newest; ++i) {
    ZH_RETURN_IF_ERROR(execute(std::string(migrations[static_cast<std::size_t>(i)])));
  }
  ZH_RETURN_IF_ERROR(execute("PRAGMA user_version = " + std::to_string(newest)));
  return transaction.commit();
}

// Wrong SQL is a bug, but the same code also says that a table is missing from a file that somebody
// else made, so it is reported.
StoreResult<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return error_of(code);
  return Statement(*this, statement);
}

StoreResult<void> Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error_of(code);
  return {};
}

StoreResult<Transaction> Database::begin() {
  ZH_RETURN_IF_ERROR(execute("BEGIN IMMEDIATE"));
  return Transaction(*this);
}

StoreResult<std::int64_t> Database::data_version() { return pragma("data_version"); }

// SQLite writes into a file that is there and empty, which so has its rights from the beginning.
StoreResult<void> Database::backup_to(const std::string& path) {
  const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) {
    const std::string reason = std::error_code(errno, std::generic_category()).message();
    return StoreError{StoreFault::kUnavailable, "\"" + path + "\": " + reason};
  }
  ::close(file);
  ZH_ASSIGN_OR_RETURN(Statement copy, prepare("VACUUM INTO ?"));
  StoreResult<void> copied = copy.bind(path).run();
  if (copied.ok() && sync_to_disk(path)) {
    copied = StoreError{StoreFault::kUnavailable, "\"" + path + "\" cannot be written to the disk"};
  }
  if (!copied.ok()) ::unlink(path.c_str());
  return copied;
}

StoreResult<Transaction> Database::begin_reading() {
  ZH_RETURN_IF_ERROR(execute("BEGIN"));
  return Transaction(*this);
}

std::int64_t Database::rows_changed() const { return sqlite3_changes64(handle_.get()); }

std::int64_t Database::total_changes() const { return sqlite3_total_changes64(handle_.get()); }

std::int64_t Database::last_row() const { return sqlite3_last_insert_rowid(handle_.get()); }

}  // namespace zerohop
