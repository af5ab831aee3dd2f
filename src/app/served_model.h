// The model that a configuration names, found or downloaded, prepared for this machine, loaded.
// What `serve` and `chat` begin with. Main thread, at start; progress goes to standard error.
#pragma once

#include <memory>

#include "app/config.h"
#include "app/model_preparation.h"
#include "base/clock.h"
#include "core/error.h"
#include "model/model.h"

namespace zerohop {

struct ServedModel {
  std::unique_ptr<Model> model;
  ModelPreparation preparation;
};

/// Errors: kModelUnavailable, kConfiguration. A converted file that does not load is a warning, and
/// the original is taken.
Result<ServedModel> load_served_model(const Config& config, const Clock& clock);

}  // namespace zerohop
