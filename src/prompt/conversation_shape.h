// From a typed conversation to the messages that a chat template takes. Pure functions; any thread.
//
// The rules, each chosen so that one conversation has one prompt however its client writes it down
// (equal prompts share a cached prefix):
//
//   Blocks of one turn, and turns of one role in a row, are joined by a blank line. The same for
//   both, because clients regroup history between requests (a string now, an array of blocks then,
//   two turns merged into one); a blank line, because blocks are units of thought for the client
//   and text models read it as the border of a paragraph. Empty blocks vanish without a separator.
//
//   The system prompt is `system`, or, without one, the system entries in front of all turns.
//
//   Any other system entry stays where it is, as user text in <system-reminder>…</system-reminder>,
//   and so melts into the neighbouring user turn, or is one of its own between two assistant turns.
//   It is never hoisted: a new one would change the front of the prompt and with it the cached
//   prefix. A conversation that ends with one ends with a user turn, so an assistant turn follows.
//
//   An assistant turn at the end is a prefill: it stays open and is continued. White space at its
//   end goes (the hosted API refuses it; tokens of words begin with their space, so a model
//   continues badly after a bare one); an empty prefill is none.
//
//   Some templates refuse a system prompt, drop it, or refuse a conversation that an assistant turn
//   opens. For those, and only those, the system text is put in front of the first user turn, and
//   an empty user turn in front of the assistant's; elsewhere the model reads just what was sent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/request.h"
#include "model/model.h"

namespace zerohop {

/// Where the system prompt goes.
enum class SystemPlace : std::uint8_t { kSystemMessage, kFirstUserTurn };
/// Whether the template needs a user turn in front of the first assistant turn.
enum class FirstTurn : std::uint8_t { kAny, kUser };

/// What a template can take; found out by trial when the model is loaded.
struct TemplateTraits {
  SystemPlace system_place = SystemPlace::kSystemMessage;
  FirstTurn first_turn = FirstTurn::kAny;
};

/// Messages in the form of ChatTemplate::render: at most one system message, at the front; then
/// user and assistant turns in alternation. Not empty.
struct ShapedConversation {
  std::vector<TemplateMessage> messages;
  bool continue_last = false;
};

/// Applies the rules above. `default_system` is the system prompt of conversations that bring none;
/// empty leaves it to the template. Cannot fail.
ShapedConversation shape_conversation(const Conversation& conversation,
                                      const TemplateTraits& traits,
                                      std::string_view default_system = {});

/// `text` without the bytes of isspace() at its beginning, its end, or both.
std::string_view trim_space_left(std::string_view text);
std::string_view trim_space_right(std::string_view text);
std::string_view trim_space(std::string_view text);

}  // namespace zerohop
