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
#include "cache/prefix_cache.h"
#include "core/limits.h"
#include "engine/speculation.h"
#include "http/server_options.h"
#include "model/llama_model.h"
#include "model/model.h"
#include "prompt/prompt_habits.h"

namespace zerohop {

/// Whether a crash may leave a file with the memory of the process, keys and prompts included.
enum class CoreDumps : std::uint8_t { kForbid, kAllow };

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
  ProxyPolicy proxy_protocol = ProxyPolicy::kOff;
  std::vector<std::string> proxy_protocol_from;  ///< networks, see IpNetwork
  std::uint32_t address_connections_max = limits::kAddressConnectionsMax;         ///< 0: no limit
  std::uint32_t address_requests_per_minute = limits::kAddressRequestsPerMinute;  ///< likewise
  std::vector<std::string> address_exempt{"127.0.0.0/8", "::1/128"};
  CoreDumps core_dumps = CoreDumps::kForbid;
};

/// Whether a client's certificate stands for a key.
enum class ClientIdentity : std::uint8_t {
  kOff,
  kKey,  ///< the key that is named as the certificate is
};

struct TlsConfig {
  std::string certificate;  ///< PEM files; empty: no TLS
  std::string private_key;
  std::string client_ca;
  ClientCertificates client_certificates = ClientCertificates::kOff;
  ClientIdentity client_identity = ClientIdentity::kOff;
  std::uint32_t watch_seconds = 10;  ///< 0: only a SIGHUP makes them be read again
};

/// A name that is neither the model's nor an alias.
enum class UnknownModelPolicy : std::uint8_t {
  kDefault,   ///< served by the default tier
  kNotFound,  ///< answered with 404
};

/// Whether a model is converted to what this machine computes fastest (model_prepare.h).
enum class PreparePolicy : std::uint8_t {
  kOff,
  kSafe,  ///< as long as its predictions stay close to the original's
  kFast,  ///< also at a price in quality, which is then told
};

struct ModelConfig {
  static constexpr std::uint32_t kAllLayers = std::numeric_limits<std::uint32_t>::max();

  std::string name = "smollm2-135m";    ///< a known name, or the path of a GGUF file
  std::string default_system = "auto";  ///< see default_system_of() in model_options.h
  PreparePolicy prepare = PreparePolicy::kSafe;
  double prepare_kl_max = 0.02;  ///< nats a token, for kSafe
  std::uint64_t prepare_bytes_max = std::uint64_t{2} << 30;
  std::uint32_t gpu_layers = kAllLayers;
  std::vector<std::string> devices;  ///< empty: all
  std::uint32_t main_gpu = 0;
  LlamaSplitMode split_mode = LlamaSplitMode::kLayer;
  std::vector<double> tensor_split;            ///< empty: by free memory
  std::map<std::string, std::string> aliases;  ///< pattern with `*` → tier
  UnknownModelPolicy unknown_name = UnknownModelPolicy::kDefault;
};

enum class KvLayoutChoice : std::uint8_t { kAuto, kUnified, kStreams };

/// What models with a sliding window keep.
enum class WindowCache : std::uint8_t {
  kFull,    ///< every token: any prefix can be reused
  kWindow,  ///< the window only: fewer cells, prefixes through saved states
};

struct EngineConfig {
  static constexpr std::uint64_t kAutoBytes = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint32_t kAutoSequences = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t context_tokens = 0;  ///< window of one request; 0: what the model allows
  std::uint32_t sequences = 8;
  std::uint32_t kv_cells = 0;    ///< of the whole pool; 0: sequences × window, as memory allows
  std::uint32_t threads = 0;     ///< 0: as many as there are usable cores
  bool adaptive_threads = true;  ///< fewer while other processes take the cores
  std::uint32_t batch_rows = limits::kBatchRowsMax;
  std::uint32_t itl_objective_ms = limits::kItlObjective.count();
  KvLayoutChoice kv_layout = KvLayoutChoice::kAuto;
  FlashAttention flash_attention = FlashAttention::kAuto;
  bool deterministic = false;
  SpeculationOptions speculation{.mode = Speculation::kOff};
  std::uint64_t host_cache_bytes = kAutoBytes;      ///< 0: no host memory for prefixes
  std::uint32_t parked_sequences = kAutoSequences;  ///< ids that hold prefixes; 0: none
  WindowCache window_cache = WindowCache::kFull;
};

/// Who sees whose cached prefixes.
enum class CacheShare : std::uint8_t {
  kAll,     ///< everybody everybody's
  kTenant,  ///< each tenant its own; without keys each credential
  kAuto,    ///< each tenant its own; without keys there is one tenant
};

struct CacheConfig {
  KeepRule keep = KeepRule::kAll;  ///< never kNothing
  EvictionOrder eviction = EvictionOrder::kExpectedReuse;
  std::uint32_t kv_cache_max_entries = 0;  ///< saved states in host memory; 0: as the bytes allow
  CacheShare share = CacheShare::kAuto;
  std::vector<std::string> warm_prefixes;  ///< system prompts
  std::string warm_folder = "auto";        ///< empty: nothing is saved
};

enum class TenantBy : std::uint8_t {
  kNone,        ///< all requests belong to one tenant
  kCredential,  ///< each x-api-key or bearer token is one
};

struct SchedulerConfig {
  // Of the classes priority, standard and batch.
  std::vector<double> class_weights{4, 1, 0.25};
  std::vector<double> reserved_sequences{0, 0, 0};
  TenantBy tenant_by = TenantBy::kNone;
  std::uint32_t max_wait_seconds = 60;
};

/// HTTP status of overloaded_error.
enum class OverloadStatus : std::uint8_t { k529, k503 };

/// What may wait in front of the engine, and how much of it runs at once.
struct QueueConfig {
  static constexpr std::uint32_t kAuto = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t requests_max = limits::kInboxMax;
  std::uint64_t tokens_max = limits::kQueuedTokensMax;
  std::uint32_t tenant_share_percent = 50;
  std::vector<double> class_wait_max_seconds;  ///< by PriorityClass; empty: as the scheduler has it
  OverloadStatus overload_status = OverloadStatus::k529;
  std::uint32_t pool_reserved_sequences = 0;  ///< of tenants of the instance's pool
  std::uint32_t max_concurrent_requests = 0;  ///< 0: all that the engine has sequences for
  std::uint32_t concurrent_requests_min = 1;
  std::uint32_t concurrent_requests_max = 0;  ///< likewise
  bool join_retries = false;
};

struct LimitsConfig {
  std::uint32_t requests_max = limits::kRequestsMax;
  std::uint32_t default_max_tokens = limits::kDefaultMaxTokens;
  bool soft_max_tokens = false;
  std::uint32_t soft_cap_percent = 0;  ///< of max_tokens; 0: no soft cap
  std::vector<std::string> soft_cap_stop;
  std::map<std::string, std::string> key_defaults;  ///< by name of admission/limits.h
  std::map<std::string, std::string> tenant_defaults;
  std::string rate_limit;  ///< such as 10000/minute; empty: none
  std::uint32_t tokens_per_request = 210;
  std::map<std::string, std::string> prices;  ///< by model, see limit_settings.h
  std::string usage_folder = "auto";          ///< empty: usage does not outlive the process
  std::uint32_t usage_days = 400;
};

/// How answers are held to what the client asks of their form.
struct ConstraintsConfig {
  bool enabled = true;
  bool tools = true;  ///< calls of tools that are not strict as well
  std::uint64_t cache_bytes_max = std::uint64_t{256} << 20;
  std::uint64_t mask_bytes_max = std::uint64_t{64} << 20;
  std::uint64_t schema_bytes_max = limits::kSchemaBytesMax;
  std::uint64_t work_max = 20'000'000;  ///< SchemaLimits::work_max, of one request
  std::vector<std::string> precompile;  ///< files (constraint_precompile.h)
};

struct InstanceConfig {
  std::string id;  ///< never empty after loading
  std::string pool = "cpu";
  std::map<std::string, std::string> labels;
  bool exclusive = false;                            ///< serves only what belongs to its pool
  std::map<std::string, std::string> label_headers;  ///< label → header of every answer
  std::map<std::string, std::string> peers;          ///< id of another instance → its address
};

struct LogConfig {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kJson;
};

/// What is measured beside what always is.
struct MetricsConfig {
  std::vector<std::string> labels;   ///< names of metadata that become labels; none by default
  std::uint32_t series_max = 200;    ///< of one family
  bool inference_extension = false;  ///< the page for routers (metrics_handlers.cc)
  std::vector<std::string> operator_tenants;  ///< whose keys read the series of all tenants
};

/// What the service is meant to keep (slo_objectives.h).
struct SloConfig {
  std::map<std::string, std::string> objectives;  ///< by name, each as JSON
};

/// What is exported to an OpenTelemetry collector (otlp_exporter.h).
struct OtlpConfig {
  std::string endpoint;                        ///< `http://127.0.0.1:4318`; empty: nothing is
  std::map<std::string, std::string> headers;  ///< name → where its secret value is, never itself
  bool traces = true;
  bool metrics = true;
  double sample_ratio = 1;  ///< of the traces that begin here
  std::uint32_t interval_seconds = 10;
  std::uint32_t timeout_seconds = 10;
  std::uint32_t spans_max = 2'048;  ///< that wait
  std::string service_name = "zerohop";
  std::map<std::string, std::string> resource_attributes;
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
  /// Names and what requests of each look like, as JSON; see request_profile.h.
  std::map<std::string, std::string> profiles;
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

/// Who has to show a key.
enum class AuthRequired : std::uint8_t {
  kAuto,    ///< everybody, as soon as the store has held a key
  kAlways,  ///< everybody, also while there is none: then nobody is served
  kNever,   ///< nobody; not on a public address
};

/// Where keys and tenants can be changed over HTTP (admin_api.h).
struct AdminConfig {
  std::string listen;               ///< path of a Unix socket, or HOST:PORT on loopback; empty: off
  std::string token_file = "auto";  ///< auto: admin.token in the user's state folder
};

struct AuthConfig {
  bool no_auth = false;  ///< the flag for kNever
  AuthRequired required = AuthRequired::kAuto;
  std::string store = "auto";  ///< file of the keys; auto: in the user's state folder
};

struct Config {
  ServerConfig server;
  TlsConfig tls;
  ModelConfig model;
  EngineConfig engine;
  CacheConfig cache;
  SchedulerConfig scheduler;
  QueueConfig queue;
  LimitsConfig limits;
  ConstraintsConfig constraints;
  InstanceConfig instance;
  LogConfig log;
  MetricsConfig metrics;
  SloConfig slo;
  OtlpConfig otlp;
  StreamConfig stream;
  WireConfig wire;
  PromptConfig prompt;
  DocumentsConfig documents;
  EmbeddingsConfig embeddings;
  BatchesConfig batches;
  AuthConfig auth;
  AdminConfig admin;
};

}  // namespace zerohop
