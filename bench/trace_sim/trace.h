// Recorded arrivals of requests, in three public forms.
//
//   Mooncake  JSON lines: timestamp (ms), input_length, output_length, hash_ids. An id stands for a
//             block of 512 prompt tokens together with all before it: equal ids, equal prefix
//   Azure     CSV: TIMESTAMP,ContextTokens,GeneratedTokens
//   VTC       one JSON object: result.responses[] with adapter_dir (the client), prompt_len,
//             output_len, req_time (s)
//
// Plain functions of the text; errors name the line or the path of the field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace zerohop::trace_sim {

/// Tokens of a Mooncake block.
inline constexpr std::uint32_t kBlockTokens = 512;

struct BlockRequest {
  double seconds = 0;  ///< arrival
  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 0;
  std::vector<std::uint32_t> blocks;  ///< never empty
};

struct LengthRequest {
  double seconds = 0;  ///< arrival, since the first one
  std::string client;  ///< empty: the trace names none
  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 0;
};

using BlockTrace = std::vector<BlockRequest>;
using LengthTrace = std::vector<LengthRequest>;

enum class TraceForm : std::uint8_t { kMooncake, kAzure, kVtc };

/// By the first line. Errors: kInvalidRequest when it looks like none of them.
Result<TraceForm> trace_form(std::string_view text);

/// Each in order of arrival and not empty. Errors: kInvalidRequest.
Result<BlockTrace> parse_mooncake(std::string_view text);
Result<LengthTrace> parse_azure(std::string_view text);
Result<LengthTrace> parse_vtc(std::string_view text);

/// Errors: kNotFound.
Result<std::string> read_trace(const std::string& path);

}  // namespace zerohop::trace_sim
