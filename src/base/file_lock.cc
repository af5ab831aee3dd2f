#include "base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/check.h"

namespace zerohop {
namespace {

std::error_code last_fault() { return {errno, std::generic_category()}; }

}  // namespace

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::error_code FileLock::open(const std::filesystem::path& file, unsigned permissions) {
  ZH_CHECK(descriptor_ < 0);
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, permissions);
  return descriptor_ < 0 ? last_fault() : std::error_code();
}

std::error_code FileLock::try_lock() { return take(LOCK_EX | LOCK_NB); }
std::error_code FileLock::lock() { return take(LOCK_EX); }

std::error_code FileLock::take(int how) {
  ZH_CHECK(descriptor_ >= 0);
  while (flock(descriptor_, how) != 0) {
    if (errno != EINTR) return last_fault();
  }
  return {};
}

}  // namespace zerohop
