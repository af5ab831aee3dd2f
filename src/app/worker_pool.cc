#include "app/worker_pool.h"

namespace zerohop {

WorkerPool::WorkerPool(std::size_t threads) : workers_(threads) {
  idle_.reserve(threads);
  for (Worker& worker : workers_) {
    worker.thread = std::thread([this, &worker] { run(worker); });
  }
}

WorkerPool::~WorkerPool() {
  {
    Jobs lost;  // go without the lock
    const std::scoped_lock lock(mutex_);
    lost.swap(jobs_);
  }
  join();
}

void WorkerPool::join() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
    for (Worker* worker : idle_) {
      if (worker->sleeper.rouse()) worker->sleeper.wake();
    }
    idle_.clear();
  }
  for (Worker& worker : workers_) {
    if (worker.thread.joinable()) worker.thread.join();
  }
}

void WorkerPool::put(std::unique_ptr<Job> job) {
  Worker* idler = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    jobs_.push_back(std::move(job));
    if (!idle_.empty()) {
      idler = idle_.back();
      idle_.pop_back();
      if (!idler->sleeper.rouse()) idler = nullptr;
    }
  }
  if (idler != nullptr) idler->sleeper.wake();
}

void WorkerPool::run(Worker& worker) {
  std::unique_lock lock(mutex_);
  while (true) {
    while (jobs_.empty() && !ending_) wait(worker, lock);
    if (jobs_.empty()) return;
    std::unique_ptr<Job> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job->run();
    job.reset();
    lock.lock();
  }
}

// Woken for no reason it still stands among the idle ones.
void WorkerPool::wait(Worker& worker, std::unique_lock<std::mutex>& lock) {
  idle_.push_back(&worker);
  worker.sleeper.fall_asleep();
  lock.unlock();
  worker.sleeper.await_wake(std::nullopt);
  lock.lock();
  if (!worker.sleeper.rouse()) return;
  std::erase(idle_, &worker);
}

}  // namespace zerohop
