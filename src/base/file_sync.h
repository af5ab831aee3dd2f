// Hands what was written to a file or a folder to the disk. A rename may reach the disk before the
// bytes that it names do, and the entry of a folder after them; a power cut then leaves a short
// file, or none. Any thread; blocks for as long as the disk needs.
#pragma once

#include <filesystem>
#include <system_error>

namespace zerohop {

/// fsync() of a file, or of a folder for the names in it. The system's reason where it cannot be
/// opened for reading or the disk does not take it.
std::error_code sync_to_disk(const std::filesystem::path& path);

}  // namespace zerohop
