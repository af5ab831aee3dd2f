#include "app/stream_reader.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "base/check.h"

namespace zerohop {

namespace asio = boost::asio;

void IoWaker::wake(std::vector<std::shared_ptr<TokenStream>> streams) {
  mailbox_.post(executor_, [&turns = turns_, streams = std::move(streams)] {
    turns.run([&streams] {
      for (const std::shared_ptr<TokenStream>& stream : streams) stream->notify_readable();
    });
  });
}

StreamReader::StreamReader(const asio::any_io_executor& executor,
                           std::vector<std::shared_ptr<TokenStream>> streams)
    : timer_(executor), open_(streams.size()) {
  ZH_CHECK(!streams.empty());
  choices_.reserve(streams.size());
  for (std::shared_ptr<TokenStream>& stream : streams) {
    Choice& choice = choices_.emplace_back();
    choice.stream = std::move(stream);
    choice.stream->set_on_readable([this] {
      timer_.cancel();
      if (on_events_) on_events_();
    });
  }
}

StreamReader::~StreamReader() {
  for (const Choice& choice : choices_) {
    choice.stream->set_on_readable(nullptr);
    if (!choice.ended) choice.stream->cancel();
  }
}

Awaitable<void> StreamReader::read(Duration silence, std::vector<ChoiceEvent>& events) {
  const std::size_t before = events.size();
  read_now(events);
  if (events.size() > before || ended() || interrupted_) co_return;
  timer_.expires_after(silence);
  // Events can have come since the read above only through notify_readable(), which runs on this
  // thread and therefore not in between.
  co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
  read_now(events);
}

void StreamReader::read_now(std::vector<ChoiceEvent>& events) {
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    Choice& choice = choices_[i];
    if (choice.ended) continue;
    choice.ended = choice.stream->read(scratch_);
    if (choice.ended) --open_;
    for (TimedEvent& timed : scratch_) {
      events.push_back(ChoiceEvent{static_cast<std::uint32_t>(i), std::move(timed.event),
                                   std::move(timed.came_at)});
    }
    scratch_.clear();
  }
}

void StreamReader::set_deadline(std::optional<TimePoint> deadline) {
  for (const Choice& choice : choices_) choice.stream->set_deadline(deadline);
}

void StreamReader::interrupt() {
  interrupted_ = true;
  timer_.cancel();
}

}  // namespace zerohop
