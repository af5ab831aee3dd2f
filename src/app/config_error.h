// What is wrong with the configuration, as an error. Messages name the key that they are about, by
// which with_origin() (config_load.h) finds the place where it was set. Pure; any thread.
#pragma once

#include <string>
#include <utility>

#include "core/error.h"

namespace zerohop {

/// `path`: of the key, where the message does not begin with it.
inline Error configuration_error(std::string message, std::string path = {}) {
  return Error{ErrorCode::kConfiguration, std::move(message), std::move(path), {}};
}

}  // namespace zerohop
