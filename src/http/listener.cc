#include "http/listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <chrono>
#include <exception>
#include <optional>

#include "base/log.h"
#include "http/connection.h"
#include "http/session.h"

namespace zerohop {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using GenericEndpoint = asio::generic::stream_protocol::endpoint;

constexpr auto kAwaitTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds kBackOffFirst{10};
constexpr std::chrono::milliseconds kBackOffMax{1'000};
// With `localhost` and port 0 the port that is free on IPv4 may be taken on IPv6: try another one.
constexpr int kFreePortTries = 8;

Error bind_error(const std::string& what, const error_code& code) {
  if (code == asio::error::address_in_use) {
    return Error{ErrorCode::kAddressInUse, what + " is in use by another process", "", {}};
  }
  return Error{
      ErrorCode::kConfiguration, "cannot listen on " + what + ": " + code.message(), "", {}};
}

bool machine_lacks_address(const error_code& code) {
  return code == asio::error::address_family_not_supported ||
         code == boost::system::errc::address_not_available;
}

// ---- TCP ----

struct BindAttempt {
  std::shared_ptr<Listener> listener;  // null: `code` says why
  error_code code;
};

BindAttempt bind_one(asio::io_context& io, const tcp::endpoint& wanted, Transport transport) {
  BindAttempt attempt;
  Listener::Acceptor acceptor(io);
  const GenericEndpoint address(wanted);
  acceptor.open(address.protocol(), attempt.code);
  if (attempt.code) return attempt;
  acceptor.set_option(asio::socket_base::reuse_address(true), attempt.code);
  if (wanted.address().is_v6() && wanted.address().is_unspecified()) {
    acceptor.set_option(asio::ip::v6_only(false), attempt.code);  // `::` means every address
  }
  acceptor.bind(address, attempt.code);
  if (attempt.code) return attempt;
  acceptor.listen(asio::socket_base::max_listen_connections, attempt.code);
  if (attempt.code) return attempt;

  const GenericEndpoint bound = acceptor.local_endpoint(attempt.code);
  if (attempt.code) return attempt;
  tcp::endpoint actual;
  actual.resize(bound.size());
  std::copy_n(static_cast<const unsigned char*>(static_cast<const void*>(bound.data())),
              bound.size(), static_cast<unsigned char*>(static_cast<void*>(actual.data())));
  Endpoint endpoint;
  endpoint.host = actual.address().to_string();
  endpoint.port = actual.port();
  endpoint.transport = transport;
  attempt.listener = std::make_shared<Listener>(std::move(acceptor), std::move(endpoint));
  return attempt;
}

Result<std::vector<asio::ip::address>> addresses_of(asio::io_context& io, const std::string& host) {
  std::vector<asio::ip::address> addresses;
  if (host == "localhost") {
    addresses.emplace_back(asio::ip::address_v4::loopback());
    addresses.emplace_back(asio::ip::address_v6::loopback());
    return addresses;
  }
  error_code code;
  const asio::ip::address numeric = asio::ip::make_address(host, code);
  if (!code) {
    addresses.push_back(numeric);
    return addresses;
  }
  tcp::resolver resolver(io);
  for (const auto& entry : resolver.resolve(host, "", tcp::resolver::passive, code)) {
    const asio::ip::address address = entry.endpoint().address();
    if (std::find(addresses.begin(), addresses.end(), address) == addresses.end()) {
      addresses.push_back(address);
    }
  }
  if (addresses.empty()) {
    return Error{ErrorCode::kConfiguration, "no address for the host '" + host + "'", "", {}};
  }
  return addresses;
}

Result<std::vector<std::shared_ptr<Listener>>> bind_all(
    asio::io_context& io, const std::vector<asio::ip::address>& addresses, const TcpPlace& place) {
  std::vector<std::shared_ptr<Listener>> listeners;
  std::optional<Error> missing;
  for (const asio::ip::address& address : addresses) {
    const tcp::endpoint wanted(address,
                               listeners.empty() ? place.port : listeners[0]->endpoint.port);
    BindAttempt attempt = bind_one(io, wanted, place.transport);
    if (attempt.listener) {
      listeners.push_back(std::move(attempt.listener));
      continue;
    }
    Endpoint named;
    named.host = address.to_string();
    named.port = wanted.port();
    Error error = bind_error(named.url(), attempt.code);
    if (!machine_lacks_address(attempt.code)) return error;
    missing = std::move(error);
  }
  if (listeners.empty()) return *std::move(missing);
  return listeners;
}

// ---- Unix ----

std::optional<sockaddr_un> unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return std::nullopt;
  std::copy(path.begin(), path.end(), address.sun_path);
  return address;
}

// Whether somebody accepts on the socket file. A full backlog (EAGAIN) counts as somebody.
bool somebody_answers(const sockaddr_un& address) {
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return true;
  const auto* generic = static_cast<const sockaddr*>(static_cast<const void*>(&address));
  const bool refused = ::connect(probe, generic, sizeof address) != 0 && errno == ECONNREFUSED;
  ::close(probe);
  return !refused;
}

// Makes room for a socket file. An error when the place is taken by something alive or unknown.
Result<void> clear_stale_socket(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode)) {
    return Error{ErrorCode::kConfiguration, path + " exists and is not a socket", "", {}};
  }
  if (somebody_answers(address)) {
    return Error{ErrorCode::kAddressInUse, path + " is in use by another process", "", {}};
  }
  ::unlink(path.c_str());
  return {};
}

// ---- Accepting ----

// Not known for a Unix socket.
IpAddress address_of(const GenericEndpoint& peer) {
  const int family = peer.protocol().family();
  if (family != AF_INET && family != AF_INET6) return {};
  tcp::endpoint endpoint;
  endpoint.resize(peer.size());
  std::copy_n(static_cast<const unsigned char*>(static_cast<const void*>(peer.data())), peer.size(),
              static_cast<unsigned char*>(static_cast<void*>(endpoint.data())));
  const asio::ip::address address = endpoint.address();
  return address.is_v4() ? IpAddress::v4(address.to_v4().to_bytes())
                         : IpAddress::v6(address.to_v6().to_bytes());
}

void admit(const std::shared_ptr<ServerState>& state, Connection::Socket socket,
           const GenericEndpoint& peer, Transport transport) {
  error_code ignored;
  if (state->connections.size() >= state->options.connections_max) {
    ++state->counts.connections_refused;
    socket.close(ignored);
    return;
  }
  ++state->counts.connections_accepted;
  const IpAddress address = address_of(peer);
  if (address.known()) socket.set_option(tcp::no_delay(true), ignored);
  const asio::any_io_executor executor = socket.get_executor();
  auto connection = std::make_shared<Connection>(std::move(socket), address, state);
  connection->set_transport(transport);
  auto registration = std::make_unique<Registration>(state, *connection);
  asio::co_spawn(executor, run_session(state, std::move(connection), std::move(registration)),
                 [](const std::exception_ptr& fault) {
                   if (fault) log_error("http session ended by an unknown exception");
                 });
}

}  // namespace

void Listener::close() {
  if (!acceptor.is_open()) return;
  error_code ignored;
  acceptor.close(ignored);
  back_off.cancel();
  struct stat status {};
  if (!endpoint.unix_path.empty() && ::lstat(endpoint.unix_path.c_str(), &status) == 0 &&
      status.st_ino == unix_inode) {
    ::unlink(endpoint.unix_path.c_str());
  }
}

Result<std::vector<std::shared_ptr<Listener>>> bind_tcp(asio::io_context& io,
                                                        const TcpPlace& place) {
  ZH_ASSIGN_OR_RETURN(const std::vector<asio::ip::address> addresses, addresses_of(io, place.host));
  for (int tries_left = kFreePortTries;; --tries_left) {
    auto listeners = bind_all(io, addresses, place);
    const bool another_port_may_do = place.port == 0 && !listeners.ok() && tries_left > 1 &&
                                     listeners.error().code == ErrorCode::kAddressInUse;
    if (!another_port_may_do) return listeners;
  }
}

Result<std::shared_ptr<Listener>> bind_unix(asio::io_context& io, const std::string& path) {
  const std::optional<sockaddr_un> address = unix_address(path);
  if (!address) {
    return Error{ErrorCode::kConfiguration,
                 "a Unix socket path has 1 to " +
                     std::to_string(sizeof(sockaddr_un::sun_path) - 1) + " bytes: '" + path + "'",
                 "",
                 {}};
  }
  ZH_RETURN_IF_ERROR(clear_stale_socket(path, *address));
  error_code code;
  Listener::Acceptor acceptor(io);
  acceptor.open(asio::generic::stream_protocol(AF_UNIX, 0), code);
  if (!code) acceptor.bind(GenericEndpoint(&*address, sizeof *address), code);
  if (code) return bind_error(path, code);
  Endpoint endpoint;
  endpoint.unix_path = path;
  auto listener = std::make_shared<Listener>(std::move(acceptor), std::move(endpoint));
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) listener->unix_inode = status.st_ino;
  // Nobody can connect between bind and listen, so the mode is right before the first client.
  if (::chmod(path.c_str(), 0660) != 0) code.assign(errno, boost::system::system_category());
  if (!code) listener->acceptor.listen(asio::socket_base::max_listen_connections, code);
  if (code) return bind_error(path, code);
  return listener;
}

Awaitable<void> accept_loop(std::shared_ptr<ServerState> state,
                            std::shared_ptr<Listener> listener) {
  std::chrono::milliseconds pause = kBackOffFirst;
  while (listener->acceptor.is_open()) {
    GenericEndpoint peer;
    auto [error, socket] = co_await listener->acceptor.async_accept(peer, kAwaitTuple);
    if (!listener->acceptor.is_open()) break;
    if (!error) {
      pause = kBackOffFirst;
      admit(state, std::move(socket), peer, listener->endpoint.transport);
      continue;
    }
    // A client that gave up in the queue costs nothing; everything else means that we are short of
    // something, and trying again at once would spin.
    if (error == asio::error::connection_aborted) continue;
    ++state->counts.accept_faults;
    log_warning("http accept failed", {{"reason", error.message()}});
    listener->back_off.expires_after(pause);
    pause = std::min(2 * pause, kBackOffMax);
    co_await listener->back_off.async_wait(kAwaitTuple);
  }
  --state->accept_loops;
  state->check_all_ended();
}

}  // namespace zerohop
