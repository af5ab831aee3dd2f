#include "app/config_table.h"

#include <algorithm>
#include <array>
#include <limits>

#include "app/config_rules.h"
#include "app/config_table_parts.h"
#include "engine/batch_planner.h"

namespace zerohop {
namespace {

// ---- Choices ----

constexpr std::array<std::string_view, 3> kSplitModes{"none", "layer", "row"};
constexpr std::array<std::string_view, 3> kPreparePolicies{"off", "safe", "fast"};
constexpr std::array<std::string_view, 2> kUnknownNamePolicies{"default", "not_found"};
constexpr std::array<std::string_view, 3> kKvLayouts{"auto", "unified", "streams"};
constexpr std::array<std::string_view, 2> kWindowCaches{"full", "window"};
constexpr std::array<std::string_view, 3> kSpeculations{"off", "ngram", "auto"};
constexpr std::array<std::string_view, 2> kKeepRules{"all", "marked"};
constexpr std::array<std::string_view, 2> kEvictionOrders{"reuse", "lru"};
constexpr std::array<std::string_view, 3> kCacheShares{"all", "tenant", "auto"};
constexpr std::array<std::string_view, 2> kTenantsBy{"none", "credential"};
constexpr std::array<std::string_view, 3> kFlashAttentions{"auto", "on", "off"};
constexpr std::array<std::string_view, 5> kLogLevels{"debug", "info", "warning", "error", "off"};
constexpr std::array<std::string_view, 2> kLogFormats{"text", "json"};
constexpr std::array<std::string_view, 2> kStreamProfiles{"full", "folded"};
constexpr std::array<std::string_view, 2> kHeartbeats{"ping", "empty_delta"};

// libllama counts tokens and cells in int32.
constexpr std::uint64_t kCellsMax = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t kThreadsMax = 512;  // GGML_MAX_N_THREADS

// ---- The table ----

const std::array kTable{
    ConfigKey{"model.name", "--model", "NAME|PATH",
              TextType{[](Config& c) -> std::string& { return c.model.name; }, not_empty_rule}, "",
              "A known model (see `zerohop pull --list`) or the path of a GGUF file.", ""},
    ConfigKey{
        "model.default_system", "", "",
        TextType{[](Config& c) -> std::string& { return c.model.default_system; }}, "",
        "System prompt of conversations that bring none; auto takes what suits a known model, "
        "an empty text leaves it to the model's template.",
        ""},
    ConfigKey{"model.prepare", "--prepare", "off|safe|fast",
              choice<[](Config& c) -> PreparePolicy& { return c.model.prepare; }>(kPreparePolicies),
              "",
              "Convert a small model, once per machine, to the type of weights that computes "
              "fastest here: safe only as long as its predictions stay close to the original's, "
              "fast also at a price, which is told.",
              ""},
    ConfigKey{"model.prepare_kl_max", "", "",
              NumberType{[](Config& c) -> double& { return c.model.prepare_kl_max; }, 0, 10},
              "nats a token",
              "With prepare: safe, the largest mean divergence (KL) of a converted model from the "
              "original.",
              ""},
    ConfigKey{"model.prepare_bytes_max", "", "",
              IntegerType{[](Config& c) -> std::uint64_t& { return c.model.prepare_bytes_max; }, 0,
                          std::uint64_t{1} << 44},
              "bytes",
              "Largest converted file; models that would be larger, or larger than a quarter of "
              "the free memory, are served as they are.",
              ""},
    ConfigKey{"model.gpu_layers", "--gpu-layers", "N|all",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.model.gpu_layers; }, 0, 10'000,
                          "all", ModelConfig::kAllLayers},
              "layers", "Layers kept on the GPU. Without a GPU it has no effect.", ""},
    ConfigKey{"model.devices", "--device", "LIST",
              TextListType{[](Config& c) -> std::vector<std::string>& { return c.model.devices; }},
              "", "Compute devices to use, by the model library's names, such as CUDA0.",
              "all that are found"},
    ConfigKey{"model.main_gpu", "--main-gpu", "N",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.model.main_gpu; }, 0, 255}, "",
              "With split_mode none, the index of the device that holds the model.", ""},
    ConfigKey{"model.split_mode", "--split-mode", "MODE",
              choice<[](Config& c) -> LlamaSplitMode& { return c.model.split_mode; }>(kSplitModes),
              "", "How a model is spread over several GPUs.", ""},
    ConfigKey{
        "model.tensor_split", "--tensor-split", "LIST",
        NumberListType{[](Config& c) -> std::vector<double>& { return c.model.tensor_split; }}, "",
        "Share of each GPU, such as 3,1.", "by free memory"},
    ConfigKey{"model.aliases", "", "",
              TextMapType{
                  [](Config& c) -> std::map<std::string, std::string>& { return c.model.aliases; },
                  printable_rule, printable_rule},
              "", "Model names that clients may send, with * for any text, and the tier for each.",
              "none", TakesEffect::kReload},
    ConfigKey{"model.unknown_name", "", "",
              choice<[](Config& c) -> UnknownModelPolicy& { return c.model.unknown_name; }>(
                  kUnknownNamePolicies),
              "", "A model name that nothing matches goes to the default tier, or is a 404.", "",
              TakesEffect::kReload},

    ConfigKey{"engine.context_tokens", "--context", "TOKENS",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.engine.context_tokens; }, 64,
                          kCellsMax, "auto", 0},
              "tokens",
              "Window of one request, prompt and answer together; auto takes what the model was "
              "trained for, at most 8192.",
              ""},
    ConfigKey{"engine.sequences", "--sequences", "N",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.engine.sequences; }, 1,
                          limits::kSequencesMax},
              "sequences", "Requests that are computed at the same time.", ""},
    ConfigKey{"engine.kv_cells", "", "",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.engine.kv_cells; }, 64,
                          kCellsMax, "auto", 0},
              "cells",
              "Cells of the KV cache that all sequences share; auto gives each a full window, "
              "within half "
              "of the free memory.",
              ""},
    ConfigKey{"engine.threads", "--threads", "N|auto",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.engine.threads; }, 1,
                          kThreadsMax, "auto", 0},
              "threads", "Compute threads; auto takes the cores that this process may use.", ""},
    ConfigKey{
        "engine.adaptive_threads", "", "",
        BooleanType{[](Config& c) -> bool& { return c.engine.adaptive_threads; }}, "",
        "Computes with fewer threads while other processes take the cores, and with all again "
        "when they are gone; not with engine.deterministic.",
        ""},
    ConfigKey{"engine.batch_rows", "", "",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.engine.batch_rows; },
                          kExactRowsMin, limits::kBatchRowsMax},
              "rows", "Most tokens of one forward pass; at least one for each sequence.", ""},
    ConfigKey{"engine.itl_objective_ms", "", "",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.engine.itl_objective_ms; }, 1,
                          60'000},
              "milliseconds",
              "Longest pause between two tokens of a running answer that a new prompt may cause.",
              ""},
    ConfigKey{"engine.kv_layout", "", "",
              choice<[](Config& c) -> KvLayoutChoice& { return c.engine.kv_layout; }>(kKvLayouts),
              "", "One pool of cells that sequences share, or one stream of cells for each.", ""},
    ConfigKey{"engine.flash_attention", "", "",
              choice<[](Config& c) -> FlashAttention& { return c.engine.flash_attention; }>(
                  kFlashAttentions),
              "", "Flash attention; auto leaves it to the model library.", ""},
    ConfigKey{
        "engine.deterministic", "", "",
        BooleanType{[](Config& c) -> bool& { return c.engine.deterministic; }}, "",
        "Greedy answers do not depend on what else runs or ran before; slower, and no prefix is "
        "reused.",
        ""},
    ConfigKey{
        "engine.speculation", "", "",
        choice<[](Config& c) -> Speculation& { return c.engine.speculation.mode; }>(kSpeculations),
        "",
        "Computes tokens that an answer copies from its own text several at a time, with the "
        "same draws: auto where steps bring more tokens a second by it, ngram wherever the text "
        "repeats itself. A greedy answer may part at a near tie. Not with engine.deterministic.",
        ""},
    ConfigKey{"engine.draft_tokens_max", "", "",
              IntegerType{
                  [](Config& c) -> std::uint32_t& { return c.engine.speculation.draft_tokens_max; },
                  1, limits::kDraftTokensMax},
              "tokens", "Most tokens that one answer drafts in a step by engine.speculation.", ""},

    ConfigKey{
        "engine.host_cache_bytes", "", "",
        IntegerType{[](Config& c) -> std::uint64_t& { return c.engine.host_cache_bytes; }, 0,
                    std::uint64_t{1} << 44, "auto", EngineConfig::kAutoBytes},
        "bytes",
        "Host memory for prefixes that left the KV cells; 0 turns it off, auto takes an eighth of "
        "the free memory, at most 2 GiB.",
        ""},
    ConfigKey{"engine.parked_sequences", "", "",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.engine.parked_sequences; }, 0,
                          254, "auto", EngineConfig::kAutoSequences},
              "prefixes",
              "Prefixes that stay in KV cells while nobody computes with them; unified layout "
              "only. With engine.sequences at most 255.",
              ""},
    ConfigKey{
        "engine.window_cache", "", "",
        choice<[](Config& c) -> WindowCache& { return c.engine.window_cache; }>(kWindowCaches), "",
        "What a model with sliding-window attention keeps: every token, or the window only, "
        "which takes fewer cells and reuses prefixes through saved states.",
        ""},

    ConfigKey{"cache.keep", "", "",
              choice<[](Config& c) -> KeepRule& { return c.cache.keep; }>(kKeepRules), "",
              "Which prefixes are kept for later requests: all, or those in front of a "
              "cache_control mark.",
              ""},
    ConfigKey{"cache.eviction", "", "",
              choice<[](Config& c) -> EvictionOrder& { return c.cache.eviction; }>(kEvictionOrders),
              "",
              "What is dropped first: what will hardly be used again, or what was used longest "
              "ago.",
              ""},
    ConfigKey{"cache.kv_cache_max_entries", "", "",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.cache.kv_cache_max_entries; },
                          0, 10'000'000},
              "states", "Most saved states in host memory; 0: as many as its bytes hold.", ""},
    ConfigKey{"cache.share", "", "",
              choice<[](Config& c) -> CacheShare& { return c.cache.share; }>(kCacheShares), "",
              "Who finds whose prefixes: all everybody's, or each tenant its own and the warm ones "
              "(where no keys are asked for, each x-api-key or bearer token is a tenant). auto: "
              "tenant where keys are asked for, else all.",
              ""},
    ConfigKey{
        "cache.warm_prefixes", "", "",
        TextListType{[](Config& c) -> std::vector<std::string>& { return c.cache.warm_prefixes; },
                     ListItems::kTexts},
        "",
        "System prompts that are computed at start and stay in the cache, so that even the "
        "first request under one finds it.",
        "none"},
    ConfigKey{"cache.warm_folder", "", "PATH",
              TextType{[](Config& c) -> std::string& { return c.cache.warm_folder; }}, "",
              "Where the states of warm prefixes are kept for the next start; auto takes the "
              "user's state folder, an empty text keeps none.",
              ""},

    ConfigKey{
        "scheduler.class_weights", "", "",
        NumberListType{[](Config& c) -> std::vector<double>& { return c.scheduler.class_weights; }},
        "",
        "Shares of the classes priority, standard and batch where requests of several "
        "compete; each above 0.",
        ""},
    ConfigKey{"scheduler.reserved_sequences", "", "",
              NumberListType{
                  [](Config& c) -> std::vector<double>& { return c.scheduler.reserved_sequences; }},
              "sequences",
              "Sequences that are kept free for the classes priority, standard and batch; together "
              "fewer than engine.sequences.",
              ""},
    ConfigKey{"scheduler.tenant_by", "", "",
              choice<[](Config& c) -> TenantBy& { return c.scheduler.tenant_by; }>(kTenantsBy), "",
              "Who takes turns: nobody, or the holders of different credentials.", ""},
    ConfigKey{"scheduler.max_wait_seconds", "", "",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.scheduler.max_wait_seconds; },
                          1, kSecondsMax},
              "seconds",
              "Longest wait for the first token; while it would be longer, new requests are "
              "refused with 503.",
              "", TakesEffect::kReload},

    ConfigKey{"limits.requests_max", "", "",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.limits.requests_max; }, 1,
                          limits::kInboxMax},
              "requests",
              "Model requests in the system at once; further ones are refused with 529.", "",
              TakesEffect::kReload},
    ConfigKey{"limits.default_max_tokens", "", "",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.limits.default_max_tokens; },
                          1, kCellsMax},
              "tokens", "Longest answer when the client does not say.", "", TakesEffect::kReload},
    ConfigKey{"limits.soft_max_tokens", "", "",
              BooleanType{[](Config& c) -> bool& { return c.limits.soft_max_tokens; }}, "",
              "Make answers shorter while KV cells are scarce, also where the request does not say "
              "soft_max_tokens.",
              "", TakesEffect::kReload},
    ConfigKey{
        "limits.soft_cap_percent", "", "",
        IntegerType{[](Config& c) -> std::uint32_t& { return c.limits.soft_cap_percent; }, 0, 99},
        "percent",
        "Share of max_tokens after which the end of a sentence ends an answer, where the "
        "request has no soft_cap; 0: never.",
        "", TakesEffect::kReload},
    ConfigKey{
        "limits.soft_cap_stop", "", "",
        TextListType{[](Config& c) -> std::vector<std::string>& { return c.limits.soft_cap_stop; }},
        "", "Texts that end an answer from there on as well.", "none", TakesEffect::kReload},
    ConfigKey{"limits.key_defaults", "", "",
              TextMapType{[](Config& c) -> std::map<std::string, std::string>& {
                            return c.limits.key_defaults;
                          },
                          name_rule, name_rule},
              "",
              "Limits of keys that have none of their own, by name: requests_per_minute, "
              "input_tokens_per_minute, output_tokens_per_minute, total_tokens_per_minute, "
              "parallel_requests, max_input_tokens, max_output_tokens, tokens_per_day, "
              "tokens_per_month, money_micros_per_day, money_micros_per_month, "
              "cached_input_weight_permille, lower_output_cap. Without keys everybody together "
              "is limited as one key is.",
              "none", TakesEffect::kReload},
    ConfigKey{"limits.tenant_defaults", "", "",
              TextMapType{[](Config& c) -> std::map<std::string, std::string>& {
                            return c.limits.tenant_defaults;
                          },
                          name_rule, name_rule},
              "", "The same for tenants, over all their keys.", "none", TakesEffect::kReload},
    ConfigKey{"limits.rate_limit", "", "",
              TextType{[](Config& c) -> std::string& { return c.limits.rate_limit; }}, "",
              "A limit in requests, such as 10000/minute, that becomes total_tokens_per_minute of "
              "limits.key_defaults: so many times limits.tokens_per_request.",
              "none", TakesEffect::kReload},
    ConfigKey{"limits.tokens_per_request", "", "",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.limits.tokens_per_request; },
                          1, 1'000'000'000},
              "tokens",
              "What a request has on average; with the default 10,000 requests a minute are 2.1 "
              "million tokens a minute.",
              "", TakesEffect::kReload},
    ConfigKey{"limits.prices", "", "",
              TextMapType{
                  [](Config& c) -> std::map<std::string, std::string>& { return c.limits.prices; },
                  printable_rule, printable_rule},
              "",
              "Prices by model, * for all others, such as \"input=250000 cached_input=25000 "
              "output=1250000 batch_permille=500\": millionths of the currency for a million "
              "tokens, and the share that requests of message batches pay in thousandths (1000).",
              "none", TakesEffect::kReload},
    ConfigKey{"limits.usage_folder", "--usage-folder", "PATH",
              TextType{[](Config& c) -> std::string& { return c.limits.usage_folder; }}, "",
              "Where usage and spent budgets are kept; auto takes the user's state folder, an "
              "empty text keeps them in memory alone.",
              ""},
    ConfigKey{
        "limits.usage_days", "", "",
        IntegerType{[](Config& c) -> std::uint32_t& { return c.limits.usage_days; }, 1, 36'500},
        "days", "How long rows of usage are kept.", ""},

    ConfigKey{"constraints.enabled", "", "",
              BooleanType{[](Config& c) -> bool& { return c.constraints.enabled; }}, "",
              "Hold answers to the format and the tools' schemas that requests bring: nothing else "
              "can be sampled. Without it they are only read and mended, and the reply says so.",
              ""},
    ConfigKey{"constraints.tools", "", "",
              BooleanType{[](Config& c) -> bool& { return c.constraints.tools; }}, "",
              "Hold calls of tools to their schemas that are not marked strict as well.", ""},
    ConfigKey{"constraints.cache_bytes_max", "", "",
              IntegerType{[](Config& c) -> std::uint64_t& { return c.constraints.cache_bytes_max; },
                          1u << 20, std::uint64_t{1} << 40},
              "bytes", "Memory for compiled schemas and tool sets.", ""},
    ConfigKey{"constraints.mask_bytes_max", "", "",
              IntegerType{[](Config& c) -> std::uint64_t& { return c.constraints.mask_bytes_max; },
                          1u << 20, std::uint64_t{1} << 40},
              "bytes", "Memory for masks of tokens.", ""},
    ConfigKey{
        "constraints.schema_bytes_max", "", "",
        IntegerType{[](Config& c) -> std::uint64_t& { return c.constraints.schema_bytes_max; }, 64,
                    limits::kSchemaBytesMax},
        "bytes", "Largest schema.", ""},
    ConfigKey{"constraints.work_max", "", "",
              IntegerType{[](Config& c) -> std::uint64_t& { return c.constraints.work_max; }, 1'000,
                          10'000'000'000},
              "steps",
              "Most elementary steps for compiling the schemas of one request; a request that "
              "needs more is refused.",
              ""},
    ConfigKey{"constraints.precompile", "", "",
              TextListType{
                  [](Config& c) -> std::vector<std::string>& { return c.constraints.precompile; }},
              "",
              "JSON files that are compiled before the server is ready: a list of tools, a JSON "
              "Schema, or the tools and formats of a request.",
              "none"},

    ConfigKey{"log.level", "--log-level", "LEVEL",
              choice<[](Config& c) -> LogLevel& { return c.log.level; }>(kLogLevels), "",
              "Least severity that is logged.", "", TakesEffect::kReload},
    ConfigKey{"log.format", "--log-format", "FORMAT",
              choice<[](Config& c) -> LogFormat& { return c.log.format; }>(kLogFormats), "",
              "Log lines for people or for machines.", "", TakesEffect::kReload},

    ConfigKey{"stream.ping_seconds", "", "",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.stream.ping_seconds; }, 1,
                          3'600, "off", 0},
              "seconds", "Silence on a stream after which a ping is sent.", "",
              TakesEffect::kReload},

    ConfigKey{"wire.strict", "", "", BooleanType{[](Config& c) -> bool& { return c.wire.strict; }},
              "",
              "Refuse what the hosted API refuses: missing fields, fields of other APIs, answers "
              "that do not fit the window.",
              "", TakesEffect::kReload},
    ConfigKey{
        "wire.stream_profile", "", "",
        choice<[](Config& c) -> StreamProfile& { return c.wire.stream_profile; }>(kStreamProfiles),
        "",
        "Events of a stream: all, or only message_start, deltas and message_stop. A client "
        "chooses with the header anthropic-stream-profile.",
        "", TakesEffect::kReload},
    ConfigKey{"wire.heartbeat", "", "",
              choice<[](Config& c) -> Heartbeat& { return c.wire.heartbeat; }>(kHeartbeats), "",
              "What a silent stream sends: a ping, or a text delta without text.", "",
              TakesEffect::kReload},
    ConfigKey{"wire.default_stop_sequences", "", "",
              TextListType{[](Config& c) -> std::vector<std::string>& {
                return c.wire.default_stop_sequences;
              }},
              "", "Stop sequences of requests that bring none.", "none", TakesEffect::kReload},
    ConfigKey{"wire.profiles", "", "",
              TextMapType{
                  [](Config& c) -> std::map<std::string, std::string>& { return c.wire.profiles; },
                  name_rule, printable_rule},
              "",
              "Named settings, such as \"stream=folded strict=true heartbeat=empty_delta "
              "default_max_tokens=512\".",
              "none", TakesEffect::kReload},
    ConfigKey{"wire.version_profiles", "", "",
              TextMapType{[](Config& c) -> std::map<std::string, std::string>& {
                            return c.wire.version_profiles;
                          },
                          printable_rule, name_rule},
              "", "Values of the header anthropic-version and the profile of each.", "none",
              TakesEffect::kReload},

    ConfigKey{"prompt.strip_billing_header", "", "",
              BooleanType{[](Config& c) -> bool& { return c.prompt.habits.strip_billing_header; }},
              "",
              "Leave out a first system block that begins with x-anthropic-billing-header: it "
              "changes with every request and would keep prefixes from being reused.",
              "", TakesEffect::kReload},
    ConfigKey{"prompt.volatile", "", "", TextListType{[](Config& c) -> std::vector<std::string>& {
                return c.prompt.habits.volatile_patterns;
              }},
              "",
              "Patterns with * for text that changes with every request, such as \"Current time: "
              "*\": it is moved from the system prompt to the end of the prompt.",
              "none", TakesEffect::kReload},
    ConfigKey{"prompt.profiles", "", "",
              TextMapType{[](Config& c) -> std::map<std::string, std::string>& {
                            return c.prompt.profiles;
                          },
                          name_rule, not_empty_rule, MapValues::kJson},
              "",
              "Requests that come again and again, each a map of system, tools, tool_choice, "
              "thinking, output_config, output_format, temperature, top_p, top_k, min_p, "
              "max_tokens and stop_sequences: they are prepared at start, and what they put in "
              "front of the first turn is a warm prefix.",
              "none", TakesEffect::kReload},

    ConfigKey{"documents.pdf_bytes_max", "", "",
              IntegerType{[](Config& c) -> std::uint64_t& { return c.documents.pdf_bytes_max; },
                          1'024, std::uint64_t{1} << 30},
              "bytes", "Largest PDF document.", "", TakesEffect::kReload},
    ConfigKey{
        "documents.pages_max", "", "",
        IntegerType{[](Config& c) -> std::uint32_t& { return c.documents.pages_max; }, 1, 100'000},
        "pages", "Most pages of a PDF document.", "", TakesEffect::kReload},
    ConfigKey{"documents.timeout_seconds", "", "",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.documents.timeout_seconds; },
                          1, 3'600},
              "seconds", "Longest time to read one PDF document.", "", TakesEffect::kReload},

    ConfigKey{"embeddings.model", "", "NAME|PATH",
              TextType{[](Config& c) -> std::string& { return c.embeddings.model; }}, "",
              "Another model for /v1/embeddings, loaded beside the served one: a name or the path "
              "of a GGUF file. Encoders (the BERT family) take inputs of at most 2048 tokens, "
              "fewer with a large vocabulary. An empty text takes the served model.",
              ""},

    ConfigKey{"batches.folder", "", "PATH",
              TextType{[](Config& c) -> std::string& { return c.batches.folder; }}, "",
              "Where message batches are kept; auto takes the user's state folder, an empty text "
              "turns them off.",
              ""},
    ConfigKey{"batches.parallel", "", "",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.batches.parallel; }, 1, 64},
              "requests", "Requests of batches that run at the same time.", ""},
};

}  // namespace

std::span<const ConfigKey> config_table() {
  static const std::vector<ConfigKey> kAll = [] {
    const std::span<const ConfigKey> network = network_config_keys();
    std::vector<ConfigKey> all(network.begin(), network.end());
    all.insert(all.end(), kTable.begin(), kTable.end());
    const std::span<const ConfigKey> queue = queue_config_keys();
    all.insert(all.end(), queue.begin(), queue.end());
    const std::span<const ConfigKey> metrics = metrics_config_keys();
    all.insert(all.end(), metrics.begin(), metrics.end());
    const std::span<const ConfigKey> otlp = otlp_config_keys();
    all.insert(all.end(), otlp.begin(), otlp.end());
    return all;
  }();
  return kAll;
}

const ConfigKey* find_config_key(std::string_view path) {
  const std::span<const ConfigKey> table = config_table();
  const auto found =
      std::ranges::find_if(table, [path](const ConfigKey& key) { return key.path == path; });
  return found == table.end() ? nullptr : &*found;
}

std::string ConfigKey::variable() const {
  std::string name = "ZEROHOP_";
  for (const char c : path) {
    name.push_back(c == '.' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
  }
  return name;
}

}  // namespace zerohop
