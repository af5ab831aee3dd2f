#include "api/anthropic_tools.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "api/anthropic_tool_table.h"
#include "api/json_value_writer.h"
#include "api/live_arguments.h"
#include "core/limits.h"

namespace zerohop {
namespace {

constexpr std::string_view kNoParameters = R"({"type":"object","properties":{}})";

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

bool is_printable(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte != 0x7f;
}

Result<std::string> parse_name(const JsonPlace& place, const ParseOptions& options) {
  ZH_ASSIGN_OR_RETURN(const std::string_view name, place.string());
  if (name.empty() || name.size() > limits::kToolNameBytesMax) {
    return place.error("must be from 1 to " + std::to_string(limits::kToolNameBytesMax) +
                       " bytes long, got " + std::to_string(name.size()));
  }
  if (options.strict() && !std::ranges::all_of(name, is_name_character)) {
    return place.error("must hold letters, digits, underscores and hyphens only");
  }
  if (!std::ranges::all_of(name, is_printable)) {
    return place.error("must hold printable characters only");
  }
  return std::string(name);
}

Result<bool> optional_flag(const JsonPlace& parent, std::string_view key) {
  const auto place = parent.find(key);
  if (!place) return false;
  return place->boolean();
}

// Examples are shown behind the description: that is where a model looks for them.
Result<void> read_description(const JsonPlace& tool, ToolDefinition& definition) {
  if (const auto place = tool.find("description")) {
    ZH_ASSIGN_OR_RETURN(const std::string_view text, place->string());
    definition.description = text;
  }
  const auto examples = tool.find("input_examples");
  if (!examples) return {};
  ZH_ASSIGN_OR_RETURN(const std::size_t count, examples->array_size(limits::kJsonValuesMax));
  for (std::size_t i = 0; i < count; ++i) {
    const JsonPlace example = examples->element(i);
    ZH_RETURN_IF_ERROR(example.expect_object());
    if (!definition.description.empty()) definition.description.push_back('\n');
    definition.description.append("Example input: ");
    append_json_value(example.value(), definition.description);
  }
  return {};
}

// What every kind of tool may say of itself.
Result<void> read_flags(const JsonPlace& tool, ToolDefinition& definition) {
  ZH_ASSIGN_OR_RETURN(definition.strict, optional_flag(tool, "strict"));
  ZH_ASSIGN_OR_RETURN(definition.deferred, optional_flag(tool, "defer_loading"));
  ZH_RETURN_IF_ERROR(parse_live_arguments(tool, definition));
  ZH_RETURN_IF_ERROR(optional_flag(tool, "eager_input_streaming"));  // arguments always stream
  if (const auto callers = tool.find("allowed_callers")) {
    ZH_RETURN_IF_ERROR(callers->array_size(limits::kJsonValuesMax));
  }
  return {};
}

// Into `definition`, with its place.
Result<void> read_schema(const JsonPlace& tool, std::string_view key, const ParseOptions& options,
                         ToolDefinition& definition) {
  const auto place = tool.find(key);
  if (!place) {
    if (options.strict()) ZH_RETURN_IF_ERROR(tool.require(key));
    definition.input_schema = kNoParameters;
    return {};
  }
  ZH_RETURN_IF_ERROR(place->expect_object());
  if (options.strict()) {
    ZH_ASSIGN_OR_RETURN(const JsonPlace type, place->require("type"));
    ZH_ASSIGN_OR_RETURN(const std::string_view name, type.string());
    if (name != "object") return type.expected("\"object\"");
  }
  definition.input_schema = json_text(place->value());
  definition.field = place->path();
  return {};
}

// Reads the entries of one request's `tools`, one after the other.
class ToolReader {
 public:
  ToolReader(const ParseOptions& options, AnthropicTools& tools)
      : options_(options), tools_(tools) {}

  Result<void> read(const JsonPlace& tool) {
    ZH_RETURN_IF_ERROR(tool.expect_object());
    const auto type_place = tool.find("type");
    if (!type_place) return read_custom(tool);
    ZH_ASSIGN_OR_RETURN(const std::string_view type, type_place->string());
    if (type == "custom") return read_custom(tool);
    if (type == "function" && !options_.strict()) return read_function(tool);
    if (const Toolset* toolset = find_toolset(type)) return read_toolset(tool, *toolset);
    if (const KnownTool* known = find_known_tool(type)) return read_known(tool, *known);
    if (is_server_tool(type)) return drop_hosted(tool, *type_place, type);
    if (!options_.strict() && tool.find("input_schema")) return read_custom(tool);
    return type_place->expected("a known tool type");
  }

 private:
  Result<void> read_custom(const JsonPlace& tool) {
    ToolDefinition definition;
    ZH_ASSIGN_OR_RETURN(const JsonPlace name, tool.require("name"));
    ZH_ASSIGN_OR_RETURN(definition.name, parse_name(name, options_));
    ZH_RETURN_IF_ERROR(read_description(tool, definition));
    ZH_RETURN_IF_ERROR(read_flags(tool, definition));
    ZH_RETURN_IF_ERROR(read_schema(tool, "input_schema", options_, definition));
    return add(name, std::move(definition));
  }

  // The other dialect's form: {"type": "function", "function": {name, description, parameters}},
  // or the same without the inner object.
  Result<void> read_function(const JsonPlace& tool) {
    const auto inner = tool.find("function");
    const JsonPlace& function = inner ? *inner : tool;
    ZH_RETURN_IF_ERROR(function.expect_object());
    ToolDefinition definition;
    ZH_ASSIGN_OR_RETURN(const JsonPlace name, function.require("name"));
    ZH_ASSIGN_OR_RETURN(definition.name, parse_name(name, options_));
    ZH_RETURN_IF_ERROR(read_description(function, definition));
    ZH_RETURN_IF_ERROR(read_flags(function, definition));
    ZH_RETURN_IF_ERROR(read_schema(function, "parameters", options_, definition));
    return add(name, std::move(definition));
  }

  Result<void> read_known(const JsonPlace& tool, const KnownTool& known) {
    ToolDefinition definition;
    definition.name = known.name;
    const auto name = tool.find("name");
    if (name) {
      ZH_ASSIGN_OR_RETURN(definition.name, parse_name(*name, options_));
      if (options_.strict() && definition.name != known.name) {
        return name->expected("\"" + std::string(known.name) + "\"");
      }
    } else if (options_.strict()) {
      ZH_RETURN_IF_ERROR(tool.require("name"));
    }
    ZH_RETURN_IF_ERROR(read_description(tool, definition));
    definition.description = std::string(known.description) +
                             (definition.description.empty() ? "" : "\n") + definition.description;
    ZH_RETURN_IF_ERROR(read_display(tool, known, definition));
    ZH_RETURN_IF_ERROR(read_flags(tool, definition));
    definition.input_schema = known.schema;
    return add(name ? *name : tool, std::move(definition));
  }

  // A model that is to click somewhere needs to know how large the screen is.
  Result<void> read_display(const JsonPlace& tool, const KnownTool& known,
                            ToolDefinition& definition) {
    if (known.name != "computer") return {};
    constexpr IntegerRange kPixels{1, 1'000'000};
    const auto width = tool.find("display_width_px");
    const auto height = tool.find("display_height_px");
    if (options_.strict()) {
      ZH_RETURN_IF_ERROR(tool.require("display_width_px"));
      ZH_RETURN_IF_ERROR(tool.require("display_height_px"));
    }
    if (!width || !height) return {};
    ZH_ASSIGN_OR_RETURN(const std::int64_t columns, width->integer(kPixels));
    ZH_ASSIGN_OR_RETURN(const std::int64_t rows, height->integer(kPixels));
    definition.description += " The screen is " + std::to_string(columns) + " pixels wide and " +
                              std::to_string(rows) + " high.";
    return {};
  }

  Result<void> read_toolset(const JsonPlace& tool, const Toolset& toolset) {
    const auto configs = tool.find("configs");
    if (configs) ZH_RETURN_IF_ERROR(configs->expect_object());
    for (const ToolsetMember& member : toolset.members) {
      ToolDefinition definition;
      bool enabled = true;
      if (const auto config = configs ? configs->find(member.name) : std::nullopt) {
        ZH_RETURN_IF_ERROR(config->expect_object());
        if (config->find("enabled")) {
          ZH_ASSIGN_OR_RETURN(enabled, optional_flag(*config, "enabled"));
        }
        ZH_ASSIGN_OR_RETURN(definition.deferred, optional_flag(*config, "defer_loading"));
      }
      if (!enabled) continue;
      definition.name = has(member.name)
                            ? std::string(toolset.name) + "_" + std::string(member.name)
                            : std::string(member.name);
      definition.description = member.description;
      definition.input_schema = member_schema(member);
      tools_.toolset_calls.push_back(
          {definition.name, std::string(member.name), std::string(toolset.name)});
      ZH_RETURN_IF_ERROR(add(tool, std::move(definition)));
    }
    return {};
  }

  Result<void> drop_hosted(const JsonPlace& tool, const JsonPlace& type_place,
                           std::string_view type) {
    if (options_.strict()) {
      return type_place.error(std::string(type) +
                              " runs on the hosted API only and is not supported by this server");
    }
    const std::string_view name = tool.text_or_empty("name");
    tools_.hosted.emplace_back(name.empty() ? type : name);
    return {};
  }

  bool has(std::string_view name) const {
    return std::ranges::find(tools_.definitions, name, &ToolDefinition::name) !=
           tools_.definitions.end();
  }

  Result<void> add(const JsonPlace& name, ToolDefinition definition) {
    if (has(definition.name)) {
      Error error =
          name.error("more than one tool is named " + definition.name + "; names must be unique");
      error.detail = "tool_name_conflict";
      return error;
    }
    if (tools_.definitions.size() >= limits::kToolsMax) {
      Error error =
          name.error("a request may have at most " + std::to_string(limits::kToolsMax) + " tools");
      error.detail = "available_tools_limit_exceeded";
      return error;
    }
    tools_.definitions.push_back(std::move(definition));
    return {};
  }

  const ParseOptions& options_;
  AnthropicTools& tools_;
};

// ---- Changes in the middle of a conversation ----

Result<void> add_definition(const JsonPlace& tool, const ParseOptions& options,
                            AnthropicTools& tools) {
  ZH_ASSIGN_OR_RETURN(const JsonPlace definition, tool.require("definition"));
  // Given back by a client that keeps the whole conversation: the newest one counts.
  std::erase_if(tools.definitions, [name = definition.text_or_empty("name")](const auto& known) {
    return known.name == name;
  });
  return ToolReader(options, tools).read(definition);
}

}  // namespace

std::string AnthropicTools::model_name(std::string_view toolset, std::string_view name) const {
  if (toolset.empty()) return std::string(name);
  for (const ToolsetCall& call : toolset_calls) {
    if (call.toolset == toolset && call.member == name) return call.model_name;
  }
  return std::string(name);
}

Result<AnthropicTools> parse_anthropic_tools(const JsonPlace& body, const ParseOptions& options,
                                             CacheMarks& marks) {
  AnthropicTools tools;
  const auto place = body.find("tools");
  if (!place) return tools;
  ZH_ASSIGN_OR_RETURN(const std::size_t count, place->array_size(limits::kToolsMax));
  ToolReader reader(options, tools);
  for (std::size_t i = 0; i < count; ++i) {
    const JsonPlace tool = place->element(i);
    ZH_RETURN_IF_ERROR(reader.read(tool));
    if (!tools.definitions.empty()) marks.pass({CacheMark::Place::kTools, 0, 0});
    ZH_RETURN_IF_ERROR(marks.take(tool));
  }
  return tools;
}

bool is_tool_change(std::string_view type) {
  return type == "tool_addition" || type == "tool_removal";
}

Result<void> apply_tool_change(const JsonPlace& block, const ParseOptions& options,
                               AnthropicTools& tools) {
  const bool adds = block.text_or_empty("type") == "tool_addition";
  ZH_ASSIGN_OR_RETURN(const JsonPlace tool, block.require("tool"));
  ZH_RETURN_IF_ERROR(tool.expect_object());
  ZH_ASSIGN_OR_RETURN(const JsonPlace type_place, tool.require("type"));
  ZH_ASSIGN_OR_RETURN(const std::string_view type, type_place.string());
  if (type == "tool_definition" && adds) return add_definition(tool, options, tools);
  // Tools of MCP servers are not here to be added or removed.
  if (type == "mcp_tool_reference" || type == "mcp_toolset_reference") return {};
  if (type != "tool_reference") return type_place.expected("\"tool_reference\"");
  ZH_ASSIGN_OR_RETURN(const JsonPlace name_place, tool.require("name"));
  ZH_ASSIGN_OR_RETURN(const std::string_view name, name_place.string());
  const auto found = std::ranges::find(tools.definitions, name, &ToolDefinition::name);
  if (found != tools.definitions.end()) {
    if (adds) {
      found->deferred = false;
    } else {
      tools.definitions.erase(found);
    }
    return {};
  }
  if (!options.strict()) return {};
  Error error = name_place.error("names no tool of this request");
  error.detail = "tool_reference_unresolved";
  return error;
}

}  // namespace zerohop
