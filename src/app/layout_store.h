// The KV layout that was measured for this machine and model (engine/layout_choice.h), kept in the
// user's cache folder so that only the first start measures. At start, the main thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/config.h"
#include "base/clock.h"
#include "engine/layout_choice.h"
#include "model/model.h"

namespace zerohop {

/// Whether the configuration leaves the choice to a measurement.
bool measures_layout(const EngineConfig& config);

/// The stored choice, else a new one, which is stored unless the time ran out before both layouts
/// were measured; a folder that cannot be written costs only the next start its time. `folder` may
/// be empty: nothing is stored.
KvLayoutChoiceReport layout_for(const Model& model, const EngineConfig& config, const Clock& clock,
                                const std::filesystem::path& folder);

/// What is stored, as text; nothing when it is damaged or belongs to another key. `reason`, layout
/// and attention are kept, the figures behind them are not.
std::string layout_text(const KvLayoutChoiceReport& report, const std::string& key);
std::optional<KvLayoutChoiceReport> parse_layout(const std::string& text, const std::string& key);

}  // namespace zerohop
