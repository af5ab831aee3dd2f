#include "app/batch_service.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <system_error>
#include <utility>

#include "api/error_body.h"
#include "app/generation_call.h"
#include "app/messages_call.h"
#include "app/request_tenant.h"
#include "base/log.h"

namespace zerohop {

namespace asio = boost::asio;

namespace {

// While interactive requests wait, and after a failure of the store.
constexpr std::chrono::milliseconds kBusyPoll{50};
constexpr std::chrono::seconds kFailedPoll{2};
constexpr std::chrono::hours kLongestSleep{1};
constexpr std::chrono::hours kForEver{24 * 365};

Error no_folder(const std::filesystem::path& folder, const std::string& reason) {
  return Error{
      ErrorCode::kConfiguration, "batches.folder: '" + folder.string() + "' " + reason, "", {}};
}

// What is no fault of the request is no result either: it is computed again. So is what the end of
// this process cuts off.
bool may_pass(ErrorCode code) {
  return code == ErrorCode::kOverloaded || code == ErrorCode::kShed ||
         code == ErrorCode::kShuttingDown || code == ErrorCode::kCancelled;
}

// Two processes must not compute the same requests.
Result<FileLock> take_lock(const std::filesystem::path& folder) {
  FileLock lock;
  if (const std::error_code fault = lock.open(folder / "batches.lock", 0600)) {
    return no_folder(folder, "cannot be written: " + fault.message());
  }
  if (lock.try_lock()) return no_folder(folder, "is in use by another process");
  return lock;
}

void make_batch_request(const RequestTenant& tenant, EngineRequest& request) {
  request.scheduling.priority = PriorityClass::kBatch;
  request.scheduling.tenant = tenant.tenant;
  request.scheduling.tenant_weight = tenant.weight;
  request.cache.scope = tenant.scope;
}

}  // namespace

Result<std::unique_ptr<BatchService>> BatchService::open(Service& service,
                                                         asio::any_io_executor executor,
                                                         const std::filesystem::path& folder) {
  std::error_code fault;
  std::filesystem::create_directories(folder, fault);
  if (fault) return no_folder(folder, "cannot be made: " + fault.message());
  ZH_ASSIGN_OR_RETURN(FileLock lock, take_lock(folder));
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
      runner_(BatchRunnerParts{
                  store_.get(), &service.clock, [this] { return engine_has_time(); },
                  [this](BatchRequest request) {
                    asio::post(executor_, [this, request = std::move(request)]() mutable {
                      asio::co_spawn(executor_, run_one(std::move(request)), asio::detached);
                    });
                  },
                  [this](BatchRequestKey key) {
                    asio::post(executor_, [this, key] { stop_one(key); });
                  }},
              service.config.batches.parallel) {}

BatchService::~BatchService() { thread_.join(); }

void BatchService::stop() {
  stopping_ = true;
  timer_.cancel();
  for (const auto& [key, running] : running_) {
    if (running.reader != nullptr) running.reader->interrupt();
  }
}

void BatchService::stop_one(BatchRequestKey key) {
  const auto found = running_.find(key);
  if (found == running_.end()) return;
  found->second.unwanted = true;
  if (found->second.reader != nullptr) found->second.reader->interrupt();
}

// A failure of the store is in the log; the next change of the keys tries again.
void BatchService::drop_owners(std::vector<TenantId> owners) {
  if (owners.empty()) return;
  asio::post(thread_, [this, owners = std::move(owners)] {
    (void)store_->drop_owners(owners, service_.clock.wall());
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
  asio::post(thread_, [this] {
    const BatchRunnerState state = runner_.poll();
    asio::post(executor_, [this, state] { poll_later(state); });
  });
}

void BatchService::poll_later(BatchRunnerState state) {
  if (stopping_) return;
  if (state.waits_for_engine) return set_timer(kBusyPoll);
  if (state.store_failed) return set_timer(kFailedPoll);
  if (!state.next_expiry) return;
  const Duration left = *state.next_expiry - service_.clock.wall();
  set_timer(std::clamp<Duration>(left, kBusyPoll, kLongestSleep));
}

void BatchService::set_timer(Duration delay) {
  timer_.expires_after(delay);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) poll_soon();
  });
}

Awaitable<void> BatchService::run_one(BatchRequest request) {
  const BatchRequestKey key = request.key;
  Running& running = running_[key];  // a map's elements stay where they are
  Result<std::string> message = co_await message_of(running, std::move(request));
  const bool unwanted = running.unwanted;
  running_.erase(key);
  asio::post(thread_, [this, key, unwanted, message = std::move(message)] {
    if (message.ok()) {
      runner_.settle({key, BatchOutcome::kSucceeded, message.value()});
    } else if (unwanted) {
      runner_.settle({key, BatchOutcome::kCanceled, {}});
    } else if (may_pass(message.error().code)) {
      runner_.give_back(key);
    } else {
      runner_.settle({key, BatchOutcome::kErrored, anthropic_error_body(message.error(), {})});
    }
  });
  poll_soon();
}

Awaitable<Result<std::string>> BatchService::message_of(Running& running, BatchRequest request) {
  const std::shared_ptr<const KeyRing> ring = service_.keys.ring().get();
  const TenantRecord* owner = &open_tenant();
  if (request.owner != TenantId{} && service_.keys.asks_for_keys()) {
    owner = ring->find_tenant(request.owner);
  }
  if (owner == nullptr) {
    co_return Error{ErrorCode::kPermission, "the tenant of this batch is no more", "", {}};
  }
  MessagesHead head;
  head.profile = &service_.wire_profiles.find("");
  head.service_tier = "batch";
  head.relaxed_note = RelaxedNote::kMessage;
  const std::unique_ptr<DialectCall> call = make_messages_call(service_, std::move(head));
  UnreadCall unread{call.get(), owner, std::move(request.params)};
  Result<PreparedCall> prepared = co_await prepare_call(service_, std::move(unread));
  if (!prepared.ok()) co_return prepared.error();
  if (!wanted(running)) co_return Error{ErrorCode::kCancelled, "", "", {}};
  make_batch_request(batch_tenant(service_.config, *owner), prepared->choices.front().request);
  auto stream = service_.tier().submit(std::move(prepared->choices.front()));
  if (!stream.ok()) co_return stream.error();
  std::vector<std::shared_ptr<TokenStream>> streams;
  streams.push_back(std::move(stream).value());
  StreamReader reader(executor_, std::move(streams));
  running.reader = &reader;
  std::vector<ChoiceEvent> events;
  while (!prepared->whole->complete() && wanted(running)) {
    co_await reader.read(kForEver, events);
    for (const ChoiceEvent& entry : events) prepared->whole->add(entry.choice, entry.event);
    events.clear();
  }
  running.reader = nullptr;
  if (!prepared->whole->complete()) co_return Error{ErrorCode::kCancelled, "", "", {}};
  if (const Error* failure = prepared->whole->failure()) co_return *failure;
  co_return prepared->whole->body();
}

}  // namespace zerohop
