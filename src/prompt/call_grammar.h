// Tool calls as sections of a tag machine (constrain/tag_machine.h): the texts that a model's own
// form asks for, out of the table of tool syntaxes, around arguments that a machine decides about.
//
// A call is triggered by what a reader takes for its mark (output_segmenter.h), so that no call can
// be read that was not constrained. Exceptions, each because the mark is an everyday text:
//
//   a bare call ("{" at the beginning of an answer): with such a form no text begins with a brace
//   a mark of letters alone ("functools"): it triggers together with the bracket behind it
//
// Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "constrain/tag_machine.h"
#include "prompt/output_plan.h"
#include "prompt/tool_syntax.h"

namespace zerohop {

struct CallableTool {
  std::string name;
  std::vector<TagPart> arguments;  ///< in the form of the syntax: JSON, or its parameters
};

/// What the answers to one prompt may call.
struct CallForm {
  const ToolSyntax* syntax = nullptr;
  bool parallel = true;             ///< false: one call at most
  bool close_ends_turn = false;     ///< OutputPlan::call_ends_turn
  std::vector<CallableTool> tools;  ///< not empty
};

/// Free text with any number of calls in it.
TagSet text_with_calls(const CallForm& form);

/// The parts of an answer that is calls alone, one or more, from its first byte on, with what
/// stands around all calls.
std::vector<TagPart> only_calls(const CallForm& form);

}  // namespace zerohop
