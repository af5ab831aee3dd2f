// The part of the configuration table that is about the queue in front of the engine.
#include <array>

#include "app/config_table_parts.h"

namespace zerohop {
namespace {

constexpr std::array<std::string_view, 2> kOverloadStatuses{"529", "503"};

const std::array kTable{
    ConfigKey{"queue.requests_max", "", "",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.queue.requests_max; }, 1,
                          limits::kInboxMax},
              "requests", "Requests that may wait for a place in the engine.", ""},
    ConfigKey{"queue.tokens_max", "", "",
              IntegerType{[](Config& c) -> std::uint64_t& { return c.queue.tokens_max; }, 1,
                          std::uint64_t{1} << 40},
              "tokens",
              "Prompt tokens that may wait, those not counted that are cached; a single request "
              "is always let in.",
              ""},
    ConfigKey{"queue.tenant_share_percent", "", "",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.queue.tenant_share_percent; },
                          1, 100},
              "percent", "Share of the two that one tenant may take, where tenants are told apart.",
              ""},
    ConfigKey{"queue.class_wait_max_seconds", "", "",
              NumberListType{
                  [](Config& c) -> std::vector<double>& { return c.queue.class_wait_max_seconds; }},
              "seconds",
              "Longest predicted time to the first token for the classes priority, standard and "
              "batch; what would take longer is refused. Empty: scheduler.max_wait_seconds for "
              "each.",
              "none", TakesEffect::kReload},
    ConfigKey{"queue.overload_status", "", "",
              choice<[](Config& c) -> OverloadStatus& { return c.queue.overload_status; }>(
                  kOverloadStatuses),
              "",
              "HTTP status of overloaded_error. Some clients retry 503 only; a wire profile may "
              "say it for those that need it (overload=503).",
              "", TakesEffect::kReload},
    ConfigKey{
        "queue.pool_reserved_sequences", "", "",
        IntegerType{[](Config& c) -> std::uint32_t& { return c.queue.pool_reserved_sequences; }, 0,
                    limits::kSequencesMax - 1},
        "sequences",
        "Sequences that are kept free for tenants whose pool is that of this instance; with "
        "those of scheduler.reserved_sequences fewer than run at once.",
        ""},
    ConfigKey{
        "queue.max_concurrent_requests", "", "",
        IntegerType{[](Config& c) -> std::uint32_t& { return c.queue.max_concurrent_requests; }, 0,
                    limits::kSequencesMax, "auto", QueueConfig::kAuto},
        "requests",
        "Requests that the engine computes at once, at most engine.sequences, which 0 stands "
        "for; auto moves it between the two following keys, so that steps keep "
        "engine.itl_objective_ms and cells are not scattered.",
        ""},
    ConfigKey{
        "queue.concurrent_requests_min", "", "",
        IntegerType{[](Config& c) -> std::uint32_t& { return c.queue.concurrent_requests_min; }, 1,
                    limits::kSequencesMax},
        "requests", "Where auto ends downwards.", ""},
    ConfigKey{
        "queue.concurrent_requests_max", "", "",
        IntegerType{[](Config& c) -> std::uint32_t& { return c.queue.concurrent_requests_max; }, 0,
                    limits::kSequencesMax},
        "requests", "Where auto ends upwards; 0: at engine.sequences.", ""},
    ConfigKey{"queue.join_retries", "", "",
              BooleanType{[](Config& c) -> bool& { return c.queue.join_retries; }}, "",
              "A repetition by an official client (x-stainless-retry-count above 0) joins the "
              "running request of the same key with the same body, as requests with one "
              "x-anthropic-request-id always do.",
              "", TakesEffect::kReload},
};

}  // namespace

std::span<const ConfigKey> queue_config_keys() { return kTable; }

}  // namespace zerohop
