// Labels that a client gives its request in `metadata`: short texts under short names, for metrics
// and logs. All dialects have that object. Internal to api/. Pure function; any thread.
#pragma once

#include "api/json_place.h"
#include "core/request.h"

namespace zerohop {

/// The members of `metadata` that are strings, in their order, at most limits::kRequestLabelsMax.
/// What is no label (a long text, another type, user_id, context) is not looked at: labels only
/// inform.
RequestLabels request_labels(const JsonPlace& body);

}  // namespace zerohop
