// The workers: a small fixed pool for what must not block the I/O thread (parsing long bodies,
// rendering, tokenising, compiling). Never touches a model context.
#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <optional>
#include <type_traits>
#include <utility>

#include "app/io_mailbox.h"
#include "http/awaitable.h"

namespace zerohop {

using WorkerPool = boost::asio::thread_pool;

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
        asio::post(pool, [&result, &work, &mailbox = IoMailbox::of(executor),
                          handler = std::move(handler), guard = std::move(guard)]() mutable {
          result.emplace(work());
          mailbox.post(guard.get_executor(), std::move(handler));
        });
      },
      asio::use_awaitable);
  co_return std::move(*result);
}

}  // namespace zerohop
