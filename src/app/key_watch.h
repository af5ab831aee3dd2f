// Keeps the ring of keys (key_gate.h) as the key store has it.
//
// Once a second, and at once on reload_soon(), a thread of its own asks the store for its
// data_version(), which costs microseconds; where that, or the file itself, is another than before,
// everything is read and the ring is swapped. So a key that was made or revoked by `zerohop keys`
// counts within kNoticedWithin. Answers that run when their key is revoked come to their end.
//
//   no file ──▶ waiting for one ──▶ read ──▶ watched ─┬─ changed ──▶ read
//                                    │                └─ gone, damaged: the old ring stays, and is
//                                    └─ damaged at the start: refused      said once for each cause
//
// A store that has lost its keys counts as damaged: a reload never opens a server that asked for
// keys.
//
// open(), start() and the destructor by the owner; reload_soon() from any thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "admission/key_store.h"
#include "app/key_gate.h"
#include "app/worker_pool.h"
#include "telemetry/metrics.h"

namespace zerohop {

struct KeyWatchParts {
  std::string path;
  KeyGate* gate = nullptr;
  Metrics* metrics = nullptr;
  /// Called on the watch's thread after a ring has come into force.
  std::function<void(const KeyRing&)> on_change = nullptr;
};

class KeyWatch {
 public:
  static constexpr std::chrono::seconds kLookEvery{1};
  /// On a machine that is not overloaded.
  static constexpr std::chrono::seconds kNoticedWithin{2};

  /// Reads the store, if there is a file. What `parts` points to, and the executor's context,
  /// outlive the watch. Errors: kConfiguration, with file and reason.
  static Result<std::unique_ptr<KeyWatch>> open(KeyWatchParts parts,
                                                boost::asio::any_io_executor executor);
  ~KeyWatch();
  KeyWatch(const KeyWatch&) = delete;
  KeyWatch& operator=(const KeyWatch&) = delete;

  /// Begins to look. I/O thread, or before it runs.
  void start();
  /// Ends it. I/O thread, or after it has ended.
  void stop();

  /// Reads the store whether it has changed or not.
  void reload_soon();

  /// Does `work` with the store, which is made where there is none, and takes what it changed into
  /// force before it returns. From a coroutine of the I/O thread. Errors: those of `work`;
  /// kConfiguration where the store cannot be used, or
  /// what was changed in it not be read back.
  using Work = std::function<Result<std::string>(KeyStore& store)>;
  Awaitable<Result<std::string>> with_store(Work work);

 private:
  enum class Look : std::uint8_t { kWhenChanged, kAlways };
  using FileId = std::pair<std::uint64_t, std::uint64_t>;  // device, inode

  KeyWatch(KeyWatchParts parts, boost::asio::any_io_executor executor);

  void set_timer();
  /// Its failures are in the log; whoever waits for the outcome gets them as well.
  Result<void> look(Look how);
  Result<std::string> do_with_store(const Work& work);
  Result<void> take_changes();
  Result<void> refresh(Look how);
  Result<void> read_all();
  void complain(const std::string& reason);

  // Constant
  const KeyWatchParts parts_;

  // I/O thread
  boost::asio::steady_timer timer_;
  bool stopped_ = false;

  // The watch's thread; open() before there is one
  std::unique_ptr<KeyStore> store_;
  std::optional<FileId> file_;
  std::int64_t version_ = 0;
  bool changed_ = false;  // by with_store(), and not read yet
  std::string complaint_;

  WorkerPool thread_{1};  // last: its work uses all the others
};

/// Refuses what would serve everybody: a public address where no keys are asked for. Errors:
/// kConfiguration.
Result<void> check_keys_for_address(const Config& config, const KeyRing& ring);

/// Where the keys of this configuration are kept: `auth.store`, or `keys.sqlite` in the user's
/// state folder. Errors: kConfiguration.
Result<std::string> key_store_path(const AuthConfig& config);

}  // namespace zerohop
