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
//   Where the template shows a system entry in its place, it stays a system turn.
//
//   Tools, calls and results go to templates that know them; for others they are text
//   (tool_texts.h): the tools at the end of the system prompt, calls behind the text of their turn,
//   results in front of the text of theirs, in the order of the calls. Deferred tools are left out
//   until a result refers to them; their definition then stands in that result, so that the front
//   of the prompt never changes. Rules for the answer end the system prompt; facts of one request
//   end the last user turn.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/request.h"
#include "model/model.h"
#include "prompt/special_text.h"
#include "prompt/template_traits.h"

namespace zerohop {

/// Which bytes of the first message with a system prompt are what.
struct FrontText {
  std::size_t message = 0;
  ByteRange system;  ///< empty: there is none
  ByteRange tools;   ///< empty: none, or the template writes them
};

/// Where the client's last cache mark lies.
struct ShapedMark {
  std::size_t message = 0;
  std::size_t offset = 0;     ///< in bytes of its content
  bool behind_tools = false;  ///< and behind the tools, where the template writes them
  std::size_t calls = 0;      ///< and behind so many calls of the message that the template writes
};

/// What ChatTemplate::render takes: at most one system message at the front; user and assistant
/// turns in alternation, where the template wants it. Not empty.
struct ShapedConversation {
  std::vector<TemplateMessage> messages;
  bool continue_last = false;
  std::vector<TemplateTool> tools = {};
  std::optional<bool> thinking = {};
  FrontText front = {};
  std::optional<ShapedMark> mark = {};

  TemplateInput input() const { return {messages, tools, continue_last, thinking}; }
  /// Tools, calls, results or thoughts are left to the template.
  bool is_rich() const;
};

/// The system prompt that a conversation brings, its blocks joined; empty: none.
struct SystemPrompt {
  std::string text;
  std::size_t first_turn = 0;  ///< messages in front of it are the system prompt
};
SystemPrompt system_prompt_of(const Conversation& conversation);

/// Whether the model is told of tools at all.
bool offers_tools(const Conversation& conversation);
/// Whether the answer must call a tool.
bool forces_a_call(const Conversation& conversation);

/// Errors: kInvalidRequest for a document without text.
Result<void> check_documents(const Conversation& conversation);

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
