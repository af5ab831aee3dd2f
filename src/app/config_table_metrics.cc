// The part of the configuration table that is about what is measured.
#include <array>

#include "app/config_rules.h"
#include "app/config_table_parts.h"
#include "app/slo_objectives.h"

namespace zerohop {
namespace {

const std::array kTable{
    ConfigKey{
        "metrics.labels", "", "",
        TextListType{[](Config& c) -> std::vector<std::string>& { return c.metrics.labels; }}, "",
        "Members of a request's metadata that become labels of metrics and fields of its log line, "
        "such as channel,intent; tool: results of tools are counted by tool.",
        "none"},
    ConfigKey{
        "metrics.series_max", "", "",
        IntegerType{[](Config& c) -> std::uint32_t& { return c.metrics.series_max; }, 10, 100'000},
        "series", "Series of one family of metrics; what comes after them is counted together.",
        ""},
    ConfigKey{
        "metrics.inference_extension", "", "",
        BooleanType{[](Config& c) -> bool& { return c.metrics.inference_extension; }}, "",
        "Answer GET /metrics/inference-extension with the names that inference routers of the "
        "Kubernetes Gateway API look for.",
        ""},
    ConfigKey{
        "metrics.operator_tenants", "", "",
        TextListType{
            [](Config& c) -> std::vector<std::string>& { return c.metrics.operator_tenants; }},
        "",
        "Names of tenants whose keys may read everything at GET /metrics. Any other key reads "
        "the numbers of the instance and those of its own tenant. The admin listener's page "
        "always has everything.",
        "none", TakesEffect::kReload},

    ConfigKey{"slo.objectives", "", "",
              TextMapType{
                  [](Config& c) -> std::map<std::string, std::string>& { return c.slo.objectives; },
                  objective_name_rule, not_empty_rule, MapValues::kJson},
              "",
              "Objectives, each a map of indicator (availability of text and embeddings, ttft, itl "
              "or total), target (the share that is to be good), threshold_ms (of the three "
              "times), and tier and class where it is about one of them: what counts and what was "
              "good become metrics (zerohop_slo_total), and deploy/prometheus/slo_rules.py makes "
              "alerts of them.",
              "none", TakesEffect::kReload},
};

}  // namespace

std::span<const ConfigKey> metrics_config_keys() { return kTable; }

}  // namespace zerohop
