#include "app/batch_service.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "api/error_body.h"
#include "app/kept_files.h"
#include "base/log.h"

namespace zerohop {

namespace asio = boost::asio;

namespace {

// While interactive requests wait, and after a failure of the store.
constexpr std::chrono::milliseconds kBusyPoll{50};
constexpr std::chrono::seconds kFailedPoll{2};
constexpr std::chrono::hours kLongestSleep{1};

// What is no fault of the request is no result either: it is computed again. So is what the end of
// this process cuts off.
bool may_pass(ErrorCode code) {
  return code == ErrorCode::kOverloaded || code == ErrorCode::kShed ||
         code == ErrorCode::kShuttingDown || code == ErrorCode::kCancelled;
}

// After which it is to be computed again; nothing: it is over.
std::optional<Duration> comes_back_after(const BatchWork& work, const BatchAnswer& answer) {
  if (answer.message.ok() || work.unwanted()) return std::nullopt;
  if (answer.wait) return *answer.wait;
  if (!may_pass(answer.message.error().code)) return std::nullopt;
  return std::max<Duration>(answer.message.error().retry_after, kBusyPoll);
}

}  // namespace

Result<std::unique_ptr<BatchService>> BatchService::open(Service& service,
                                                         asio::any_io_executor executor,
                                                         const std::filesystem::path& folder) {
  // Two processes must not compute the same requests.
  ZH_ASSIGN_OR_RETURN(FileLock lock, hold_folder({"batches.folder", folder, "batches.lock"}));
  DatabaseOptions options;
  options.path = (folder / "batches.sqlite").string();
  ZH_ASSIGN_OR_RETURN(std::unique_ptr<BatchStore> store, BatchStore::open(options));
  return std::unique_ptr<BatchService>(
      new BatchService(service, std::move(executor), std::move(store), std::move(lock)));
}

BatchService::BatchService(Service& service, asio::any_io_executor executor,
                           std::unique_ptr<BatchStore> store, FileLock lock)
    : service_(service),
      executor_(executor),
      lock_(std::move(lock)),
      store_(std::move(store)),
      timer_(executor),
      runner_(BatchRunnerParts{store_.get(), &service.clock, [this] { return engine_has_time(); },
                               [this](BatchRequest request) {
                                 asio::post(executor_,
                                            [this, request = std::move(request)]() mutable {
                                              begin_one(std::move(request));
                                            });
                               },
                               [this](BatchRequestKey key) {
                                 asio::post(executor_, [this, key] {
                                   const auto found = running_.find(key);
                                   if (found != running_.end())
                                     found->second->stop(BatchStop::kUnwanted);
                                 });
                               }},
              service.config.batches.parallel) {}

BatchService::~BatchService() { thread_.join(); }

void BatchService::stop() {
  stopping_ = true;
  timer_.cancel();
  for (const auto& [key, work] : running_) work->stop(BatchStop::kServerEnds);
}

// A failure of the store is in the log; the next change of the keys tries again.
void BatchService::drop_owners(std::vector<TenantId> owners) {
  if (owners.empty()) return;
  thread_.post([this, owners = std::move(owners)] {
    gone_ = owners;
    (void)store_->drop_owners(gone_, service_.clock.wall());
    asio::post(executor_, [this] { poll_soon(); });
  });
}

// Batch thread.
bool BatchService::engine_has_time() const {
  if (service_.admission.closed()) return false;
  const EngineSnapshot snapshot = service_.tier().snapshot();
  return snapshot.queued == 0 && snapshot.running() < service_.config.engine.sequences;
}

void BatchService::poll_soon() {
  if (stopping_) return;
  thread_.post([this] {
    const BatchRunnerState state = runner_.poll();
    // A batch of an erased tenant that was open then has ended: now it can go as well.
    if (!gone_.empty() && state.open < open_before_) {
      (void)store_->drop_owners(gone_, service_.clock.wall());
    }
    open_before_ = state.open;
    asio::post(executor_, [this, state] { poll_later(state); });
  });
}

void BatchService::poll_later(BatchRunnerState state) {
  if (stopping_) return;
  if (state.waits_for_engine) return set_timer(kBusyPoll);
  if (state.store_failed) return set_timer(kFailedPoll);
  if (!state.next_expiry && !state.next_turn) return;
  Duration left = kLongestSleep;
  if (state.next_expiry)
    left = std::min<Duration>(left, *state.next_expiry - service_.clock.wall());
  if (state.next_turn) left = std::min<Duration>(left, *state.next_turn - service_.clock.now());
  set_timer(std::max<Duration>(left, kBusyPoll));
}

void BatchService::set_timer(Duration delay) {
  timer_.expires_after(delay);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) poll_soon();
  });
}

void BatchService::begin_one(BatchRequest request) {
  const BatchRequestKey key = request.key;
  auto work = std::make_shared<BatchWork>(service_, executor_, std::move(request));
  if (stopping_) work->stop(BatchStop::kServerEnds);
  running_.emplace(key, work);
  asio::co_spawn(executor_, run_one(std::move(work)), asio::detached);
}

// Nothing: it threw, as a handler of http may as well (http/session.cc).
Awaitable<std::optional<BatchAnswer>> BatchService::answer_of(BatchWork& work) {
  std::string fault = "not a std::exception";
  try {
    co_return co_await work.run();
  } catch (const std::exception& error) {
    fault = error.what();
  } catch (...) {
  }
  log_error("a request of a batch threw", {{"what", log_text(fault)}});
  co_return std::nullopt;
}

// Whatever happens, the runner is told: for one of which it hears nothing its batch would never
// end, not even by its expiry.
Awaitable<void> BatchService::run_one(std::shared_ptr<BatchWork> work) {
  std::optional<BatchAnswer> answer = co_await answer_of(*work);
  running_.erase(work->key());
  if (!answer) {
    answer.emplace(BatchAnswer{Error{ErrorCode::kInternal, "internal error", "", {}}});
  } else if (!comes_back_after(*work, *answer)) {
    RequestRecord record = work->end(*answer);
    log_record(record);
    service_.history.add(std::move(record));
  }
  thread_.post([this, work, answer = *std::move(answer)] { settle_one(*work, answer); });
  poll_soon();
}

// Batch thread.
void BatchService::settle_one(const BatchWork& work, const BatchAnswer& answer) {
  const BatchRequestKey key = work.key();
  if (const auto wait = comes_back_after(work, answer)) {
    runner_.give_back(key, service_.clock.now() + *wait);
  } else if (answer.message.ok()) {
    runner_.settle({key, BatchOutcome::kSucceeded, answer.message.value()});
  } else if (work.unwanted()) {
    runner_.settle({key, BatchOutcome::kCanceled, {}});
  } else {
    runner_.settle({key, BatchOutcome::kErrored, anthropic_error_body(answer.message.error(), {})});
  }
}

}  // namespace zerohop
