#include "app/stream_reader.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <optional>
#include <string>
#include <vector>

namespace zerohop {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::hours kForEver{1};

// Streams that the test writes to, and what a reader got out of them.
class StreamReading : public testing::Test {
 protected:
  explicit StreamReading(std::size_t choices = 3) {
    for (std::size_t i = 0; i < choices; ++i) {
      streams_.push_back(std::make_shared<TokenStream>([] {}));
    }
    reader_.emplace(io_.get_executor(), streams_);
  }

  void say(std::size_t choice, const std::string& text) { streams_[choice]->push(TextDelta{text}); }
  void finish(std::size_t choice) { streams_[choice]->push(Finished{}); }

  // As IoWaker does it.
  void wake(const std::vector<std::size_t>& choices) {
    IoWaker waker(io_.get_executor());
    std::vector<std::shared_ptr<TokenStream>> woken;
    for (const std::size_t choice : choices) woken.push_back(streams_[choice]);
    waker.wake(std::move(woken));
  }

  // Begins a read and runs until nothing more happens by itself.
  void begin_read(Duration silence = kForEver) {
    returned_ = false;
    asio::co_spawn(io_, read(silence), asio::detached);
    go_on();
  }
  void go_on() {
    io_.restart();
    io_.poll();
  }
  // What the finished reads got: the choice and the text, "$" for the end.
  std::string got() {
    std::string text;
    for (const ChoiceEvent& entry : events_) {
      text += std::to_string(entry.choice);
      const auto* delta = std::get_if<TextDelta>(&entry.event);
      text += delta != nullptr ? delta->text : "$";
    }
    events_.clear();
    return text;
  }

  asio::io_context io_;
  std::vector<std::shared_ptr<TokenStream>> streams_;
  std::optional<StreamReader> reader_;
  bool returned_ = false;

 private:
  Awaitable<void> read(Duration silence) {
    co_await reader_->read(silence, events_);
    returned_ = true;
  }

  std::vector<ChoiceEvent> events_;
};

TEST_F(StreamReading, TakesWhatIsThereInTheOrderOfTheChoices) {
  say(2, "c");
  say(0, "a");
  begin_read();
  EXPECT_TRUE(returned_);
  EXPECT_EQ(got(), "0a2c");
}

TEST_F(StreamReading, WaitsUntilSomeStreamHasEvents) {
  begin_read();
  EXPECT_FALSE(returned_);
  say(1, "b");
  go_on();
  EXPECT_FALSE(returned_) << "nobody has woken it";
  wake({1});
  go_on();
  EXPECT_TRUE(returned_);
  EXPECT_EQ(got(), "1b");
}

TEST_F(StreamReading, KeepsTheOrderWithinEachChoice) {
  std::string all;
  for (const char* text : {"x", "y", "z"}) {
    say(0, text);
    say(1, text);
    wake({0, 1});
    go_on();
    begin_read();
    EXPECT_TRUE(returned_);
    all += got();
  }
  EXPECT_EQ(all, "0x1x0y1y0z1z");
}

TEST_F(StreamReading, ReadsOneWakeUpForSeveralStreamsInOneGo) {
  begin_read();
  say(0, "a");
  say(1, "b");
  finish(2);
  wake({0, 1, 2});
  go_on();
  EXPECT_TRUE(returned_);
  EXPECT_EQ(got(), "0a1b2$");
}

TEST_F(StreamReading, HasEndedWhenTheLastStreamHas) {
  finish(1);
  finish(0);
  begin_read();
  EXPECT_EQ(got(), "0$1$");
  EXPECT_FALSE(reader_->ended());
  begin_read();
  EXPECT_FALSE(returned_);
  finish(2);
  wake({2});
  go_on();
  EXPECT_EQ(got(), "2$");
  EXPECT_TRUE(reader_->ended());
  begin_read();
  EXPECT_TRUE(returned_) << "there is nothing left to wait for";
}

TEST_F(StreamReading, ReturnsWithoutEventsAfterSilence) {
  asio::co_spawn(
      io_,
      [this]() -> Awaitable<void> {
        std::vector<ChoiceEvent> events;
        co_await reader_->read(Duration(1), events);
        returned_ = events.empty();
      },
      asio::detached);
  io_.run();
  EXPECT_TRUE(returned_);
  EXPECT_FALSE(reader_->ended());
  say(0, "still here");
  wake({0});
  go_on();
  begin_read();
  EXPECT_EQ(got(), "0still here");
}

TEST_F(StreamReading, AnInterruptionEndsTheWaitAndAllLaterOnes) {
  begin_read();
  EXPECT_FALSE(returned_);
  reader_->interrupt();
  go_on();
  EXPECT_TRUE(returned_);
  EXPECT_EQ(got(), "");
  begin_read();
  EXPECT_TRUE(returned_);
  EXPECT_FALSE(reader_->ended());
}

TEST_F(StreamReading, AWakeUpWithoutEventsIsSilence) {
  begin_read();
  wake({0});
  go_on();
  EXPECT_TRUE(returned_);
  EXPECT_EQ(got(), "");
}

TEST_F(StreamReading, CancelsWhatHasNotEndedWhenItGoes) {
  finish(1);
  say(2, "unread");
  begin_read();
  reader_.reset();
  EXPECT_TRUE(streams_[0]->cancelled());
  EXPECT_FALSE(streams_[1]->cancelled());
  EXPECT_TRUE(streams_[2]->cancelled());
}

TEST_F(StreamReading, CancelsAnEndThatNobodyRead) {
  finish(1);
  reader_.reset();
  for (const auto& stream : streams_) EXPECT_TRUE(stream->cancelled());
}

TEST_F(StreamReading, AWakeUpThatArrivesAfterItHasGoneFindsNobody) {
  say(0, "late");
  wake({0, 1, 2});
  reader_.reset();
  go_on();
  EXPECT_TRUE(streams_[0]->cancelled());
}

}  // namespace
}  // namespace zerohop
