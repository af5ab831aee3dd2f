// Where this user's files live: the XDG base folders (specifications.freedesktop.org/basedir-spec,
// version 0.8), each with `zerohop` appended. Pure; any thread. Nothing is created here.
#pragma once

#include <filesystem>

#include "app/environment.h"
#include "core/error.h"

namespace zerohop {

struct UserFolders {
  std::filesystem::path config;  ///< $XDG_CONFIG_HOME/zerohop, else ~/.config/zerohop
  std::filesystem::path data;    ///< $XDG_DATA_HOME/zerohop, else ~/.local/share/zerohop
  std::filesystem::path cache;   ///< $XDG_CACHE_HOME/zerohop, else ~/.cache/zerohop
  std::filesystem::path state;   ///< $XDG_STATE_HOME/zerohop, else ~/.local/state/zerohop

  std::filesystem::path models() const { return data / "models"; }
  std::filesystem::path config_file() const { return config / "config.yaml"; }
};

/// Relative paths in the XDG variables are ignored, as the specification asks. Errors:
/// kConfiguration when a folder is needed from HOME and HOME is not an absolute path.
Result<UserFolders> user_folders(const Environment& environment);

}  // namespace zerohop
