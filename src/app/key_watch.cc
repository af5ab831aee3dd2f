#include "app/key_watch.h"

#include <sys/stat.h>

#include <boost/asio/post.hpp>
#include <cerrno>
#include <system_error>

#include "app/config_error.h"
#include "app/config_load.h"
#include "app/kept_files.h"
#include "base/log.h"

namespace zerohop {

namespace asio = boost::asio;

namespace {

using FileId = std::pair<std::uint64_t, std::uint64_t>;

// Nothing where there is no file. One that may not be seen is no reason to ask for no keys.
Result<std::optional<FileId>> identity_of(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) == 0) return std::optional<FileId>({file.st_dev, file.st_ino});
  if (errno == ENOENT || errno == ENOTDIR) return std::optional<FileId>();
  const std::string reason = std::error_code(errno, std::generic_category()).message();
  return configuration_error("store \"" + path + "\" cannot be looked at: " + reason);
}

}  // namespace

KeyWatch::KeyWatch(KeyWatchParts parts, asio::any_io_executor executor)
    : parts_(std::move(parts)), timer_(std::move(executor)) {}

KeyWatch::~KeyWatch() {
  stop();
  thread_.join();
}

Result<std::unique_ptr<KeyWatch>> KeyWatch::open(KeyWatchParts parts,
                                                 asio::any_io_executor executor) {
  std::unique_ptr<KeyWatch> watch(new KeyWatch(std::move(parts), std::move(executor)));
  ZH_RETURN_IF_ERROR(watch->refresh(Look::kAlways));
  return watch;
}

// ---- I/O thread ----

void KeyWatch::start() { set_timer(); }

void KeyWatch::stop() {
  stopped_ = true;
  timer_.cancel();
}

// The next look begins a second after the last one has ended, so they never pile up.
void KeyWatch::set_timer() {
  if (stopped_) return;
  timer_.expires_after(kLookEvery);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    thread_.post([this, home = timer_.get_executor()] {
      (void)look(Look::kWhenChanged);
      asio::post(home, [this] { set_timer(); });
    });
  });
}

void KeyWatch::reload_soon() {
  thread_.post([this] { (void)look(Look::kAlways); });
}

Awaitable<Result<std::string>> KeyWatch::with_store(Work work) {
  auto all = [this, work = std::move(work)] { return do_with_store(work); };
  Result<std::string> done = co_await run_on_worker(thread_, std::move(all));
  if (!done.ok()) co_return done;
  // Behind what others have asked for meanwhile, so that one reading is for all of them.
  auto read = [this] { return take_changes(); };
  // What is done is done, and a key is shown only once: where it cannot be read back now, the next
  // look does it, and the log says why.
  const Result<void> taken = co_await run_on_worker(thread_, std::move(read));
  static_cast<void>(taken);
  co_return done;
}

// ---- The watch's thread ----

Result<std::string> KeyWatch::do_with_store(const Work& work) {
  if (store_ == nullptr && !file_) {
    ZH_ASSIGN_OR_RETURN(store_, KeyStore::open(parts_.path));
    ZH_ASSIGN_OR_RETURN(file_, identity_of(parts_.path));
  }
  ZH_RETURN_IF_ERROR(look(Look::kWhenChanged));
  const std::int64_t before = store_->own_changes();
  Result<std::string> done = work(*store_);
  // This connection's own changes have no version.
  changed_ |= store_->own_changes() != before;
  return done;
}

Result<void> KeyWatch::take_changes() {
  if (!changed_) return {};
  ZH_RETURN_IF_ERROR(look(Look::kAlways));
  changed_ = false;
  return {};
}

Result<void> KeyWatch::look(Look how) {
  Result<void> done = refresh(how);
  if (!done.ok()) {
    store_.reset();  // opened anew by the next look
    complain(done.error().message);
  } else {
    complaint_.clear();
  }
  return done;
}

void KeyWatch::complain(const std::string& reason) {
  if (reason == complaint_) return;
  complaint_ = reason;
  parts_.metrics->count_key_reload("failed");
  log_error("the key store cannot be read; the keys that are known stay in force",
            {{"reason", reason}});
}

Result<void> KeyWatch::refresh(Look how) {
  ZH_ASSIGN_OR_RETURN(const std::optional<FileId> file, identity_of(parts_.path));
  if (!file) {
    // None yet is no fault.
    if (!file_) return {};
    return configuration_error("store \"" + parts_.path + "\" is gone");
  }
  bool changed = how == Look::kAlways;
  if (store_ == nullptr || file != file_) {
    store_.reset();
    ZH_ASSIGN_OR_RETURN(store_, KeyStore::open(parts_.path, OpenRule::kMustExist));
    file_ = file;
    changed = true;
  }
  // Asked first: what changes while everything is read is found by the next look.
  ZH_ASSIGN_OR_RETURN(const std::int64_t version, store_->data_version());
  if (!changed && version == version_) return {};
  ZH_RETURN_IF_ERROR(read_all());
  version_ = version;
  return {};
}

Result<void> KeyWatch::read_all() {
  ZH_ASSIGN_OR_RETURN(KeyStoreContents contents, store_->read());
  KeyRingSlot& slot = parts_.gate->ring();
  if (slot.get()->had_keys() && !contents.had_keys) {
    return configuration_error("store \"" + parts_.path + "\" has lost its keys");
  }
  const auto ring = std::make_shared<const KeyRing>(std::move(contents));
  slot.set(ring);
  parts_.metrics->count_key_reload("done");
  parts_.metrics->keys.set(static_cast<double>(ring->size()));
  log_info("keys read", {{"keys", std::to_string(ring->size())},
                         {"tenants", std::to_string(ring->tenants().size())}});
  if (parts_.on_change) parts_.on_change(*ring);
  return {};
}

// ---- Start ----

Result<void> check_keys_for_address(const Config& config, const KeyRing& ring) {
  if (asks_for_keys(config.auth, ring) || !serves_public_address(config.server)) return {};
  return configuration_error(
      "'" + config.server.host +
      "' is a public address and would be served without API keys; make one with "
      "`zerohop keys create`, or listen on 127.0.0.1, ::1 or a Unix socket "
      "(--unix-socket PATH)");
}

Result<std::string> key_store_path(const AuthConfig& config) {
  ZH_ASSIGN_OR_RETURN(const std::filesystem::path path, state_path(config.store, "keys.sqlite"));
  return path.string();
}

}  // namespace zerohop
