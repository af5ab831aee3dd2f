// Decides how the output behind a prompt is to be read, and begins the call that an answer must
// make. One per model; any thread, and immutable but for what it remembers of tools.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/request.h"
#include "prompt/conversation_shape.h"
#include "prompt/guarded_tokenizer.h"
#include "prompt/output_plan.h"
#include "prompt/parameter_cache.h"
#include "prompt/template_renderer.h"
#include "prompt/template_traits.h"

namespace zerohop {

/// Errors: kInvalidRequest, for a tool whose name cannot stand in the form (name_problem()).
Result<std::shared_ptr<const OfferedTools>> offered_tools(const ToolSyntax& syntax,
                                                          const std::vector<ToolDefinition>& tools);

class OutputPlanner {
 public:
  /// Both outlive the planner.
  OutputPlanner(const TemplateTraits& traits, const GuardedTokenizer& tokenizer);

  /// The plan for the output behind `prompt`, the rendering of `conversation` as `shaped`. Where a
  /// call is forced, its beginning is appended to the prompt, behind a prefill. Errors:
  /// kInvalidRequest (a tool whose name this model's form of calls cannot hold, name_problem()).
  Result<OutputPlan> plan(const Conversation& conversation, const ShapedConversation& shaped,
                          RenderedPrompt& prompt) const;

  /// OutputPlan::marker_tokens of every plan.
  const std::vector<std::pair<Token, std::string>>& marker_tokens() const { return markers_; }

 private:
  void append_forced_call(const Conversation& conversation, OutputPlan& plan,
                          RenderedPrompt& prompt) const;
  bool ends_inside_thoughts(std::string_view text, std::string_view prefill) const;
  Result<std::shared_ptr<const OfferedTools>> offered(
      const std::vector<ToolDefinition>& tools) const;

  const TemplateTraits& traits_;
  const ToolSyntax& syntax_;
  std::vector<std::pair<Token, std::string>> markers_;
  bool call_ends_turn_ = false;
  std::unique_ptr<ParameterCache> parameters_;  // locks by itself
};

}  // namespace zerohop
