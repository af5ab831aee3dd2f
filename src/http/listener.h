// Listening sockets and the accept loop. Internal to http; I/O thread only (bind_* may also run
// before the I/O thread starts).
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "http/awaitable.h"
#include "http/endpoint.h"
#include "http/server_state.h"

namespace zerohop {

/// One listening socket. Closing it ends its accept loop; a Unix socket is then removed from the
/// file system, unless somebody has put another one in its place.
class Listener {
 public:
  using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol>;

  Listener(Acceptor acceptor_in, Endpoint endpoint_in)
      : acceptor(std::move(acceptor_in)),
        endpoint(std::move(endpoint_in)),
        back_off(acceptor.get_executor()) {}
  ~Listener() { close(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void close();

  Acceptor acceptor;
  const Endpoint endpoint;
  boost::asio::steady_timer back_off;  // between accepts while descriptors are short
  std::uint64_t unix_inode = 0;        // of the socket file that we made
};

/// All sockets of a host, on one port: both of `localhost`, one of an address, all of a name.
/// Addresses that the machine does not have (IPv6 switched off) are left out while one remains.
struct TcpPlace {
  std::string host;
  std::uint16_t port = 0;
  Transport transport = Transport::kPlain;
};
Result<std::vector<std::shared_ptr<Listener>>> bind_tcp(boost::asio::io_context& io,
                                                        const TcpPlace& place);

/// A Unix socket of mode 0660. A socket file that nobody answers on is replaced.
Result<std::shared_ptr<Listener>> bind_unix(boost::asio::io_context& io, const std::string& path);

/// Accepts until the listener is closed. Over connections_max a connection is closed at once; when
/// the process is out of descriptors or memory the loop waits, 10 ms at first, at most 1 s.
Awaitable<void> accept_loop(std::shared_ptr<ServerState> state, std::shared_ptr<Listener> listener);

}  // namespace zerohop
