// Where `zerohop pull` puts the default model, for tests and benchmarks that load it by themselves.
// The server asks app/model_store.h, which knows all models and settings.
#pragma once

#include <cstdlib>
#include <string>

namespace zerohop {

/// In the user's data folder after the XDG rules; whether the file is there is for the caller to
/// see.
inline std::string default_model_path() {
  const char* data = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  const std::string folder = data != nullptr && *data == '/'
                                 ? std::string(data)
                                 : std::string(home == nullptr ? "" : home) + "/.local/share";
  return folder + "/zerohop/models/smollm2-135m.gguf";
}

}  // namespace zerohop
