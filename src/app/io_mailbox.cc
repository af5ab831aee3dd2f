#include "app/io_mailbox.h"

#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/version.hpp>

#include "base/check.h"

// Debian 12 has 1.81, Ubuntu 24.04 has 1.83.
#if defined(BOOST_ASIO_HAS_EPOLL) && !defined(BOOST_ASIO_HAS_IO_URING_AS_DEFAULT) && \
    (BOOST_VERSION / 100 == 1081 || BOOST_VERSION / 100 == 1083)
#define ZEROHOP_HAS_BELL 1
#include <sys/eventfd.h>
#include <unistd.h>

#include <boost/asio/detail/reactor.hpp>
#include <boost/asio/detail/reactor_op.hpp>
#include <cerrno>
#endif

namespace zerohop {

namespace asio = boost::asio;

IoMailbox& IoMailbox::of(const asio::any_io_executor& executor) {
  return asio::use_service<IoMailbox>(
      asio::query(executor, asio::execution::context_as<asio::execution_context&>));
}

#ifdef ZEROHOP_HAS_BELL

// An eventfd in Asio's reactor.
class IoMailbox::Bell {
 public:
  Bell(asio::execution_context& context, IoMailbox& box)
      : reactor_(asio::use_service<asio::detail::reactor>(context)),
        descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    ZH_CHECK(descriptor_ >= 0);
    reactor_.init_task();
    const int fault = reactor_.register_internal_descriptor(asio::detail::reactor::read_op,
                                                            descriptor_, place_, new Listener(box));
    ZH_CHECK(fault == 0);
  }
  ~Bell() {
    hang_up();
    ::close(descriptor_);
  }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  void ring(const asio::any_io_executor&) const {
    const std::uint64_t one = 1;
    while (::write(descriptor_, &one, sizeof one) < 0) ZH_CHECK(errno == EINTR);
  }

  // While the reactor is still there.
  void hang_up() {
    reactor_.deregister_internal_descriptor(descriptor_, place_);
    reactor_.cleanup_descriptor_data(place_);
  }

 private:
  // Never done, so it is called at each edge until it is deregistered.
  struct Listener final : asio::detail::reactor_op {
    explicit Listener(IoMailbox& b) : reactor_op({}, &perform, &destroy), box(b) {}
    static status perform(reactor_op* base) {
      static_cast<Listener*>(base)->box.empty_box();
      return not_done;
    }
    static void destroy(void*, asio::detail::operation* base, const boost::system::error_code&,
                        std::size_t) {
      delete static_cast<Listener*>(base);
    }
    IoMailbox& box;
  };

  asio::detail::reactor& reactor_;
  const int descriptor_;
  asio::detail::reactor::per_descriptor_data place_{};
};

#else

class IoMailbox::Bell {
 public:
  Bell(asio::execution_context&, IoMailbox& box) : box_(box) {}

  void ring(const asio::any_io_executor& executor) const {
    asio::post(executor, [&box = box_] { box.empty_box(); });
  }
  void hang_up() {}

 private:
  IoMailbox& box_;
};

#endif

IoMailbox::IoMailbox(asio::execution_context& context)
    : asio::execution_context::service(context), bell_(std::make_unique<Bell>(context, *this)) {}

IoMailbox::~IoMailbox() = default;

// Rings without the lock. Who takes the letter before it rings finds an empty box afterwards.
void IoMailbox::put(const asio::any_io_executor& executor, std::unique_ptr<Content> content) {
  bool first = false;
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) return;
    first = box_.empty();
    box_.push_back(std::move(content));
  }
  if (first) bell_->ring(executor);
}

void IoMailbox::empty_box() {
  Contents taken = std::move(spare_);
  {
    const std::scoped_lock lock(mutex_);
    taken.swap(box_);
  }
  for (std::unique_ptr<Content>& content : taken) {
    content->act();
    content.reset();
  }
  taken.clear();
  spare_ = std::move(taken);
}

void IoMailbox::shutdown() {
  bell_->hang_up();
  Contents lost;  // goes without the lock
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  lost.swap(box_);
}

}  // namespace zerohop
