#include "api/live_arguments.h"

namespace zerohop {

Result<void> parse_live_arguments(const JsonPlace& tool, ToolDefinition& definition) {
  const auto place = tool.find("live_arguments");
  if (!place) return {};
  if (!place->value().is_number()) {
    ZH_ASSIGN_OR_RETURN(definition.live_arguments, place->boolean());
    return {};
  }
  ZH_ASSIGN_OR_RETURN(const double bias, place->number({0, kLiveBiasMax}));
  definition.live_arguments = bias > 0;
  if (bias > 0) definition.live_bias = static_cast<float>(bias);
  return {};
}

}  // namespace zerohop
