#include "app/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/file_sync.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;

std::error_code last_fault() { return {errno, std::generic_category()}; }

// The system may take a part of it only: at most 2 GiB a call, or what a full disk still holds.
std::error_code write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return last_fault();
    if (written == 0) return std::make_error_code(std::errc::no_space_on_device);  // errno is unset
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

std::error_code write_parts(const fs::path& file, std::initializer_list<std::string_view> parts) {
  const int out = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (out < 0) return last_fault();
  std::error_code fault;
  for (const std::string_view part : parts) {
    if (!fault) fault = write_all(out, part);
  }
  // Some file systems say only here that they had no room.
  if (close(out) != 0 && !fault) fault = last_fault();
  return fault;
}

}  // namespace

std::error_code write_whole(const fs::path& file, std::initializer_list<std::string_view> parts,
                            Durable durable) {
  fs::path beside = file;
  beside += "." + std::to_string(getpid()) + ".part";
  std::error_code fault = write_parts(beside, parts);
  if (!fault && durable == Durable::kYes) fault = sync_to_disk(beside);
  if (!fault) fs::rename(beside, file, fault);
  if (fault) {
    std::error_code ignored;
    fs::remove(beside, ignored);
  }
  return fault;
}

std::optional<std::string> read_whole(const fs::path& file, std::uintmax_t bytes_max) {
  std::error_code fault;
  const std::uintmax_t bytes = fs::file_size(file, fault);
  if (fault || bytes > bytes_max) return std::nullopt;
  if (bytes == 0) return std::string();
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();  // iterators would throw where the disk fails
  if (!stream || !text) return std::nullopt;
  return std::move(text).str();
}

}  // namespace zerohop
