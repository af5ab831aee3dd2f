// The part of an Anthropic request that steers generation: max_tokens, sampling, stop sequences.
//
// Fields of other APIs that clients send all the same are found through anthropic_foreign_fields.h.
// Internal to api/; the rules are those of anthropic_request.h. Pure; any thread.
#pragma once

#include "api/json_place.h"
#include "api/parse_options.h"
#include "core/error.h"
#include "core/request.h"

namespace zerohop {

/// `body` is an object. `top_p` 0 becomes the smallest positive float: only the likeliest token.
/// A negative `seed` keeps its bits.
Result<GenerationParameters> parse_anthropic_generation(const JsonPlace& body,
                                                        const ParseOptions& options);

}  // namespace zerohop
