// Hands work from other threads to the I/O thread.
//
//   worker, engine   post(): into the box; whoever finds it empty rings: one write to an eventfd
//   I/O thread       epoll_wait returns, and everything in the box is done at once
//
// asio::post() does the same, but rings while it holds the lock that the thread it wakes takes
// first. So nearly every wake-up made that thread sleep once more, on a futex, and be woken again:
// three system calls on top of two, measured on two cores.
//
// What hears the ring is an operation that stays in Asio's reactor for good, as its signal sets
// have one; the eventfd is never read, because each write is an edge of its own. Asio lets nobody
// else do that, so this stands on its internal interface, which is checked against the versions of
// Boost named in the source file; with any other one it is asio::post().
//
// As with asio::post(), what waits in the box keeps io_context::run() going, and is destroyed with
// the io_context. post() from any thread; one for each io_context, which owns it.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace zerohop {

class IoMailbox final : public boost::asio::execution_context::service {
 public:
  static inline boost::asio::execution_context::id id;

  /// `executor` is an io_context's.
  static IoMailbox& of(const boost::asio::any_io_executor& executor);
  explicit IoMailbox(boost::asio::execution_context& context);
  ~IoMailbox() override;

  /// Calls `work` on the I/O thread, once. `executor`: as of().
  template <class Work>
  void post(const boost::asio::any_io_executor& executor, Work work) {
    put(executor, std::make_unique<Letter<Work>>(executor, std::move(work)));
  }

 private:
  struct Content {
    explicit Content(const boost::asio::any_io_executor& executor) : guard(executor) {}
    virtual ~Content() = default;
    virtual void act() = 0;
    boost::asio::executor_work_guard<boost::asio::any_io_executor> guard;
  };
  template <class Work>
  struct Letter final : Content {
    Letter(const boost::asio::any_io_executor& executor, Work w)
        : Content(executor), work(std::move(w)) {}
    void act() override { std::move(work)(); }
    Work work;
  };
  using Contents = std::vector<std::unique_ptr<Content>>;
  class Bell;

  void shutdown() override;
  void put(const boost::asio::any_io_executor& executor, std::unique_ptr<Content> content);
  void empty_box();

  const std::unique_ptr<Bell> bell_;

  std::mutex mutex_;
  Contents box_;         // guarded by mutex_
  bool closed_ = false;  // guarded by mutex_

  Contents spare_;  // I/O thread; kept for its capacity
};

}  // namespace zerohop
