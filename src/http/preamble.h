// What stands in front of the first request of a connection. Internal to http; I/O thread only.
//
//   accept ─▶ header of a balancer ─▶ is this peer welcome? ─▶ TLS handshake ─▶ first request
//              │ if it is spoken here    │ ServerHooks            │ on a TLS listener
//              ▼ malformed, untrusted    ▼ no                     ▼ no TLS: a plain 400
//             400 and close            close                    alert and close
#pragma once

#include <cstdint>
#include <memory>

#include "core/error.h"
#include "http/awaitable.h"
#include "http/connection.h"
#include "http/server_state.h"

namespace zerohop {

struct Preamble {
  enum class Result : std::uint8_t {
    kServe,
    kClose,   ///< without a word
    kLinger,  ///< likewise, but so that an alert that was sent arrives
    kRefuse,  ///< with `fault`, as the answer to a request that was never read
  };
  Result result = Result::kServe;
  Error fault;
  std::shared_ptr<void> ticket;  ///< of ServerHooks::on_connection; held while requests are served
};

/// Reads as far as the first byte of HTTP. Afterwards the connection's peer() is who connected.
Awaitable<Preamble> read_preamble(std::shared_ptr<ServerState> state,
                                  std::shared_ptr<Connection> connection);

}  // namespace zerohop
