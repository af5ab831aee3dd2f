// Awaitable<T>: a coroutine of the I/O thread. The only Asio name in the folder's contracts.
#pragma once

#include <boost/asio/awaitable.hpp>

namespace zerohop {

template <class T>
using Awaitable = boost::asio::awaitable<T>;

}  // namespace zerohop
