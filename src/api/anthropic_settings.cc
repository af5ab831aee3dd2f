#include "api/anthropic_settings.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "api/output_rules.h"
#include "core/limits.h"

namespace zerohop {
namespace {

constexpr std::int64_t kThinkingBudgetMin = 1'024;  // of the hosted API
constexpr std::array<std::string_view, 5> kEfforts{"low", "medium", "high", "xhigh", "max"};

Result<std::optional<std::int64_t>> parse_budget(const JsonPlace& thinking,
                                                 const ParseOptions& options) {
  using Budget = std::optional<std::int64_t>;
  const auto place = thinking.find("budget_tokens");
  if (!place) {
    if (options.strict()) ZH_RETURN_IF_ERROR(thinking.require("budget_tokens"));
    return Budget();
  }
  const std::int64_t least = options.strict() ? kThinkingBudgetMin : 0;
  ZH_ASSIGN_OR_RETURN(const std::int64_t tokens,
                      place->integer({least, std::numeric_limits<std::int32_t>::max()}));
  return Budget(tokens);
}

Result<ThinkingDisplay> parse_display(const JsonPlace& thinking, const ParseOptions& options) {
  const auto place = thinking.find("display");
  if (!place) return ThinkingDisplay::kShown;
  ZH_ASSIGN_OR_RETURN(const std::string_view display, place->string());
  if (display == "omitted") return ThinkingDisplay::kOmitted;
  const bool known = display == "summarized" || display == "updates";
  if (!known && options.strict()) return place->expected("\"summarized\" or \"omitted\"");
  return ThinkingDisplay::kShown;
}

Result<ThinkingSettings> parse_thinking_object(const JsonPlace& thinking,
                                               const ParseOptions& options) {
  ZH_RETURN_IF_ERROR(thinking.expect_object());
  ThinkingSettings settings;
  ZH_ASSIGN_OR_RETURN(const JsonPlace type_place, thinking.require("type"));
  ZH_ASSIGN_OR_RETURN(const std::string_view type, type_place.string());
  if (type == "enabled") {
    settings.mode = ThinkingMode::kEnabled;
    ZH_ASSIGN_OR_RETURN(settings.budget_tokens, parse_budget(thinking, options));
  } else if (type == "adaptive") {
    settings.mode = ThinkingMode::kEnabled;
  } else if (type == "disabled" || type == "between_tools") {
    settings.mode = ThinkingMode::kDisabled;
  } else {
    return type_place.expected("\"enabled\", \"adaptive\", \"between_tools\" or \"disabled\"");
  }
  ZH_ASSIGN_OR_RETURN(settings.display, parse_display(thinking, options));
  return settings;
}

// ---- Structured output ----

// Of the hosted API in strict mode: one type, spelled in one way.
Result<void> check_format_strictly(const JsonPlace& format) {
  ZH_RETURN_IF_ERROR(format.expect_object());
  ZH_ASSIGN_OR_RETURN(const JsonPlace type, format.require("type"));
  ZH_ASSIGN_OR_RETURN(const std::string_view name, type.string());
  if (name != "json_schema") return type.expected("\"json_schema\"");
  ZH_ASSIGN_OR_RETURN(const JsonPlace schema, format.require("schema"));
  return schema.expect_object();
}

Result<void> take_format(const JsonPlace& parent, std::string_view key, const ParseOptions& options,
                         OutputRulesOf& found) {
  const auto format = parent.find(key);
  if (!format) return {};
  if (options.strict()) ZH_RETURN_IF_ERROR(check_format_strictly(*format));
  // In the other dialect's form less than the whole schema may be enforced unless it says `strict`.
  const bool foreign = !options.strict() && format->find("json_schema").has_value();
  const StrictByDefault absent = foreign ? StrictByDefault::kNo : StrictByDefault::kYes;
  ZH_ASSIGN_OR_RETURN(OutputRules rules, parse_output_format(*format, absent));
  return found.take(*format, std::move(rules));
}

Result<void> check_effort(const JsonPlace& config, const ParseOptions& options) {
  const auto place = config.find("effort");
  if (!place) return {};
  ZH_ASSIGN_OR_RETURN(const std::string_view effort, place->string());
  const bool known = std::ranges::find(kEfforts, effort) != kEfforts.end();
  if (known || !options.strict()) return {};
  return place->expected("\"low\", \"medium\", \"high\", \"xhigh\" or \"max\"");
}

Result<void> check_string_within(const JsonPlace& place, std::size_t most) {
  ZH_ASSIGN_OR_RETURN(const std::string_view text, place.string());
  if (text.size() <= most) return {};
  return place.error("must be at most " + std::to_string(most) + " bytes long, got " +
                     std::to_string(text.size()));
}

}  // namespace

Result<ThinkingSettings> parse_thinking_settings(const JsonPlace& body,
                                                 const ParseOptions& options) {
  if (const auto thinking = body.find("thinking")) {
    return parse_thinking_object(*thinking, options);
  }
  ThinkingSettings settings;
  if (const auto place = body.find("reasoning_effort")) {
    ZH_ASSIGN_OR_RETURN(const std::string_view effort, place->string());
    settings.mode = effort == "none" ? ThinkingMode::kDisabled : ThinkingMode::kEnabled;
  }
  return settings;
}

Result<OutputRules> parse_output_rules(const JsonPlace& body, const ParseOptions& options) {
  OutputRulesOf found;
  if (const auto config = body.find("output_config")) {
    ZH_RETURN_IF_ERROR(config->expect_object());
    ZH_RETURN_IF_ERROR(check_effort(*config, options));
    if (const auto budget = config->find("task_budget")) {
      ZH_RETURN_IF_ERROR(budget->expect_object());
    }
    ZH_RETURN_IF_ERROR(take_format(*config, "format", options, found));
  }
  ZH_RETURN_IF_ERROR(take_format(body, "output_format", options, found));
  if (!options.strict()) ZH_RETURN_IF_ERROR(take_format(body, "response_format", options, found));
  return found.release();
}

Result<DiagnosticsWish> parse_diagnostics(const JsonPlace& body) {
  DiagnosticsWish wish;
  const auto place = body.find("diagnostics");
  if (!place) return wish;
  ZH_RETURN_IF_ERROR(place->expect_object());
  wish.any = true;
  if (const auto previous = place->find("previous_message_id")) {
    ZH_RETURN_IF_ERROR(previous->string());
    wish.cache_miss = true;
  }
  if (const auto breakdown = place->find("prompt_breakdown")) {
    ZH_ASSIGN_OR_RETURN(wish.prompt_breakdown, breakdown->boolean());
  }
  return wish;
}

Result<std::string> parse_metadata(const JsonPlace& body, const ParseOptions& options) {
  std::string context;
  const auto metadata = body.find("metadata");
  if (!metadata) return context;
  ZH_RETURN_IF_ERROR(metadata->expect_object());
  if (const auto user = metadata->find("user_id")) {
    const std::size_t most =
        options.strict() ? limits::kUserIdBytesMax : std::numeric_limits<std::size_t>::max();
    ZH_RETURN_IF_ERROR(check_string_within(*user, most));
  }
  if (const auto place = metadata->find("context")) {
    ZH_RETURN_IF_ERROR(check_string_within(*place, limits::kVolatileContextBytesMax));
    context = place->string().value();
  }
  return context;
}

}  // namespace zerohop
