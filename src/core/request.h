// A request after parsing: typed, validated, free of any dialect. What could be wrong with it has
// been refused by the parser (api/), so later code does not check again.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/content.h"
#include "core/tenant.h"
#include "core/token.h"

namespace zerohop {

enum class Role : std::uint8_t { kUser, kAssistant, kSystem };

struct Message {
  Role role = Role::kUser;
  std::vector<ContentBlock> content;
};

/// Where a client ended the part of its prompt that it will send again: behind the tools, behind
/// the system prompt, or behind block `block` of message `message`.
struct CacheMark {
  enum class Place : std::uint8_t { kTools, kSystem, kMessage };
  Place place = Place::kMessage;
  std::size_t message = 0;
  std::size_t block = 0;  ///< an index into the message's content; its size: behind all of it
  /// How long after its last use that part is worth keeping: the longest of all marks.
  std::chrono::seconds lifetime{300};
};

/// What the model reads.
struct Conversation {
  std::vector<TextBlock> system;
  std::vector<Message> messages;  ///< not empty
  std::vector<ToolDefinition> tools;
  ToolChoice tool_choice;  ///< means nothing without tools
  /// Calls are valid by construction; false: the model writes them as it likes.
  bool constrain_tools = true;
  ThinkingMode thinking = ThinkingMode::kDefault;
  OutputRules output;
  /// The last of the client's marks, in the order tools, system, messages.
  std::optional<CacheMark> cache_mark;
  /// Facts of this one request (the time, where the user is): shown to the model behind everything
  /// that a later request may share.
  std::string volatile_context;
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

  // Penalties look at what this answer holds so far; the last one at the prompt too.
  float presence_penalty = 0.0f;   ///< subtracted from the logit of a token that occurred
  float frequency_penalty = 0.0f;  ///< subtracted once for each occurrence
  /// > 0; 1: off. Logits of tokens that occurred are divided by it, or multiplied if negative.
  float repetition_penalty = 1.0f;
};

/// How an answer that comes near its limit is brought to a clean end.
struct SoftCap {
  double at = 0.85;                ///< [0, 1): share of the answer's limit, after which …
  std::vector<std::string> stops;  ///< … these end it like stop sequences; none empty
  bool sentence_end = true;        ///< … and so does the end of a sentence, which is shown
};

struct GenerationParameters {
  std::uint32_t max_tokens = 0;  ///< 0: compute the prompt, generate nothing
  SamplingParameters sampling;
  std::vector<std::string> stop_sequences;  ///< in the client's order; none empty
  /// Nothing: no log-probabilities. 0: of the chosen tokens; n: of the n likeliest as well.
  std::optional<std::uint32_t> top_logprobs;
  PriorityClass priority = PriorityClass::kStandard;
  /// The answer may be made shorter while cells are scarce; nothing: as the server is configured.
  std::optional<bool> soft_max_tokens;
  std::optional<SoftCap> soft_cap;  ///< nothing: as the server is configured
};

/// Names and values that a client gave its request, for metrics and logs.
using RequestLabels = std::vector<std::pair<std::string, std::string>>;

struct ChatRequest {
  std::string model;  ///< as the client named it; may be empty (default tier)
  Conversation conversation;
  GenerationParameters generation;
  bool stream = false;
  std::uint32_t choices = 1;  ///< answers to the same prompt, independently sampled
  RequestLabels labels;
};

}  // namespace zerohop
