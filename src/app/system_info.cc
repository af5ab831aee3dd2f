#include "app/system_info.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <string_view>
#include <vector>

#include "app/engine_setup.h"
#include "app/machine.h"
#include "app/version.h"
#include "engine/soft_limit.h"
#include "model/llama_backend.h"

namespace zerohop {
namespace {

namespace json = boost::json;

json::object describe_model(const ModelInfo& info) {
  return {{"name", info.name},
          {"description", info.description},
          {"architecture", info.architecture},
          {"parameters", info.parameters},
          {"file_bytes", info.file_bytes},
          {"vocabulary", info.vocabulary},
          {"context_trained", info.context_trained},
          {"kv_bytes_per_cell", info.kv_bytes_per_cell}};
}

json::object describe_speed(const ModelSpeed& speed) {
  return {{"prefill", speed.prefill}, {"streams_8", speed.batch}, {"streams_1", speed.single}};
}

json::object describe_candidate(const PrepareCandidate& candidate) {
  json::object object{{"type", weight_type_name(candidate.type)}};
  if (!candidate.fault.empty()) {
    object["fault"] = candidate.fault;
    return object;
  }
  const ModelDivergence& divergence = candidate.figures.divergence;
  object["gain"] = preparation_gain(candidate.figures);
  object["disturbance"] = candidate.figures.disturbance;
  object["divergence"] = {{"tokens", divergence.tokens},
                          {"kl_mean_nats", divergence.kl_mean},
                          {"kl_max_nats", divergence.kl_max},
                          {"same_first_choice", divergence.same_first},
                          {"perplexity_original", divergence.perplexity_original},
                          {"perplexity", divergence.perplexity}};
  object["tokens_per_second"] = {{"original", describe_speed(candidate.figures.original)},
                                 {"converted", describe_speed(candidate.figures.converted)}};
  return object;
}

json::object describe_preparation(const ModelPreparation& preparation) {
  json::array candidates;
  for (const PrepareCandidate& candidate : preparation.candidates) {
    candidates.push_back(describe_candidate(candidate));
  }
  return {{"policy", prepare_policy_name(preparation.policy)},
          {"prepared", preparation.prepared()},
          {"type", weight_type_name(preparation.type)},
          {"source_type", preparation.source_type},
          {"reason", preparation.reason},
          {"measured_now", preparation.measured_now},
          {"spent_ms", preparation.spent_ms},
          {"candidates", std::move(candidates)}};
}

json::object describe_context(const Tier& tier, const EngineSnapshot& engine) {
  const ContextOptions& context = tier.context();
  return {{"window_tokens", context.window},
          {"sequences", context.sequences},
          {"parked_sequences", context.parked},
          {"kv_layout", kv_layout_name(context.layout)},
          {"kv_layout_reason", tier.layout_reason()},
          {"kv_cells", engine.cells_total},
          {"flash_attention", flash_attention_name(context.flash_attention)},
          {"threads", context.threads},
          {"batch_rows", context.batch_rows}};
}

json::object describe_cache(const Config& config, const EngineSnapshot& engine) {
  return {{"keep", config.cache.keep == KeepRule::kMarked ? "marked" : "all"},
          {"share", config.cache.share == CacheShare::kTenant ? "tenant" : "all"},
          {"eviction", config.cache.eviction == EvictionOrder::kLeastRecent ? "lru" : "reuse"},
          {"host_bytes", engine.host_bytes},
          {"host_bytes_max", engine.host_bytes_max},
          {"host_entries", engine.host_entries},
          {"host_entries_max", config.cache.kv_cache_max_entries},
          {"warm_prefixes", config.cache.warm_prefixes.size()}};
}

json::object describe_pressure(const EngineSnapshot& engine) {
  return {{"rung", pressure_rung_name(engine.rung)},
          {"cause", pressure_cause_name(engine.rung_cause)},
          {"fragmentation", engine.fragmentation},
          {"circuit_open", engine.circuit_open}};
}

// Those that left a mark, with how often and how long ago (gateway_signs.h).
json::array describe_gateways(const Service& service) {
  json::array gateways;
  const TimePoint now = service.clock.now();
  for (std::size_t i = 0; i < kGateways; ++i) {
    const auto gateway = static_cast<Gateway>(i);
    const GatewaySightings::Sighting& sighting = service.gateways.of(gateway);
    if (sighting.requests == 0) continue;
    gateways.push_back({{"name", gateway_name(gateway)},
                        {"requests", sighting.requests},
                        {"last_seconds_ago", to_seconds(now - sighting.last)}});
  }
  return gateways;
}

json::array describe_devices() {
  json::array all;
  const Result<std::vector<LlamaDevice>> devices = list_llama_devices();
  if (!devices.ok()) return all;
  for (const LlamaDevice& device : *devices) {
    all.push_back({{"name", device.name},
                   {"description", device.description},
                   {"kind", llama_device_kind_name(device.kind)},
                   {"memory_bytes_free", device.memory_bytes_free},
                   {"memory_bytes_total", device.memory_bytes_total}});
  }
  return all;
}

json::object describe_hardware(const MachineRates& rates) {
  return {{"processor", processor_name()},
          {"features", llama_system_info()},
          {"usable_cores", usable_cores()},
          {"free_memory_bytes", free_memory_bytes()},
          {"read_bytes_per_second", rates.read_bytes_per_second},
          {"matrix_flops_per_second", rates.matrix_flops_per_second},
          {"devices", describe_devices()}};
}

json::object describe_labels(const InstanceConfig& config) {
  json::object labels;
  for (const auto& [name, value] : config.labels) labels[name] = value;
  return labels;
}

}  // namespace

std::string instances_body(const InstanceConfig& config) {
  json::array instances;
  instances.push_back({{"id", config.id},
                       {"pool", config.pool},
                       {"exclusive", config.exclusive},
                       {"labels", describe_labels(config)},
                       {"self", true}});
  for (const auto& [id, address] : config.peers) {
    instances.push_back({{"id", id}, {"address", address}, {"self", false}});
  }
  const json::object body{{"object", "list"}, {"data", std::move(instances)}};
  return json::serialize(body);
}

std::uint32_t recommended_max_tokens(const EngineSnapshot& engine, std::uint32_t window) {
  return recommended_max_tokens(
      AnswerRoom{engine.cells_total, engine.cells_active, engine.cells_reserved, 0, window});
}

std::string system_info_body(const Service& service, const EngineSnapshot& engine) {
  const Tier& tier = service.tier();
  const std::shared_ptr<const LiveConfig> live = service.live.get();
  const InstanceConfig& instance = live->config.instance;
  json::object body;
  body["version"] = kVersion;
  body["libllama"] = llama_library_version();
  body["instance"] = instance.id;
  body["pool"] = instance.pool;
  body["exclusive"] = instance.exclusive;
  body["labels"] = describe_labels(instance);
  body["model"] = describe_model(tier.model().info());
  body["preparation"] = describe_preparation(service.preparation);
  body["context"] = describe_context(tier, engine);
  body["cache"] = describe_cache(service.config, engine);
  body["limits"] = {{"requests_max", live->config.limits.requests_max},
                    {"default_max_tokens", live->config.limits.default_max_tokens},
                    {"itl_objective_ms", service.config.engine.itl_objective_ms}};
  body["pressure"] = describe_pressure(engine);
  body["gateways"] = describe_gateways(service);
  body["hardware"] = describe_hardware(service.machine);
  body["recommended_max_tokens"] = recommended_max_tokens(engine, tier.window());
  return json::serialize(body);
}

}  // namespace zerohop
