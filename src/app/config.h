// Config: everything that an operator may set, after it has been read and checked. The defaults are
// the initialisers below; names, ranges, flags and help of every member stand in config_table.cc,
// from which docs/CONFIG.md is generated. Plain values, immutable once loaded; any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "api/anthropic_reply_options.h"
#include "base/log.h"
#include "core/limits.h"
#include "model/llama_model.h"
#include "model/model.h"
#include "prompt/prompt_habits.h"

namespace zerohop {

struct ServerConfig {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8080;  ///< 0: any free one
  std::string unix_socket;    ///< a path; listened on instead of host and port
  std::uint32_t connections_max = limits::kConnectionsMax;
  std::uint64_t body_bytes_max = limits::kBodyBytesMax;
  std::uint32_t head_timeout_seconds = limits::kHeadTimeout.count();
  std::uint32_t body_timeout_seconds = limits::kBodyTimeout.count();
  std::uint32_t idle_timeout_seconds = limits::kIdleTimeout.count();
  std::uint32_t write_timeout_seconds = limits::kWriteTimeout.count();
  std::uint32_t drain_seconds = 30;
};

/// A name that is neither the model's nor an alias.
enum class UnknownModelPolicy : std::uint8_t {
  kDefault,   ///< served by the default tier
  kNotFound,  ///< answered with 404
};

struct ModelConfig {
  static constexpr std::uint32_t kAllLayers = std::numeric_limits<std::uint32_t>::max();

  std::string name = "smollm2-135m";    ///< a known name, or the path of a GGUF file
  std::string default_system = "auto";  ///< see default_system_of() in model_options.h
  std::uint32_t gpu_layers = kAllLayers;
  std::vector<std::string> devices;  ///< empty: all
  std::uint32_t main_gpu = 0;
  LlamaSplitMode split_mode = LlamaSplitMode::kLayer;
  std::vector<double> tensor_split;            ///< empty: by free memory
  std::map<std::string, std::string> aliases;  ///< pattern with `*` → tier
  UnknownModelPolicy unknown_name = UnknownModelPolicy::kDefault;
};

enum class KvLayoutChoice : std::uint8_t { kAuto, kUnified, kStreams };

struct EngineConfig {
  std::uint32_t context_tokens = 0;  ///< window of one request; 0: what the model allows
  std::uint32_t sequences = 8;
  std::uint32_t kv_cells = 0;  ///< of the whole pool; 0: sequences × window, as memory allows
  std::uint32_t threads = 0;   ///< 0: as many as there are usable cores
  std::uint32_t batch_rows = limits::kBatchRowsMax;
  std::uint32_t itl_objective_ms = limits::kItlObjective.count();
  KvLayoutChoice kv_layout = KvLayoutChoice::kAuto;
  FlashAttention flash_attention = FlashAttention::kAuto;
  bool deterministic = false;
};

struct LimitsConfig {
  std::uint32_t requests_max = limits::kRequestsMax;
  std::uint32_t default_max_tokens = limits::kDefaultMaxTokens;
};

struct InstanceConfig {
  std::string id;  ///< never empty after loading
  std::string pool = "cpu";
  std::map<std::string, std::string> labels;
};

struct LogConfig {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kJson;
};

struct StreamConfig {
  std::uint32_t ping_seconds = 5;  ///< of silence; 0: no pings
};

/// How requests are read and answers are written.
struct WireConfig {
  bool strict = false;
  StreamProfile stream_profile = StreamProfile::kFull;
  Heartbeat heartbeat = Heartbeat::kPing;
  std::vector<std::string> default_stop_sequences;
  std::map<std::string, std::string> profiles;          ///< see wire_profile.h
  std::map<std::string, std::string> version_profiles;  ///< anthropic-version → profile
};

/// What is done to prompts so that later requests find their beginning in the cache.
struct PromptConfig {
  PromptHabits habits;
};

struct DocumentsConfig {
  std::uint64_t pdf_bytes_max = std::uint64_t{32} << 20;
  std::uint32_t pages_max = 600;
  std::uint32_t timeout_seconds = 20;
};

struct EmbeddingsConfig {
  std::string model;  ///< a known name, or the path of a GGUF file; empty: the served model
};

struct BatchesConfig {
  std::string folder = "auto";  ///< empty: no batches
  std::uint32_t parallel = 1;
};

struct AuthConfig {
  bool no_auth = false;
};

struct Config {
  ServerConfig server;
  ModelConfig model;
  EngineConfig engine;
  LimitsConfig limits;
  InstanceConfig instance;
  LogConfig log;
  StreamConfig stream;
  WireConfig wire;
  PromptConfig prompt;
  DocumentsConfig documents;
  EmbeddingsConfig embeddings;
  BatchesConfig batches;
  AuthConfig auth;
};

}  // namespace zerohop
