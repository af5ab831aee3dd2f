#include "app/tls_keeper.h"

#include <sys/stat.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <utility>

#include "app/network_config.h"
#include "base/log.h"

namespace zerohop {
namespace {

namespace asio = boost::asio;

constexpr auto kAwaitTuple = asio::as_tuple(asio::use_awaitable);

std::string look_of(const std::string& path) {
  struct stat status {};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) return "none";
  return std::to_string(status.st_dev) + " " + std::to_string(status.st_ino) + " " +
         std::to_string(status.st_size) + " " + std::to_string(status.st_mtim.tv_sec) + "." +
         std::to_string(status.st_mtim.tv_nsec);
}

}  // namespace

TlsKeeper::Stamp TlsKeeper::stamp_of(const TlsConfig& config) {
  return {look_of(config.certificate), look_of(config.private_key), look_of(config.client_ca)};
}

Result<std::shared_ptr<TlsKeeper>> TlsKeeper::open(TlsKeeperParts parts,
                                                   const asio::any_io_executor& executor) {
  std::shared_ptr<TlsKeeper> keeper(new TlsKeeper(std::move(parts), executor));
  Reading reading = keeper->read({}, true);
  if (!reading.context.ok()) return reading.context.error();
  keeper->take(std::move(reading));
  return keeper;
}

void TlsKeeper::start(const std::shared_ptr<TlsKeeper>& keeper) {
  asio::co_spawn(keeper->timer_.get_executor(), watch(keeper), asio::detached);
}

void TlsKeeper::reload_soon() {
  asked_ = true;
  timer_.cancel();
}

void TlsKeeper::stop() {
  stopped_ = true;
  timer_.cancel();
}

// The stamp is taken first: what changes while the files are read is read again.
TlsKeeper::Reading TlsKeeper::read(const Stamp& known, bool asked) const {
  Reading reading{false, stamp_of(parts_.config), std::shared_ptr<const TlsContext>()};
  if (!asked && reading.stamp == known) return reading;
  reading.read = true;
  reading.context = TlsContext::load(tls_files(parts_.config));
  return reading;
}

void TlsKeeper::take(Reading reading) {
  if (!reading.read) return;
  const bool first = stamp_.empty();
  stamp_ = std::move(reading.stamp);
  if (!reading.context.ok()) {
    parts_.metrics->count_tls_reload(Metrics::TlsReload::kFailed);
    log_error("the old certificate stays", {{"reason", reading.context.error().message}});
    return;
  }
  const std::shared_ptr<const TlsContext> context = *reading.context;
  parts_.metrics->set_certificate_expiry(context->expires_at());
  parts_.use(context);
  if (first) return;
  parts_.metrics->count_tls_reload(Metrics::TlsReload::kTaken);
  log_info("new certificate", {{"file", parts_.config.certificate}});
}

Awaitable<void> TlsKeeper::watch(std::shared_ptr<TlsKeeper> keeper) {
  const std::chrono::seconds pause(keeper->parts_.config.watch_seconds);
  while (!keeper->stopped_) {
    if (!keeper->asked_) {
      if (pause > pause.zero()) {
        keeper->timer_.expires_after(pause);
      } else {
        keeper->timer_.expires_at(asio::steady_timer::time_point::max());
      }
      co_await keeper->timer_.async_wait(kAwaitTuple);
    }
    if (keeper->stopped_) break;
    const bool asked = std::exchange(keeper->asked_, false);
    auto work = [keeper, known = keeper->stamp_, asked] { return keeper->read(known, asked); };
    Reading reading = co_await run_on_worker(*keeper->parts_.workers, std::move(work));
    if (!keeper->stopped_) keeper->take(std::move(reading));
  }
}

}  // namespace zerohop
