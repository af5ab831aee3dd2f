#include "app/paths.h"

#include <string>
#include <string_view>

namespace zerohop {
namespace {

namespace fs = std::filesystem;

Result<fs::path> base_folder(const Environment& environment, std::string_view variable,
                             std::string_view below_home) {
  const auto given = find_variable(environment, variable);
  if (given && fs::path(*given).is_absolute()) return fs::path(*given) / "zerohop";
  const auto home = find_variable(environment, "HOME");
  if (!home || !fs::path(*home).is_absolute()) {
    return Error{ErrorCode::kConfiguration,
                 "neither " + std::string(variable) + " nor HOME names an absolute folder",
                 {},
                 {}};
  }
  return fs::path(*home) / below_home / "zerohop";
}

}  // namespace

Result<UserFolders> user_folders(const Environment& environment) {
  UserFolders folders;
  ZH_ASSIGN_OR_RETURN(folders.config, base_folder(environment, "XDG_CONFIG_HOME", ".config"));
  ZH_ASSIGN_OR_RETURN(folders.data, base_folder(environment, "XDG_DATA_HOME", ".local/share"));
  ZH_ASSIGN_OR_RETURN(folders.cache, base_folder(environment, "XDG_CACHE_HOME", ".cache"));
  ZH_ASSIGN_OR_RETURN(folders.state, base_folder(environment, "XDG_STATE_HOME", ".local/state"));
  return folders;
}

}  // namespace zerohop
