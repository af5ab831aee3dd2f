// TlsKeeper: the certificate of a running server, read again when its files change.
//
//   open() ─▶ start() ─▶ every watch_seconds, or at reload_soon(): look, read on a worker ─▶ again
//                                        │ nothing has changed      │ fits: HttpServer::set_tls()
//                                        ▼ and nobody has asked     ▼ does not: the old one stays
//
// Files are compared by their time of change, size and number, so that a file put in another's
// place and a link that was turned around are seen as well. A certificate that was replaced before
// its key does not fit for a moment: that is told once, and the files are tried again when they
// change again. I/O thread, but for the reading.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/worker_pool.h"
#include "core/error.h"
#include "http/tls_context.h"
#include "telemetry/metrics.h"

namespace zerohop {

struct TlsKeeperParts {
  TlsConfig config;
  Metrics* metrics = nullptr;
  WorkerPool* workers = nullptr;  ///< joined before the io_context goes
  /// Gets each context that fits, the first one too.
  std::function<void(std::shared_ptr<const TlsContext>)> use;
};

class TlsKeeper {
 public:
  /// Reads the files and hands the context over. Errors: kConfiguration, naming the file.
  static Result<std::shared_ptr<TlsKeeper>> open(TlsKeeperParts parts,
                                                 const boost::asio::any_io_executor& executor);

  /// Begins to watch.
  static void start(const std::shared_ptr<TlsKeeper>& keeper);
  /// Reads the files now, changed or not.
  void reload_soon();
  void stop();

 private:
  /// What the files looked like; any difference means that they are to be read.
  using Stamp = std::vector<std::string>;
  struct Reading {
    bool read = false;
    Stamp stamp;
    Result<std::shared_ptr<const TlsContext>> context;
  };

  TlsKeeper(TlsKeeperParts parts, const boost::asio::any_io_executor& executor)
      : parts_(std::move(parts)), timer_(executor) {}

  static Stamp stamp_of(const TlsConfig& config);
  static Awaitable<void> watch(std::shared_ptr<TlsKeeper> keeper);
  Reading read(const Stamp& known, bool asked) const;
  void take(Reading reading);

  const TlsKeeperParts parts_;
  boost::asio::steady_timer timer_;
  Stamp stamp_;
  bool asked_ = false;
  bool stopped_ = false;
};

}  // namespace zerohop
