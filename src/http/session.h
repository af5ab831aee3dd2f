// The life of one connection: requests one after the other, until somebody closes. Internal to
// http; I/O thread only.
#pragma once

#include <memory>

#include "http/awaitable.h"
#include "http/connection.h"
#include "http/server_state.h"

namespace zerohop {

/// Keeps a connection in the server's list and count, from accept to the end of its session.
class Registration {
 public:
  Registration(std::shared_ptr<ServerState> state, Connection& connection);
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

 private:
  const std::shared_ptr<ServerState> state_;
  Connection& connection_;
  GaugeGuard open_;
};

/// Serves `connection` to its end and never throws.
Awaitable<void> run_session(std::shared_ptr<ServerState> state,
                            std::shared_ptr<Connection> connection,
                            std::unique_ptr<Registration> registration);

}  // namespace zerohop
