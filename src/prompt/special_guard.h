// Keeps special texts of strangers out of a chat template's hands: while the template runs,
// stand-ins take their place in contents, thoughts, tools and calls. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "prompt/conversation_shape.h"
#include "prompt/special_text.h"
#include "prompt/stand_in.h"

namespace zerohop {

/// A conversation whose special texts have given way to stand-ins.
struct GuardedConversation {
  StandIns stand_ins;
  ShapedConversation conversation;
  std::vector<std::size_t> hidden;  ///< by number of the stand-in: the special text's index
};

/// JSON texts (schemas, arguments) are made to say plainly what they say with escapes first, so
/// that no special text can hide in them.
GuardedConversation hide_specials(const ShapedConversation& conversation,
                                  const SpecialTextFinder& specials);

/// A rendering with its special texts back in place.
struct RevealedText {
  std::string text;
  std::vector<ByteRange> foreign;  ///< the special texts put back; ascending, disjoint
};
RevealedText reveal_specials(const std::string& rendered, const GuardedConversation& guarded,
                             const SpecialTextFinder& specials);

/// `json` with escapes such as \u003c and \/ written as the characters that they stand for, where
/// JSON allows that.
std::string without_needless_escapes(const std::string& json);

}  // namespace zerohop
