// A lock between processes: a file that one of them at a time holds (flock). The kernel frees it
// when its holder ends, however that is.
//
// Move-only; one thread.
#pragma once

#include <filesystem>
#include <system_error>

namespace zerohop {

class FileLock {
 public:
  /// Holds nothing.
  FileLock() = default;
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

  /// Opens `file`, making it with these `permissions` where it is missing; nothing is held yet. The
  /// system's reason where that fails.
  std::error_code open(const std::filesystem::path& file, unsigned permissions);

  /// After open(). Takes it unless another one holds it: std::errc::operation_would_block.
  std::error_code try_lock();
  /// After open(). Waits for it.
  std::error_code lock();

 private:
  std::error_code take(int how);

  int descriptor_ = -1;
};

}  // namespace zerohop
