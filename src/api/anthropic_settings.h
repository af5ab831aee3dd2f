// What a request says about the answer as a whole: thinking, structured output, facts of the
// moment. Internal to api/; the rules are those of anthropic_request.h. Pure functions; any thread.
// Source: Messages API, request.
#pragma once

#include <optional>
#include <string>

#include "api/anthropic_reply_options.h"
#include "api/json_place.h"
#include "api/parse_options.h"
#include "core/content.h"
#include "core/error.h"

namespace zerohop {

struct ThinkingSettings {
  ThinkingMode mode = ThinkingMode::kDefault;
  ThinkingDisplay display = ThinkingDisplay::kShown;
  std::optional<std::int64_t> budget_tokens;
};

/// `thinking`, or the alias `reasoning_effort`.
Result<ThinkingSettings> parse_thinking_settings(const JsonPlace& body,
                                                 const ParseOptions& options);

/// `output_config.format`, its old spelling `output_format`, or the alias `response_format`; two of
/// them that differ are an error. Beside the hosted API's `json_schema` the types of output_rules.h
/// are understood unless strict, and `"strict": false` allows that less is enforced.
Result<OutputRules> parse_output_rules(const JsonPlace& body, const ParseOptions& options);

/// `metadata`: the text of `context`; `user_id` is checked only.
Result<std::string> parse_metadata(const JsonPlace& body, const ParseOptions& options);

/// `diagnostics`: null or an object.
Result<DiagnosticsWish> parse_diagnostics(const JsonPlace& body);

}  // namespace zerohop
