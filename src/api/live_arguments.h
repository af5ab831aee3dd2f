// `live_arguments` of a tool, our own field in both dialects: whether values that the conversation
// names are made likelier in the tool's arguments, and by how much.
//
//   true     by the usual bias (kLiveBias)
//   a number that is added to the logits, 0 to kLiveBiasMax; 0 is false
//
// Internal to api/; any thread.
#pragma once

#include "api/json_place.h"
#include "core/content.h"
#include "core/error.h"

namespace zerohop {

/// e^20 times as likely: what the model itself thinks hardly counts any more.
inline constexpr double kLiveBiasMax = 20;

/// Into `definition`, where the tool says so.
Result<void> parse_live_arguments(const JsonPlace& tool, ToolDefinition& definition);

}  // namespace zerohop
