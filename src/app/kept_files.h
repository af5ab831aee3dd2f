// Where the server keeps what outlives it, and that no other process keeps it there at the same
// time. I/O of the file system; any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/file_lock.h"
#include "core/error.h"

namespace zerohop {

/// What a key of the configuration chose: `value` itself, or for `auto` `name` in the user's state
/// folder (an empty name: that folder). Nothing is made. Errors: kConfiguration (no home).
Result<std::filesystem::path> state_path(const std::string& value, std::string_view name);

struct KeptFolder {
  std::string_view key;  ///< of the configuration, for messages
  std::filesystem::path folder;
  std::string_view lock_file;  ///< its name in there
};

/// Makes the folder where it is missing, and holds it for this process as long as the result lives.
/// Errors: kConfiguration (cannot be made or written, or another process has it).
Result<FileLock> hold_folder(const KeptFolder& kept);

}  // namespace zerohop
