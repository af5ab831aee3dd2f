#include "http/server.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <exception>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "http/connection.h"
#include "http/listener.h"
#include "http/server_state.h"

namespace zerohop {

struct HttpServer::Parts {
  boost::asio::io_context& io;
  const std::shared_ptr<ServerState> state;
  std::vector<std::shared_ptr<Listener>> listeners;

  Endpoint start(std::shared_ptr<Listener> listener) {
    Endpoint endpoint = listener->endpoint;
    listeners.push_back(listener);
    ++state->accept_loops;
    boost::asio::co_spawn(io, accept_loop(state, std::move(listener)),
                          [](const std::exception_ptr& fault) {
                            if (fault) log_error("http accept loop ended by an exception");
                          });
    return endpoint;
  }

  // A copy that keeps them alive: ending one changes the list.
  std::vector<std::shared_ptr<Connection>> connections() const {
    std::vector<std::shared_ptr<Connection>> all;
    all.reserve(state->connections.size());
    for (Connection* connection : state->connections) all.push_back(connection->shared_from_this());
    return all;
  }
};

HttpServer::HttpServer(boost::asio::io_context& io, const Clock& clock, ServerOptions options,
                       ServerHooks hooks, Router router)
    : parts_(new Parts{
          io,
          std::make_shared<ServerState>(clock, options, std::move(hooks), std::move(router)),
          {}}) {}

HttpServer::~HttpServer() {
  parts_->state->on_all_ended = nullptr;
  close_all();
}

void HttpServer::set_tls(std::shared_ptr<const TlsContext> context) {
  ZH_CHECK(context != nullptr);
  parts_->state->tls = std::move(context);
}

void HttpServer::set_options(const ServerOptions& options) {
  ServerOptions& own = parts_->state->options;
  own.connections_max = options.connections_max;
  own.body_bytes_max = options.body_bytes_max;
  own.head_timeout = options.head_timeout;
  own.body_timeout = options.body_timeout;
  own.idle_timeout = options.idle_timeout;
  own.write_timeout = options.write_timeout;
}

Result<Endpoint> HttpServer::listen_tcp(const std::string& host, std::uint16_t port) {
  ZH_CHECK(!parts_->state->draining);
  const Transport transport = parts_->state->tls ? Transport::kTls : Transport::kPlain;
  ZH_ASSIGN_OR_RETURN(const std::vector<std::shared_ptr<Listener>> listeners,
                      bind_tcp(parts_->io, TcpPlace{host, port, transport}));
  for (const std::shared_ptr<Listener>& listener : listeners) parts_->start(listener);
  return listeners.front()->endpoint;
}

Result<Endpoint> HttpServer::listen_unix(const std::string& path) {
  ZH_CHECK(!parts_->state->draining);
  ZH_ASSIGN_OR_RETURN(std::shared_ptr<Listener> listener, bind_unix(parts_->io, path));
  return parts_->start(std::move(listener));
}

void HttpServer::stop_accepting() {
  parts_->state->draining = true;
  for (const std::shared_ptr<Listener>& listener : parts_->listeners) listener->close();
  for (const std::shared_ptr<Connection>& connection : parts_->connections()) {
    connection->stop_if_idle();
  }
}

void HttpServer::when_all_ended(std::function<void()> callback) {
  ZH_CHECK(callback != nullptr && parts_->state->on_all_ended == nullptr);
  parts_->state->on_all_ended = std::move(callback);
  boost::asio::post(parts_->io, [state = parts_->state] { state->check_all_ended(); });
}

void HttpServer::close_all() {
  stop_accepting();
  for (const std::shared_ptr<Connection>& connection : parts_->connections()) connection->abort();
}

const ServerOptions& HttpServer::options() const { return parts_->state->options; }

const ServerCounts& HttpServer::counts() const { return parts_->state->counts; }

}  // namespace zerohop
