#include "app/kept_files.h"

#include <system_error>

#include "app/config_error.h"
#include "app/environment.h"
#include "app/paths.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;

Error no_folder(const KeptFolder& kept, const std::string& reason) {
  return configuration_error(std::string(kept.key) + ": '" + kept.folder.string() + "' " + reason);
}

}  // namespace

Result<fs::path> state_path(const std::string& value, std::string_view name) {
  if (value != "auto") return fs::path(value);
  ZH_ASSIGN_OR_RETURN(const UserFolders folders, user_folders(process_environment()));
  return name.empty() ? folders.state : folders.state / name;
}

Result<FileLock> hold_folder(const KeptFolder& kept) {
  std::error_code fault;
  fs::create_directories(kept.folder, fault);
  if (fault) return no_folder(kept, "cannot be made: " + fault.message());
  FileLock lock;
  fault = lock.open(kept.folder / kept.lock_file, 0600);
  if (fault) return no_folder(kept, "cannot be written: " + fault.message());
  if (lock.try_lock()) return no_folder(kept, "is in use by another process");
  return lock;
}

}  // namespace zerohop
