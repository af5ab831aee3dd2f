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

/// What it does to texts such as "<think>" and "<tool_response>" inside contents.
enum class MarksInContents : std::uint8_t {
  kCopied,        ///< nothing
  kThoughtsRead,  ///< something, to those of thoughts
  kRead,          ///< something, to any
};

struct SpliceRules {
  ContentRule system = ContentRule::kVerbatim;
  ContentRule user = ContentRule::kVerbatim;
  ContentRule assistant = ContentRule::kVerbatim;
  ContentRule open_turn = ContentRule::kVerbatim;  ///< the last one, with continue_last
  MarksInContents marks = MarksInContents::kCopied;
};

/// Whether the rules hold for `conversation`: some templates cut marks of thoughts and of results
/// out of contents and hand all others through.
bool can_be_spliced(const ShapedConversation& conversation, const SpliceRules& rules);

/// The content of message `index` as the template shows it.
std::string_view shown_content(const ShapedConversation& conversation, std::size_t index,
                               const SpliceRules& rules);

/// One letter per message: s, u, a, t by its role, a capital where it shows nothing (templates ask
/// whether there is a content); then "+" when the last one stays open, then the switch for
/// thinking. For a rich conversation all that its rendering depends on follows, word for word.
std::string shape_key(const ShapedConversation& conversation, const SpliceRules& rules);

/// Renders the shape of `conversation`, with stand-ins for its contents and thoughts; tools and
/// calls are rendered as they are. Errors: those of the
/// template.
Result<ShapeRendering> render_shape(const ChatTemplate& chat_template,
                                    const ShapedConversation& conversation,
                                    const SpliceRules& rules);

/// Where a content stands in a prompt.
struct PlacedContent {
  std::size_t message = 0;
  ByteRange range;
  std::size_t skipped = 0;  ///< bytes at its front that are not shown
};

/// Puts the contents in. Appends their places to `placed` unless it is null; none is empty.
std::string splice_contents(const ShapeRendering& shape, const ShapedConversation& conversation,
                            const SpliceRules& rules, std::vector<PlacedContent>* placed);

}  // namespace zerohop
