#include "prompt/output_planner.h"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "constrain/json_text.h"
#include "prompt/tool_syntax.h"

namespace zerohop {
namespace {

constexpr std::size_t kParameterBytesMax = 8u << 20;  // schemas of tools that are remembered

std::size_t written_name_bytes(const ToolSyntax& syntax, std::string_view name) {
  return syntax.kind == ToolSyntaxKind::kJsonCall ? json_quoted(name).size() - 2 : name.size();
}

}  // namespace

Result<std::shared_ptr<const OfferedTools>> offered_tools(
    const ToolSyntax& syntax, const std::vector<ToolDefinition>& tools) {
  auto offered = std::make_shared<OfferedTools>();
  offered->reserve(tools.size());
  for (const ToolDefinition& tool : tools) {
    const std::string problem = name_problem(syntax, tool.name);
    if (!problem.empty()) {
      return invalid_request(
          "tools", "tool '" + tool.name + "': its name cannot stand in calls as " +
                       "this model writes them (" + std::string(syntax.id) + "): " + problem);
    }
    OfferedTool known{tool.name, {}};
    if (syntax.kind == ToolSyntaxKind::kTagged) {
      known.parameters = parameter_kinds(tool.input_schema);
    }
    offered->push_back(std::move(known));
  }
  return std::shared_ptr<const OfferedTools>(std::move(offered));
}

OutputPlanner::OutputPlanner(const TemplateTraits& traits, const GuardedTokenizer& tokenizer)
    : traits_(traits),
      syntax_(traits.native_tools == nullptr ? default_tool_syntax() : *traits.native_tools),
      parameters_(std::make_unique<ParameterCache>(kParameterBytesMax)) {
  const auto add = [&](std::string_view text) {
    for (auto& marker : tokenizer.control_tokens_in(text)) {
      if (std::find(markers_.begin(), markers_.end(), marker) == markers_.end()) {
        markers_.push_back(std::move(marker));
      }
    }
  };
  for (const std::string_view text :
       {syntax_.section_open, syntax_.section_close, syntax_.open, syntax_.open_alternative,
        syntax_.before_name, syntax_.name_note, syntax_.after_name, syntax_.parameter_open,
        syntax_.parameter_middle, syntax_.parameter_close, syntax_.arguments_close, syntax_.close,
        syntax_.separator}) {
    add(text);
  }
  call_ends_turn_ = tokenizer.ends_with_end_token(syntax_.close);
  for (const std::string_view text : syntax_.framing) add(text);
  if (traits.thinking) {
    add(traits.thinking->open);
    add(traits.thinking->close);
  }
}

Result<OutputPlan> OutputPlanner::plan(const Conversation& conversation,
                                       const ShapedConversation& shaped,
                                       RenderedPrompt& prompt) const {
  OutputPlan plan;
  plan.rules = conversation.output;
  plan.thinking = traits_.thinking;
  plan.marker_tokens = markers_;
  for (const std::string_view text : syntax_.framing) {
    if (!text.empty()) plan.framing.emplace_back(text);
  }
  if (shaped.continue_last) plan.prefill = shaped.messages.back().content;
  if (ends_inside_thoughts(prompt.text, plan.prefill)) plan.start = OutputStart::kThinking;
  if (offers_tools(conversation)) {
    plan.tool_syntax = &syntax_;
    plan.parallel_tool_calls = conversation.tool_choice.parallel;
    plan.call_ends_turn = call_ends_turn_;
    ZH_ASSIGN_OR_RETURN(plan.offered, offered(conversation.tools));
    if (forces_a_call(conversation)) append_forced_call(conversation, plan, prompt);
  }
  return plan;
}

// Only where values stand in tags does it take reading the schemas.
Result<std::shared_ptr<const OfferedTools>> OutputPlanner::offered(
    const std::vector<ToolDefinition>& tools) const {
  if (syntax_.kind != ToolSyntaxKind::kTagged) return offered_tools(syntax_, tools);
  return parameters_->get(tools, [&] { return offered_tools(syntax_, tools); });
}

void OutputPlanner::append_forced_call(const Conversation& conversation, OutputPlan& plan,
                                       RenderedPrompt& prompt) const {
  const std::size_t behind_prompt = prompt.text.size();
  if (plan.start == OutputStart::kThinking) {
    prompt.text.append("\n").append(traits_.thinking->close).append("\n\n");
  } else if (!plan.prefill.empty()) {
    prompt.text.append("\n");
  }
  const std::string opening = write_call_up_to_name(syntax_);
  const std::size_t name_at = prompt.text.size() + opening.size();
  std::size_t name_bytes = 0;
  if (conversation.tool_choice.kind == ToolChoiceKind::kTool || conversation.tools.size() == 1) {
    plan.start = OutputStart::kToolArguments;
    plan.forced_tool = conversation.tool_choice.kind == ToolChoiceKind::kTool
                           ? conversation.tool_choice.name
                           : conversation.tools.front().name;
    prompt.text.append(write_call_up_to_arguments(syntax_, plan.forced_tool));
    name_bytes = written_name_bytes(syntax_, plan.forced_tool);
  } else {
    plan.start = OutputStart::kToolName;
    prompt.text.append(opening);
  }
  // The default form is plain text to the model in the tools' description and in earlier turns, so
  // it is here; a template's own form has the template's control tokens.
  if (traits_.native_tools == nullptr) {
    prompt.foreign.push_back({behind_prompt, prompt.text.size()});
  } else if (name_bytes > 0) {
    prompt.foreign.push_back({name_at, name_at + name_bytes});
  }
}

bool OutputPlanner::ends_inside_thoughts(std::string_view text, std::string_view prefill) const {
  if (!traits_.thinking) return false;
  const auto& [open, close] = *traits_.thinking;
  const std::size_t opened = prefill.rfind(open);
  const std::size_t closed = prefill.rfind(close);
  if (closed != std::string_view::npos && (opened == std::string_view::npos || opened < closed)) {
    return false;
  }
  if (opened != std::string_view::npos) return true;
  if (text.ends_with(prefill)) text.remove_suffix(prefill.size());
  return trim_space_right(text).ends_with(trim_space(open));
}

}  // namespace zerohop
