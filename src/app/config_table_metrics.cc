// The part of the configuration table that is about what is measured.
#include <array>

#include "app/config_table_parts.h"

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
};

}  // namespace

std::span<const ConfigKey> metrics_config_keys() { return kTable; }

}  // namespace zerohop
