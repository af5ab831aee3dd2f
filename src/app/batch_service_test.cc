// What goes wrong inside the server while it computes a request of a batch. Batches through the
// whole server: server_batches_test.cc.
#include "app/batch_service.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "app/chat_session.h"
#include "app/test_folder.h"
#include "app/test_tier.h"

namespace zerohop {
namespace {

namespace asio = boost::asio;

// Throws once when it is armed, on the thread that made it.
class FaultyClock final : public Clock {
 public:
  TimePoint now() const override {
    if (std::this_thread::get_id() == home_ && armed_.exchange(false)) {
      throw std::runtime_error("no time");
    }
    return real_.now();
  }
  WallTime wall() const override { return real_.wall(); }
  void arm() { armed_ = true; }
  bool armed() const { return armed_; }

 private:
  const SteadyClock real_;
  const std::thread::id home_ = std::this_thread::get_id();
  mutable std::atomic<bool> armed_{false};
};

BatchCounts counts_of(BatchService& batches, const std::string& id) {
  std::promise<BatchCounts> counts;
  batches.thread().post([&] { counts.set_value(batches.store().get(id).value().counts); });
  return counts.get_future().get();
}

// Otherwise its batch would wait for it for ever, and its expiry for the batch.
TEST(BatchService, ARequestThatThrowsIsAnErrorOfItsOwn) {
  const TestFolder folder;
  FaultyClock clock;
  BlockingWaker waker;
  asio::io_context io{1};
  Service service(Config{}, clock);
  service.loaded_tier = make_fake_tier(EngineConfig{}, clock, waker);
  const auto batches = BatchService::open(service, io.get_executor(), folder.path()).value();
  const NewBatch wanted{"msgbatch_1", {{"a", "{}"}}};
  ASSERT_TRUE(batches->store().create(wanted, clock.wall()).ok());
  clock.arm();
  batches->start();
  const SteadyClock real;
  const TimePoint deadline = real.now() + std::chrono::seconds(30);
  while (counts_of(*batches, "msgbatch_1").processing > 0 && real.now() < deadline) {
    io.run_one_for(std::chrono::milliseconds(5));
  }
  EXPECT_FALSE(clock.armed());
  EXPECT_EQ(counts_of(*batches, "msgbatch_1").errored, 1u);
  batches->stop();
}

}  // namespace
}  // namespace zerohop
