// What a request says about how it is served: how urgently, and what may be done about the length
// of its answer. Internal to api/. Pure functions; any thread.
#pragma once

#include <string_view>

#include "api/json_place.h"
#include "api/parse_options.h"
#include "core/error.h"
#include "core/request.h"
#include "core/tenant.h"

namespace zerohop {

/// `service_tier`: what it asks for, and the name by which the dialect's reply says what it got.
struct ServiceTier {
  PriorityClass priority = PriorityClass::kStandard;
  std::string_view answer;  ///< static text; empty: the request named none
};

/// `auto` and `standard_only` are served alike: there is no other tier here. Unknown names too,
/// unless strict.
Result<ServiceTier> parse_anthropic_service_tier(const JsonPlace& body,
                                                 const ParseOptions& options);

/// `flex` waits for everybody else, `priority` goes first; `auto`, `default` and, unless strict,
/// unknown names are the standard.
Result<ServiceTier> parse_openai_service_tier(const JsonPlace& body, const ParseOptions& options);

/// Our own fields of both dialects: `soft_max_tokens`, and `soft_cap` with `at`, `stop` (a string
/// or an array) and `sentence`, which is true where there is no `stop`.
Result<void> parse_answer_limits(const JsonPlace& body, GenerationParameters& generation);

}  // namespace zerohop
