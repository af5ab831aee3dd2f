// Journal and ledger when their process is killed at any point at all, in the middle of a write
// included: a child serves requests as fast as it can and says in shared memory how far it is; the
// parent kills it at a random number of requests and looks at what is on the disk.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "admission/budget_journal.h"
#include "admission/ledger.h"
#include "base/check.h"
#include "base/random.h"
#include "store/store_test_folder.h"

namespace zerohop {
namespace {

constexpr std::uint64_t kLimit = 10'000'000;
constexpr std::uint64_t kReserved = 5'000;  // of each running request; far more than it is served

// What the child has done. Numbers of tokens and rows since it began.
struct Progress {
  std::atomic<std::uint64_t> requests;
  std::atomic<std::uint64_t> begun;         // may have been spent
  std::atomic<std::uint64_t> on_disk;       // was spent when the last finished write began
  std::atomic<std::uint64_t> rows;          // may have been added
  std::atomic<std::uint64_t> rows_on_disk;  // were added when the last finished write began
};

class SharedProgress {
 public:
  SharedProgress()
      : page_(::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                     -1, 0)) {
    ZH_CHECK(page_ != MAP_FAILED);
    progress_ = new (page_) Progress{};
  }
  ~SharedProgress() { ::munmap(page_, sizeof(Progress)); }
  SharedProgress(const SharedProgress&) = delete;
  SharedProgress& operator=(const SharedProgress&) = delete;
  Progress& operator*() const { return *progress_; }
  Progress* operator->() const { return progress_; }

 private:
  void* page_;
  Progress* progress_;
};

// The books of one process.
struct Books {
  explicit Books(const StoreTestFolder& folder) {
    DatabaseOptions file;
    file.path = folder.file("budgets.db");
    journal = BudgetJournal::open(file).value();
    file.path = folder.file("ledger.db");
    ledger = Ledger::open(file).value();
    limiter.on_new_budget([this](const Limiter::NewBudget& made) { journal->attach(made); });
    limits.tokens_per_month = kLimit;
  }

  Reservation enter() {
    LimitParties parties;
    parties.tenant = LimitParty{"#1", limits, "acme", TenantId{1}};
    return limiter.enter(parties, limit_moment(clock)).value();
  }
  std::uint64_t used() { return kLimit - enter().report(limit_moment(clock)).tokens->remaining; }
  std::uint64_t rows() {
    const auto sums = ledger->sums({}).value();
    return sums.empty() ? 0 : sums[0].requests;
  }

  VirtualClock clock;
  Limits limits;
  Limiter limiter;
  std::unique_ptr<BudgetJournal> journal;
  std::unique_ptr<Ledger> ledger;
};

// Never returns. Keeps some requests running, whose reservations die with it.
[[noreturn]] void serve(const StoreTestFolder& folder, Progress& progress, std::uint64_t seed) {
  Books books(folder);
  Random random(seed);
  std::vector<Reservation> running;
  for (std::uint64_t request = 0;; ++request) {
    Reservation reservation = books.enter();
    const std::uint64_t tokens = random.below(200);
    progress.begun += tokens;
    ZH_CHECK(reservation.claim({{tokens, 0, kReserved}, {}}, limit_moment(books.clock)).ok());
    if (running.size() < 10) {
      running.push_back(std::move(reservation));  // its prompt is spent, its answer never comes
    } else {
      reservation.settle({tokens, 0, 0}, limit_moment(books.clock));
      ++progress.rows;
      LedgerRow row;
      row.at = books.clock.wall();
      row.tenant = "acme";
      row.tokens.uncached_input = tokens;
      books.ledger->add(std::move(row));
    }
    if (random.below(4) == 0) {
      const std::uint64_t spent = progress.begun;
      const std::uint64_t rows = progress.rows;
      books.limiter.count_served();
      ZH_CHECK(books.journal->write_behind().ok());
      progress.on_disk = spent;
      ZH_CHECK(books.ledger->write_behind().ok());
      progress.rows_on_disk = rows;
    }
    ++progress.requests;
  }
}

TEST(BooksUnderKill, LoseNoMoreThanTheWindowAndHoldNoReservation) {
  const StoreTestFolder folder;
  Random random(7);
  std::uint64_t used = 0;
  std::uint64_t rows = 0;
  for (std::uint64_t round = 0; round < 25; ++round) {
    const SharedProgress progress;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) serve(folder, *progress, round);
    const std::uint64_t enough = random.below(400);
    while (progress->requests < enough && ::waitpid(child, nullptr, WNOHANG) == 0)
      std::this_thread::yield();
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_GE(progress->requests, enough) << "the child ended by itself in round " << round;

    Books books(folder);
    const std::uint64_t restored = books.used();
    EXPECT_GE(restored, used + progress->on_disk) << round;
    EXPECT_LE(restored, used + progress->begun + budget_lease(kLimit)) << round;
    const std::uint64_t kept = books.rows();
    EXPECT_GE(kept, rows + progress->rows_on_disk) << round;
    EXPECT_LE(kept, rows + progress->rows) << round;
    used = restored;
    rows = kept;
  }
  EXPECT_GT(used, 0u);
  EXPECT_GT(rows, 0u);
}

}  // namespace
}  // namespace zerohop
