// An answer whose request goes before it has begun it. What runs is tested through the whole server
// (server_joining_test.cc).
#include "app/running_answer.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <stdexcept>

#include "app/service.h"

namespace zerohop {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::hours kForEver{24 * 365};

class AnswerLeading : public testing::Test {
 protected:
  AnswerLeading() {
    service_.tier_metrics =
        std::make_unique<TierMetrics>(service_.registry, clock_, TierFacts{.model = "fake"});
    answer_ = std::make_shared<RunningAnswer>(
        service_, AnswerOwner{service_.live.get(), {}, "", {}}, AnswerKeep::kAll);
  }

  // The request that the answer is made for. Its reader is made last and goes first.
  struct Leader {
    Leader(const std::shared_ptr<RunningAnswer>& answer, const asio::any_io_executor& executor)
        : lead(answer), reader(answer, executor, std::nullopt) {}
    AnswerLead lead;
    AnswerReader reader;
  };

  // A request that has joined, as long as the answer is prepared.
  void join() {
    reader_.emplace(answer_, io_.get_executor(), std::nullopt);
    const auto wait = [this]() -> Awaitable<void> {
      while (answer_->preparing()) co_await reader_->wait(kForEver);
      joiner_goes_on_ = true;
    };
    asio::co_spawn(io_, wait, asio::detached);
    go_on();
  }
  void go_on() {
    io_.restart();
    io_.poll();
  }

  const SteadyClock clock_;
  Service service_{Config{}, clock_};
  asio::io_context io_{1};
  std::shared_ptr<RunningAnswer> answer_;
  std::optional<AnswerReader> reader_;
  bool joiner_goes_on_ = false;
};

TEST_F(AnswerLeading, AnExceptionInTheFirstRequestFailsThoseThatJoined) {
  const auto lead = [this]() -> Awaitable<void> {
    const Leader leader(answer_, io_.get_executor());
    join();
    EXPECT_FALSE(joiner_goes_on_);
    throw std::runtime_error("while it is prepared");
  };
  std::exception_ptr fault;
  asio::co_spawn(io_, lead, [&fault](const std::exception_ptr& thrown) { fault = thrown; });
  go_on();
  EXPECT_TRUE(fault != nullptr);
  EXPECT_TRUE(joiner_goes_on_);
  ASSERT_TRUE(answer_->over());
  ASSERT_NE(answer_->failure(), nullptr);
  EXPECT_EQ(answer_->failure()->code, ErrorCode::kInternal);
  EXPECT_TRUE(reader_->counts()) << "it is in somebody's counts";
}

TEST_F(AnswerLeading, WhoHasFailedTheAnswerItselfHasDoneItsDuty) {
  {
    const Leader leader(answer_, io_.get_executor());
    join();
    answer_->fail(invalid_request("", "wrong"));
  }
  go_on();
  EXPECT_TRUE(joiner_goes_on_);
  EXPECT_EQ(answer_->failure()->code, ErrorCode::kInvalidRequest);
}

TEST_F(AnswerLeading, AServerThatStopsWakesNobody) {
  asio::io_context io{1};
  const auto answer = std::make_shared<RunningAnswer>(
      service_, AnswerOwner{service_.live.get(), {}, "", {}}, AnswerKeep::kAll);
  const auto wait = [&answer, &io](bool leads) -> Awaitable<void> {
    std::optional<AnswerLead> lead;
    if (leads) lead.emplace(answer);
    AnswerReader reader(answer, io.get_executor(), std::nullopt);
    while (answer->preparing()) co_await reader.wait(kForEver);
    ADD_FAILURE() << "goes on";
  };
  asio::co_spawn(io, wait(true), asio::detached);
  asio::co_spawn(io, wait(false), asio::detached);
  io.poll();
  EXPECT_EQ(answer->readers(), 2u);
}  // io goes, and both coroutines with it

}  // namespace
}  // namespace zerohop
