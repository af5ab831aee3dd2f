// The pieces of rendering by splice: a shape's key, its rendering with stand-ins, contents put in.
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "model/model.h"
#include "prompt/conversation_shape.h"
#include "prompt/shape_cache.h"
#include "prompt/special_text.h"

namespace zerohop {

/// What a template does to the content of a message.
enum class ContentRule : std::uint8_t { kVerbatim, kTrimmed };

struct SpliceRules {
  ContentRule system = ContentRule::kVerbatim;
  ContentRule user = ContentRule::kVerbatim;
  ContentRule assistant = ContentRule::kVerbatim;
  ContentRule open_turn = ContentRule::kVerbatim;  ///< the last one, with continue_last
};

/// The content of message `index` as the template shows it.
std::string_view shown_content(const ShapedConversation& conversation, std::size_t index,
                               const SpliceRules& rules);

/// One letter per message: s, u, a by its role, a capital where it shows nothing (templates ask
/// whether there is a content); then "+" when the last one stays open.
std::string shape_key(const ShapedConversation& conversation, const SpliceRules& rules);

/// Renders the shape of `conversation`, with stand-ins for its contents. Errors: those of the
/// template.
Result<ShapeRendering> render_shape(const ChatTemplate& chat_template,
                                    const ShapedConversation& conversation,
                                    const SpliceRules& rules);

/// Puts the contents in. Appends their places to `foreign` unless it is null.
std::string splice_contents(const ShapeRendering& shape, const ShapedConversation& conversation,
                            const SpliceRules& rules, std::vector<ByteRange>* foreign);

}  // namespace zerohop
