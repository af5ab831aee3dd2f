// The configuration for people: the effective settings, the flags of `--help`, docs/CONFIG.md. All
// rendered from the table. Pure; any thread.
#pragma once

#include <string>

#include "app/config_load.h"

namespace zerohop {

/// YAML that gives the same configuration again, each line with a comment that says where the value
/// comes from.
std::string effective_config_text(const LoadedConfig& loaded);

/// One or two lines for each flag, as in `--help`.
std::string config_flags_help();

/// The whole of docs/CONFIG.md, ending in a line end. The committed file must equal it (a test
/// compares).
std::string config_markdown();

}  // namespace zerohop
