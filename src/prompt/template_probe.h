// Tries a chat template out: what conversations it takes, and what it does to contents. Run once,
// when a model is loaded.
#pragma once

#include <optional>

#include "model/model.h"
#include "prompt/conversation_shape.h"
#include "prompt/splice.h"

namespace zerohop {

/// Whether the template has a place for a system prompt, and whether an assistant turn may come
/// first.
TemplateTraits probe_traits(const ChatTemplate& chat_template);

/// The rules under which splicing gives what the template gives, for every probe conversation;
/// nothing when there are none, or when the template refuses every probe.
std::optional<SpliceRules> probe_rules(const ChatTemplate& chat_template,
                                       const TemplateTraits& traits);

}  // namespace zerohop
