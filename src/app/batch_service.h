// Message batches on the server's own engine: the store, the runner that hands out their requests,
// and the coroutine that computes one.
//
//   batch thread   store and runner (they wait for the disk)
//   workers        body → tokens
//   I/O thread     one coroutine for each running request: events → message
//
//   poll() ─ submit ─▶ I/O: run_one() ─▶ workers ─▶ engine ─▶ events ─▶ result ─▶ settle(), poll()
//
// Requests of batches come last: one is handed to the engine only while nobody waits for a place in
// it and a place is free. They hold no permit of the door, but their key's limits hold for them as
// for any other (batch_work.h).
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/batch_work.h"
#include "app/service.h"
#include "app/worker_pool.h"
#include "base/file_lock.h"
#include "batches/batch_runner.h"
#include "http/awaitable.h"

namespace zerohop {

class BatchService {
 public:
  /// Opens the store in `folder`, which is made if it is not there, and takes it for this process.
  /// `service` and the executor's context outlive the result. Errors: kConfiguration (cannot be
  /// made or opened, or another process has it).
  static Result<std::unique_ptr<BatchService>> open(Service& service,
                                                    boost::asio::any_io_executor executor,
                                                    const std::filesystem::path& folder);
  ~BatchService();
  BatchService(const BatchService&) = delete;
  BatchService& operator=(const BatchService&) = delete;

  /// Goes on with what an earlier process left. I/O thread, or before it runs.
  void start() { poll_soon(); }
  /// Nothing more is submitted, and what runs is given back: the next process computes it. I/O
  /// thread.
  void stop();

  /// For calls of the store, which wait for the disk.
  WorkerPool& thread() { return thread_; }
  BatchStore& store() { return *store_; }
  /// Drops what is kept of tenants that are no more. Any thread, after start().
  void drop_owners(std::vector<TenantId> owners);
  /// To be called after create() and cancel(). I/O thread.
  void poll_soon();

 private:
  BatchService(Service& service, boost::asio::any_io_executor executor,
               std::unique_ptr<BatchStore> store, FileLock lock);

  void poll_later(BatchRunnerState state);
  void set_timer(Duration delay);
  bool engine_has_time() const;
  void begin_one(BatchRequest request);
  Awaitable<void> run_one(std::shared_ptr<BatchWork> work);
  static Awaitable<std::optional<BatchAnswer>> answer_of(BatchWork& work);
  void settle_one(const BatchWork& work, const BatchAnswer& answer);

  Service& service_;
  const boost::asio::any_io_executor executor_;
  const FileLock lock_;
  const std::unique_ptr<BatchStore> store_;

  // I/O thread
  boost::asio::steady_timer timer_;
  std::map<BatchRequestKey, std::shared_ptr<BatchWork>> running_;
  bool stopping_ = false;

  // Batch thread
  BatchRunner runner_;
  std::vector<TenantId> gone_;   // batch thread: erased tenants
  std::size_t open_before_ = 0;  // batch thread: batches, at the last poll
  WorkerPool thread_{1};         // the last member: joined before anything else goes
};

}  // namespace zerohop
