// A request after parsing: typed, validated, free of any dialect. What could be wrong with it has
// been refused by the parser (api/), so later code does not check again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/token.h"

namespace zerohop {

enum class Role : std::uint8_t { kUser, kAssistant, kSystem };

struct TextBlock {
  std::string text;  ///< valid UTF-8
};

/// The kinds of content. A new kind is a new alternative; std::visit finds every place to extend.
using ContentBlock = std::variant<TextBlock>;

struct Message {
  Role role = Role::kUser;
  std::vector<ContentBlock> content;
};

struct LogitBias {
  Token token = 0;
  float bias = 0;  ///< added to the raw logit; ±infinity allowed
};

/// Sampling in the terms of engine/sampler.h. The defaults sample from the whole distribution.
struct SamplingParameters {
  float temperature = 1.0f;  ///< ≥ 0; 0 is greedy
  float top_p = 1.0f;        ///< (0, 1]
  float min_p = 0.0f;        ///< [0, 1]
  std::int32_t top_k = 0;    ///< 0: off
  std::optional<std::uint64_t> seed;
  std::vector<LogitBias> logit_bias;
};

struct GenerationParameters {
  std::uint32_t max_tokens = 0;  ///< 0: compute the prompt, generate nothing
  SamplingParameters sampling;
  std::vector<std::string> stop_sequences;  ///< in the client's order; none empty
};

/// What the model reads.
struct Conversation {
  std::vector<TextBlock> system;
  std::vector<Message> messages;  ///< not empty
};

struct ChatRequest {
  std::string model;  ///< as the client named it; may be empty (default tier)
  Conversation conversation;
  GenerationParameters generation;
  bool stream = false;
};

}  // namespace zerohop
