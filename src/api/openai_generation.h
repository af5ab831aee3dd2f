// The part of an OpenAI request that steers generation: output limit, sampling, stop sequences,
// number of choices. Beside the official fields those of llama-server and vLLM are understood:
// `top_k`, `min_p`, `repetition_penalty` (also as `repeat_penalty`).
//
// Internal to api/; the rules are those of openai_chat_request.h. Pure; any thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "api/json_place.h"
#include "api/parse_options.h"
#include "core/error.h"
#include "core/request.h"

namespace zerohop {

/// Most answers to one prompt: each is a sequence of its own in the engine.
inline constexpr std::int64_t kOpenAiChoicesMax = 8;

/// The first of `fields` (literals) that is present; else ParseOptions::default_max_tokens. -1, by
/// which several local servers mean "no limit", is the default too unless strict.
Result<std::uint32_t> parse_openai_max_tokens(const JsonPlace& body,
                                              std::initializer_list<std::string_view> fields,
                                              const ParseOptions& options);

/// `top_p` 0 becomes the smallest positive float: only the likeliest token. `top_k` -1 is 0: off.
/// `seed` -1 is no seed, as in llama-server and vLLM; other negative seeds keep their bits.
Result<SamplingParameters> parse_openai_sampling(const JsonPlace& body,
                                                 const ParseOptions& options);

/// `stop`: a string or an array. Empty strings stop nothing and are left out; an error when strict.
Result<std::vector<std::string>> parse_openai_stop(const JsonPlace& body,
                                                   const ParseOptions& options);

/// `n`, from 1 to kOpenAiChoicesMax; 1 when absent.
Result<std::uint32_t> parse_openai_choices(const JsonPlace& body);

}  // namespace zerohop
