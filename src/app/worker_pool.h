// A small fixed pool of threads for what must not block the I/O thread (parsing long bodies,
// rendering, tokenising, compiling). Never touches a model context.
//
// Work goes to whoever slept last; a thread without any sleeps (base/sleeper.h), so that a piece of
// work costs one wake-up and no more. (asio::thread_pool takes a third system call for it.)
//
// post() from any thread; join() and the destructor from the owner.
#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/io_mailbox.h"
#include "base/sleeper.h"
#include "http/awaitable.h"

namespace zerohop {

class WorkerPool {
 public:
  explicit WorkerPool(std::size_t threads);
  /// Waits for what runs. What still waits is destroyed without having run.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Calls `work` on one of the threads, in the order of the posts as far as these begin one behind
  /// the other. It must not throw.
  template <class Work>
  void post(Work work) {
    put(std::make_unique<JobOf<Work>>(std::move(work)));
  }

  /// Does all that was posted and ends the threads. What is posted afterwards never runs.
  void join();

 private:
  struct Job {
    virtual ~Job() = default;
    virtual void run() = 0;
  };
  template <class Work>
  struct JobOf final : Job {
    explicit JobOf(Work w) : work(std::move(w)) {}
    void run() override { std::move(work)(); }
    Work work;
  };
  struct Worker {
    Sleeper sleeper;  // its state is guarded by mutex_
    std::thread thread;
  };
  using Jobs = std::deque<std::unique_ptr<Job>>;

  void put(std::unique_ptr<Job> job);
  void run(Worker& worker);
  void wait(Worker& worker, std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  Jobs jobs_;                    // guarded by mutex_
  std::vector<Worker*> idle_;    // guarded by mutex_; who slept last is the last
  bool ending_ = false;          // guarded by mutex_
  std::vector<Worker> workers_;  // constant between construction and join()
};

/// Runs `work` on a worker and resumes the caller on its own executor with the result. `work` must
/// not throw. It is moved into the caller's coroutine frame, which stays alive until the work is
/// done: join the pool before the caller's io_context is destroyed.
template <class Work>
Awaitable<std::invoke_result_t<Work>> run_on_worker(WorkerPool& pool, Work work) {
  namespace asio = boost::asio;
  std::optional<std::invoke_result_t<Work>> result;
  co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(
      [&](auto handler) {
        auto executor = asio::get_associated_executor(handler);
        auto guard = asio::make_work_guard(executor);
        pool.post([&result, &work, &mailbox = IoMailbox::of(executor), handler = std::move(handler),
                   guard = std::move(guard)]() mutable {
          result.emplace(work());
          mailbox.post(guard.get_executor(), std::move(handler));
        });
      },
      asio::use_awaitable);
  co_return std::move(*result);
}

}  // namespace zerohop
