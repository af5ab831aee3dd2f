#include "base/file_sync.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace zerohop {

std::error_code sync_to_disk(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {errno, std::generic_category()};
  std::error_code fault;
  if (fsync(file) != 0) fault = {errno, std::generic_category()};
  close(file);
  return fault;
}

}  // namespace zerohop
