#include "app/stream_reader.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace zerohop {

namespace asio = boost::asio;

void IoWaker::wake(std::vector<std::shared_ptr<TokenStream>> streams) {
  asio::post(executor_, [streams = std::move(streams)] {
    for (const std::shared_ptr<TokenStream>& stream : streams) stream->notify_readable();
  });
}

StreamReader::StreamReader(const asio::any_io_executor& executor,
                           std::shared_ptr<TokenStream> stream)
    : timer_(executor), stream_(std::move(stream)) {
  stream_->set_on_readable([this] {
    readable_ = true;
    timer_.cancel();
  });
}

StreamReader::~StreamReader() {
  stream_->set_on_readable(nullptr);
  if (!ended_) stream_->cancel();
}

Awaitable<void> StreamReader::read(Duration silence, std::vector<Event>& events) {
  const std::size_t before = events.size();
  readable_ = false;
  ended_ = stream_->read(events);
  if (events.size() > before || ended_ || interrupted_) co_return;
  timer_.expires_after(silence);
  // Events can have come since the read above only through notify_readable(), which runs on this
  // thread and therefore not in between.
  co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
  if (readable_) ended_ = stream_->read(events);
}

void StreamReader::interrupt() {
  interrupted_ = true;
  timer_.cancel();
}

}  // namespace zerohop
