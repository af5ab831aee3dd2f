// Carries out cache plans on the model. The cache decided; here is the only place where a decision
// about cells becomes a call. Engine thread only.
#pragma once

#include "cache/cache_plan.h"
#include "cache/slot_cache.h"
#include "model/model.h"

namespace zerohop {

/// Frees the tail that `op` names. False where the model cannot cut there (recurrent state, a
/// sliding window whose cells are gone): the slot has then been emptied.
bool drop_tail(ModelContext& context, const DropTail& op);

/// Performs a plan that only drops cells.
void drop_cells(ModelContext& context, const CachePlan& plan);

/// Performs the plan of a placement. Returns how many tokens of the prompt the slot really holds:
/// the planned number, or 0 where the model could not cut or share there (recurrent state, a
/// sliding window whose cells are gone), in which case the slot has been emptied.
std::int32_t execute_placement(ModelContext& context, const Placement& placement);

}  // namespace zerohop
