// Connects a tier to its metrics: which hook of it feeds what. The metrics outlive the tier.
#pragma once

#include <memory>

#include "app/service.h"
#include "app/tier.h"
#include "model/model.h"

namespace zerohop {

/// The metrics of a tier that will serve `model`.
std::unique_ptr<TierMetrics> make_tier_metrics(Service& service, const Model& model);

/// Sets the hooks of `parts`, which is what the tier of `model` is made of.
void feed_tier_metrics(TierMetrics& metrics, const Model& model, TierParts& parts);

}  // namespace zerohop
