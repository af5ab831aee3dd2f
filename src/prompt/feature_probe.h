// Finds out by trial what a chat template knows of tools and of thinking. Run once, when a model is
// loaded; pure functions.
#pragma once

#include "model/model.h"
#include "prompt/special_text.h"
#include "prompt/template_traits.h"

namespace zerohop {

/// Fills in what `traits` says of tools. The template's own form is taken when a tool's name shows
/// up where tools are given, a call in a form that recognise_tool_syntax() knows, a result as a
/// message of role "tool", and when no text of a tool can become control text (`specials`).
/// Otherwise the traits stay as they are.
void probe_tools(const ChatTemplate& chat_template, const SpecialTextFinder& specials,
                 TemplateTraits& traits);

/// Fills in what `traits` says of thinking.
void probe_thinking(const ChatTemplate& chat_template, TemplateTraits& traits);

/// The tags around `thought` in a rendering, such as "<think>" and "</think>": the text in angle or
/// square brackets on either side of it, white space left out; nothing when there is none.
std::optional<ThinkingTags> tags_around(std::string_view rendered, std::string_view thought);

}  // namespace zerohop
