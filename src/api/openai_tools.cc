#include "api/openai_tools.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_set>
#include <utility>

#include "api/json_value_writer.h"
#include "api/json_writer.h"
#include "api/live_arguments.h"
#include "api/openai_fields.h"
#include "core/limits.h"

namespace zerohop {
namespace {

bool is_printable(char character) {
  const auto byte = static_cast<unsigned char>(character);
  return byte >= 0x20 && byte != 0x7f;
}

Result<std::string> parse_tool_name(const JsonPlace& place) {
  ZH_ASSIGN_OR_RETURN(const std::string_view name, place.string());
  if (name.empty() || name.size() > limits::kToolNameBytesMax) {
    return place.error("must be from 1 to " + std::to_string(limits::kToolNameBytesMax) +
                       " bytes long, got " + std::to_string(name.size()));
  }
  if (!std::all_of(name.begin(), name.end(), is_printable)) {
    return place.error("must hold printable characters only");
  }
  return std::string(name);
}

std::optional<JsonPlace> find_schema(const JsonPlace& function) {
  if (const auto place = function.find("parameters")) return place;
  return function.find("input_schema");
}

Result<ToolDefinition> parse_function(const JsonPlace& function) {
  ZH_RETURN_IF_ERROR(function.expect_object());
  ToolDefinition tool;
  ZH_ASSIGN_OR_RETURN(const JsonPlace name, function.require("name"));
  ZH_ASSIGN_OR_RETURN(tool.name, parse_tool_name(name));
  ZH_ASSIGN_OR_RETURN(auto description, parse_openai_text(function, "description"));
  tool.description = std::move(description).value_or(std::string());
  ZH_ASSIGN_OR_RETURN(const auto strict, parse_openai_flag(function, "strict"));
  tool.strict = strict.value_or(false);
  ZH_RETURN_IF_ERROR(parse_live_arguments(function, tool));
  if (const auto schema = find_schema(function)) {
    ZH_RETURN_IF_ERROR(schema->expect_object());
    tool.input_schema = json_text(schema->value());
    tool.field = schema->path();
  } else {
    tool.input_schema = R"({"type":"object","properties":{}})";
  }
  return tool;
}

// Nothing: a tool that is left out.
Result<std::optional<ToolDefinition>> parse_tool(const JsonPlace& place,
                                                 const ParseOptions& options) {
  ZH_RETURN_IF_ERROR(place.expect_object());
  std::string_view type = "function";
  if (const auto type_place = place.find("type")) {
    ZH_ASSIGN_OR_RETURN(type, type_place->string());
    const bool bare_custom = type == "custom" && place.find("input_schema").has_value();
    if (type != "function" && !bare_custom) {
      if (options.strict()) {
        return type_place->error("tools of type " +
                                 std::string(type.substr(0, limits::kToolNameBytesMax)) +
                                 " are not supported by this server");
      }
      return std::optional<ToolDefinition>();
    }
  }
  if (const auto function = place.find("function")) {
    ZH_ASSIGN_OR_RETURN(ToolDefinition tool, parse_function(*function));
    return std::optional<ToolDefinition>(std::move(tool));
  }
  ZH_ASSIGN_OR_RETURN(ToolDefinition tool, parse_function(place));
  return std::optional<ToolDefinition>(std::move(tool));
}

class ToolList {
 public:
  Result<void> add(const JsonPlace& place, ToolDefinition tool) {
    if (!names_.insert(tool.name).second) {
      return place.error("has the name of an earlier tool: " + tool.name);
    }
    tools_.push_back(std::move(tool));
    return {};
  }
  std::vector<ToolDefinition> take() { return std::move(tools_); }

 private:
  std::vector<ToolDefinition> tools_;
  std::unordered_set<std::string> names_;
};

Result<std::vector<ToolDefinition>> parse_tool_list(const JsonPlace& list,
                                                    const ParseOptions& options) {
  ToolList tools;
  ZH_ASSIGN_OR_RETURN(const std::size_t count, list.array_size(limits::kToolsMax));
  for (std::size_t i = 0; i < count; ++i) {
    const JsonPlace place = list.element(i);
    ZH_ASSIGN_OR_RETURN(auto tool, parse_tool(place, options));
    if (tool) ZH_RETURN_IF_ERROR(tools.add(place, *std::move(tool)));
  }
  return tools.take();
}

Result<std::vector<ToolDefinition>> parse_function_list(const JsonPlace& list) {
  ToolList tools;
  ZH_ASSIGN_OR_RETURN(const std::size_t count, list.array_size(limits::kToolsMax));
  for (std::size_t i = 0; i < count; ++i) {
    const JsonPlace place = list.element(i);
    ZH_ASSIGN_OR_RETURN(ToolDefinition tool, parse_function(place));
    ZH_RETURN_IF_ERROR(tools.add(place, std::move(tool)));
  }
  return tools.take();
}

// `{"name": …}`, inside "function" or on its own.
Result<std::string> parse_named_tool(const JsonPlace& place) {
  ZH_RETURN_IF_ERROR(place.expect_object());
  if (const auto function = place.find("function")) {
    ZH_RETURN_IF_ERROR(function->expect_object());
    ZH_ASSIGN_OR_RETURN(const JsonPlace name, function->require("name"));
    return parse_tool_name(name);
  }
  ZH_ASSIGN_OR_RETURN(const JsonPlace name, place.require("name"));
  return parse_tool_name(name);
}

Result<void> choose_named(const JsonPlace& place, OpenAiTools& set) {
  ZH_ASSIGN_OR_RETURN(std::string name, parse_named_tool(place));
  for (const ToolDefinition& tool : set.tools) {
    if (tool.name != name) continue;
    set.choice.kind = ToolChoiceKind::kTool;
    set.choice.name = std::move(name);
    return {};
  }
  return place.error("names no tool of this request: " + name);
}

Result<void> choose_mode(const JsonPlace& place, OpenAiTools& set) {
  ZH_ASSIGN_OR_RETURN(const std::string_view mode, place.string());
  if (mode == "auto") {
    set.choice.kind = ToolChoiceKind::kAuto;
  } else if (mode == "none") {
    set.choice.kind = ToolChoiceKind::kNone;
  } else if (mode == "required" || mode == "any") {
    set.choice.kind = ToolChoiceKind::kAny;
  } else {
    return place.expected(R"("none", "auto", "required" or an object)");
  }
  return {};
}

Result<void> choose_allowed(const JsonPlace& place, OpenAiTools& set) {
  ZH_RETURN_IF_ERROR(place.expect_object());
  if (const auto mode = place.find("mode")) ZH_RETURN_IF_ERROR(choose_mode(*mode, set));
  ZH_ASSIGN_OR_RETURN(const JsonPlace list, place.require("tools"));
  ZH_ASSIGN_OR_RETURN(const std::size_t count, list.array_size(limits::kToolsMax));
  std::unordered_set<std::string> allowed;
  for (std::size_t i = 0; i < count; ++i) {
    const JsonPlace entry = list.element(i);
    ZH_RETURN_IF_ERROR(entry.expect_object());
    // A tool of the vendor's is named by its type alone, and is left out here as everywhere.
    if (!entry.find("function") && !entry.find("name")) continue;
    ZH_ASSIGN_OR_RETURN(std::string name, parse_named_tool(entry));
    allowed.insert(std::move(name));
  }
  std::erase_if(set.tools,
                [&](const ToolDefinition& tool) { return !allowed.contains(tool.name); });
  return {};
}

Result<void> choose_object(const JsonPlace& place, OpenAiTools& set) {
  std::string_view type = "function";
  if (const auto type_place = place.find("type")) {
    ZH_ASSIGN_OR_RETURN(type, type_place->string());
    if (type == "auto" || type == "any" || type == "none" || type == "required") {
      return choose_mode(*type_place, set);
    }
  }
  if (type == "allowed_tools") {
    if (const auto nested = place.find("allowed_tools")) return choose_allowed(*nested, set);
    return choose_allowed(place, set);
  }
  if (type == "function" || type == "tool") return choose_named(place, set);
  // The choice of a tool that was left out.
  set.choice.kind = ToolChoiceKind::kAuto;
  return {};
}

Result<void> parse_choice(const JsonPlace& place, OpenAiTools& set) {
  if (place.is_string()) return choose_mode(place, set);
  if (place.value().is_object()) return choose_object(place, set);
  return place.expected(R"("none", "auto", "required" or an object)");
}

}  // namespace

Result<OpenAiTools> parse_openai_tools(const JsonPlace& body, const ParseOptions& options) {
  OpenAiTools set;
  std::optional<JsonPlace> choice;
  if (const auto list = body.find("tools")) {
    ZH_ASSIGN_OR_RETURN(set.tools, parse_tool_list(*list, options));
    choice = body.find("tool_choice");
  } else if (const auto functions = body.find("functions")) {
    ZH_ASSIGN_OR_RETURN(set.tools, parse_function_list(*functions));
    set.legacy_functions = true;
    choice = body.find("function_call");
  } else {
    choice = body.find("tool_choice");
  }
  ZH_ASSIGN_OR_RETURN(const auto parallel, parse_openai_flag(body, "parallel_tool_calls"));
  set.choice.parallel = parallel.value_or(true) && !set.legacy_functions;
  if (!choice || (set.tools.empty() && !options.strict())) return set;
  ZH_RETURN_IF_ERROR(parse_choice(*choice, set));
  if (set.tools.empty() && set.choice.kind == ToolChoiceKind::kAny) {
    return choice->error("needs tools");
  }
  return set;
}

Result<std::string> parse_openai_arguments(const JsonPlace& call, std::string_view key) {
  const auto place = call.find(key);
  if (!place) return std::string("{}");
  if (place->value().is_object()) return json_text(place->value());
  ZH_ASSIGN_OR_RETURN(const std::string_view text, place->string());
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return std::string("{}");
  const auto document = parse_json(text);
  if (document.ok() && document->root().is_object()) return json_text(document->root());
  std::string wrapped = R"({"arguments":)";
  append_json_string(text, wrapped);
  wrapped.push_back('}');
  return wrapped;
}

std::string openai_custom_input(std::string_view text) {
  std::string input = R"({"input":)";
  append_json_string(text, input);
  input.push_back('}');
  return input;
}

}  // namespace zerohop
