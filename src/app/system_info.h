// `GET /v1/system_info`: what this instance is and how it runs. Any thread.
#pragma once

#include <string>

#include "app/service.h"

namespace zerohop {

/// One JSON object: version, instance, model and its preparation, context, cache, limits, pressure.
/// After the model was loaded. `engine`: the tier's snapshot.
std::string system_info_body(const Service& service, const EngineSnapshot& engine);

/// `GET /v1/instances`: who this is, and the others that the configuration names.
std::string instances_body(const InstanceConfig& config);

/// The longest answer that a request with an empty prompt could get now without anybody giving way:
/// the free cells, within one window.
std::uint32_t recommended_max_tokens(const EngineSnapshot& engine, std::uint32_t window);

}  // namespace zerohop
