// Tries a chat template out: what conversations it takes, and what it does to contents. Run once,
// when a model is loaded.
#pragma once

#include <optional>

#include "model/model.h"
#include "prompt/conversation_shape.h"
#include "prompt/special_text.h"
#include "prompt/splice.h"

namespace zerohop {

/// What the template takes. `specials`: the texts that must not come out of a tool's.
TemplateTraits probe_traits(const ChatTemplate& chat_template, const SpecialTextFinder& specials);

/// The rules under which splicing gives what the template gives, for every probe conversation (or,
/// where the template reads marks in contents, for every one without these); nothing when there are
/// none, or when the template refuses every probe.
std::optional<SpliceRules> probe_rules(const ChatTemplate& chat_template,
                                       const TemplateTraits& traits);

}  // namespace zerohop
