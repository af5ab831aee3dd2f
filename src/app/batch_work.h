// One request of a message batch while it is computed, under the limits of the key that made the
// batch: as an interactive request of that key, but for the price and for how it is refused.
//
//   run(): key ─▶ limits ─▶ workers: params → tokens ─▶ limits ─▶ engine ─▶ message ─▶ settled
//             │        └── a rate, requests at once: try again after that time ──┤
//             └── revoked, a budget that is used up, a cap: an error ────────────┘
//
// What was computed for a request that its owner cancelled is billed, as it is where a client hangs
// up; what the end of the process cuts off is not, because the next process computes it again.
//
// I/O thread. Kept alive by whoever runs it.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <optional>
#include <string>

#include "admission/caller.h"
#include "admission/limiter.h"
#include "app/dialect_call.h"
#include "app/request_context.h"
#include "app/request_log.h"
#include "app/service.h"
#include "app/stream_reader.h"
#include "batches/batch_store.h"
#include "core/usage.h"
#include "http/awaitable.h"

namespace zerohop {

/// Why a request is to stop.
enum class BatchStop : std::uint8_t {
  kUnwanted,    ///< cancelled or expired
  kServerEnds,  ///< to be computed by the next process
};

struct BatchAnswer {
  Result<std::string> message;
  /// The limits do not admit it yet: `message` is their refusal, and after this time they may.
  std::optional<Duration> wait = {};
};

class BatchWork {
 public:
  /// What the references mean outlives it.
  BatchWork(Service& service, boost::asio::any_io_executor executor, BatchRequest request)
      : service_(service), executor_(std::move(executor)), request_(std::move(request)) {}
  BatchWork(const BatchWork&) = delete;
  BatchWork& operator=(const BatchWork&) = delete;

  /// Once. Errors of the message: those of an interactive request; kCancelled after stop().
  Awaitable<BatchAnswer> run();

  /// run() returns soon. The first reason counts.
  void stop(BatchStop reason);
  bool unwanted() const { return stop_ == BatchStop::kUnwanted; }
  BatchRequestKey key() const { return request_.key; }

  /// What the log and the history tell of it. Once, after run(), where `answer` is its result.
  RequestRecord end(const BatchAnswer& answer);

 private:
  void begin();
  void advance(RequestState state) { context_->life.advance(state, service_.clock.now()); }
  Result<void> find_caller();
  BatchAnswer refused(const LimitRefusal& refusal);
  Awaitable<Result<PreparedCall>> prepare();
  Awaitable<BatchAnswer> compute(PreparedCall& call);
  Awaitable<void> read_events(StreamReader& reader, PreparedCall& call);
  void note(const ChoiceEvent& entry);
  void bill(std::uint64_t output_tokens);

  Service& service_;
  const boost::asio::any_io_executor executor_;
  BatchRequest request_;
  std::shared_ptr<RequestContext> context_;  // as of run()
  Reservation limit_;
  std::unique_ptr<DialectCall> call_;
  std::optional<Usage> usage_;      // as far as it is known; nothing: not started
  StreamReader* reader_ = nullptr;  // while the engine has it
  std::optional<BatchStop> stop_;
};

}  // namespace zerohop
