// The part of the configuration table that is about what is exported to a collector.
#include <array>

#include "app/config_rules.h"
#include "app/config_table_parts.h"

namespace zerohop {
namespace {

using TextMap = std::map<std::string, std::string>;

const std::array kTable{
    ConfigKey{
        "otlp.endpoint", "", "",
        TextType{[](Config& c) -> std::string& { return c.otlp.endpoint; }}, "",
        "OpenTelemetry collector to which traces and metrics are sent, such as "
        "http://127.0.0.1:4318 (OTLP/HTTP with JSON, /v1/traces and /v1/metrics below it; no "
        "https). Where nobody sets it, OTEL_EXPORTER_OTLP_ENDPOINT counts, if it can be used: "
        "else the log says why not. An empty text turns exporting off.",
        ""},
    ConfigKey{"otlp.headers", "", "",
              TextMapType{[](Config& c) -> TextMap& { return c.otlp.headers; }, name_rule,
                          printable_rule},
              "",
              "Headers for the collector, and where the value of each is read from: env:VARIABLE "
              "or file:PATH, because it may be a secret. A file is read again for every request.",
              "none"},
    ConfigKey{"otlp.traces", "", "", BooleanType{[](Config& c) -> bool& { return c.otlp.traces; }},
              "", "Export a span for each model request.", ""},
    ConfigKey{"otlp.metrics", "", "",
              BooleanType{[](Config& c) -> bool& { return c.otlp.metrics; }}, "",
              "Export the metrics of /metrics.", ""},
    ConfigKey{"otlp.sample_ratio", "", "",
              NumberType{[](Config& c) -> double& { return c.otlp.sample_ratio; }, 0, 1}, "",
              "Share of the traces that begin here which are exported. A request that brings a "
              "traceparent is exported if, and only if, that says sampled.",
              ""},
    ConfigKey{
        "otlp.interval_seconds", "", "",
        IntegerType{[](Config& c) -> std::uint32_t& { return c.otlp.interval_seconds; }, 1, 3'600},
        "seconds", "Time between two exports.", ""},
    ConfigKey{
        "otlp.timeout_seconds", "", "",
        IntegerType{[](Config& c) -> std::uint32_t& { return c.otlp.timeout_seconds; }, 1, 300},
        "seconds", "Longest time that one request to the collector may take.", ""},
    ConfigKey{
        "otlp.spans_max", "", "",
        IntegerType{[](Config& c) -> std::uint32_t& { return c.otlp.spans_max; }, 16, 100'000},
        "spans",
        "Requests whose spans wait for the collector; the oldest ones go first. Each takes a few "
        "kilobytes.",
        ""},
    ConfigKey{
        "otlp.service_name", "", "",
        TextType{[](Config& c) -> std::string& { return c.otlp.service_name; }, printable_rule}, "",
        "The attribute service.name of everything that is exported. Where nobody sets it, "
        "OTEL_SERVICE_NAME counts.",
        ""},
    ConfigKey{"otlp.resource_attributes", "", "",
              TextMapType{[](Config& c) -> TextMap& { return c.otlp.resource_attributes; },
                          name_rule, printable_rule},
              "",
              "More attributes of everything that is exported, such as "
              "deployment.environment.name.",
              "none"},
};

}  // namespace

std::span<const ConfigKey> otlp_config_keys() { return kTable; }

}  // namespace zerohop
