#include "api/anthropic_tool_choice.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace zerohop {
namespace {

struct ChoiceName {
  std::string_view name;
  ToolChoiceKind kind;
};
// The last one is the other dialect's.
constexpr std::array<ChoiceName, 4> kPlainChoices{{
    {"auto", ToolChoiceKind::kAuto},
    {"any", ToolChoiceKind::kAny},
    {"none", ToolChoiceKind::kNone},
    {"required", ToolChoiceKind::kAny},
}};

Result<ToolChoiceKind> parse_plain(const JsonPlace& place, const ParseOptions& options) {
  ZH_ASSIGN_OR_RETURN(const std::string_view name, place.string());
  const auto* found = std::ranges::find(kPlainChoices, name, &ChoiceName::name);
  const bool foreign = name == "required" && options.strict();
  if (found != kPlainChoices.end() && !foreign) return found->kind;
  return place.expected("\"auto\", \"any\", \"tool\" or \"none\"");
}

Result<std::string> parse_tool_name(const JsonPlace& parent, const AnthropicTools& tools) {
  ZH_ASSIGN_OR_RETURN(const JsonPlace place, parent.require("name"));
  ZH_ASSIGN_OR_RETURN(const std::string_view name, place.string());
  if (std::ranges::find(tools.definitions, name, &ToolDefinition::name) !=
      tools.definitions.end()) {
    return std::string(name);
  }
  if (std::ranges::find(tools.hosted, name) != tools.hosted.end()) {
    return place.error(std::string(name) +
                       " runs on the hosted API only and is not supported by this server");
  }
  return place.expected("the name of a tool of this request");
}

Result<ToolChoice> parse_object(const JsonPlace& place, const ParseOptions& options,
                                const AnthropicTools& tools) {
  ToolChoice choice;
  ZH_ASSIGN_OR_RETURN(const JsonPlace type_place, place.require("type"));
  ZH_ASSIGN_OR_RETURN(const std::string_view type, type_place.string());
  const bool function = type == "function" && !options.strict();
  if (type == "tool" || function) {
    choice.kind = ToolChoiceKind::kTool;
    const auto inner = function ? place.find("function") : std::nullopt;
    ZH_ASSIGN_OR_RETURN(choice.name, parse_tool_name(inner ? *inner : place, tools));
  } else {
    ZH_ASSIGN_OR_RETURN(choice.kind, parse_plain(type_place, options));
  }
  if (const auto disabled = place.find("disable_parallel_tool_use")) {
    ZH_ASSIGN_OR_RETURN(const bool single, disabled->boolean());
    choice.parallel = !single;
  }
  return choice;
}

}  // namespace

Result<ToolChoice> parse_anthropic_tool_choice(const JsonPlace& body, const ParseOptions& options,
                                               const AnthropicTools& tools) {
  ToolChoice choice;
  if (tools.definitions.empty() && tools.hosted.empty()) return choice;
  if (const auto place = body.find("tool_choice")) {
    if (place->is_string() && !options.strict()) {
      ZH_ASSIGN_OR_RETURN(choice.kind, parse_plain(*place, options));
    } else {
      ZH_RETURN_IF_ERROR(place->expect_object());
      ZH_ASSIGN_OR_RETURN(choice, parse_object(*place, options, tools));
    }
  }
  if (const auto parallel = body.find("parallel_tool_calls")) {
    ZH_ASSIGN_OR_RETURN(const bool several, parallel->boolean());
    choice.parallel = choice.parallel && several;
  }
  if (tools.definitions.empty()) return ToolChoice{};
  return choice;
}

}  // namespace zerohop
