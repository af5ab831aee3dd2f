// docs/METRICS.md, rendered from the metric table. Pure; any thread.
#pragma once

#include <string>

namespace zerohop {

/// The whole document, ending in a line end. The committed file must equal it (a test compares).
std::string metrics_markdown();

}  // namespace zerohop
