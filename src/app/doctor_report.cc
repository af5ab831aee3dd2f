#include "app/doctor_report.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <optional>

#include "app/json_text.h"
#include "app/print_text.h"

namespace zerohop {
namespace {

namespace json = boost::json;

// Weights, KV cells, and what the system needs beside them.
constexpr double kMemoryPerModelByte = 1.5;
// A connection is one descriptor; the rest is files, sockets of the program itself.
constexpr std::uint64_t kFilesBesideConnections = 64;
constexpr double kGibibyte = 1024.0 * 1024 * 1024;

Diagnosis diagnose_memory(const MachineFacts& facts) {
  const double free_bytes = static_cast<double>(facts.free_memory_bytes);
  const double wanted = kMemoryPerModelByte * static_cast<double>(facts.model_bytes);
  std::string text = print_text("%.1f GiB can be taken", free_bytes / kGibibyte);
  if (facts.model_bytes == 0 || free_bytes >= wanted) return {Verdict::kFine, "memory", text};
  text += print_text(
      "; the model's file has %.1f GiB, and about half as much again is needed: take a smaller "
      "model or quantisation, or raise the limit of the control group",
      static_cast<double>(facts.model_bytes) / kGibibyte);
  return {free_bytes < static_cast<double>(facts.model_bytes) ? Verdict::kWrong : Verdict::kAdvice,
          "memory", text};
}

Diagnosis diagnose_files(const MachineFacts& facts, const Config& config) {
  const std::uint64_t wanted = config.server.connections_max + kFilesBesideConnections;
  std::string text = std::to_string(facts.open_files_max) + " files may be open";
  if (facts.open_files_max >= wanted) return {Verdict::kFine, "files", text};
  text += "; " + std::to_string(config.server.connections_max) +
          " connections (server.connections_max) need more: raise `ulimit -n` or LimitNOFILE to " +
          std::to_string(wanted);
  return {Verdict::kAdvice, "files", text};
}

const json::object* object_at(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value == nullptr ? nullptr : value->if_object();
}

bool true_at(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

void diagnose_pressure(const json::object& body, std::vector<Diagnosis>& found) {
  const json::object* pressure = object_at(body, "pressure");
  if (pressure == nullptr) return;
  const std::string rung(text_at(*pressure, "rung"));
  if (rung == "normal") {
    found.push_back({Verdict::kFine, "pressure", "none"});
  } else {
    found.push_back({Verdict::kAdvice, "pressure",
                     "rung " + rung + ", for " + std::string(text_at(*pressure, "cause")) +
                         ": give it more KV cells (engine.kv_cells), fewer or shorter requests, or "
                         "another instance"});
  }
  if (true_at(*pressure, "circuit_open")) {
    found.push_back({Verdict::kWrong, "engine",
                     "several steps in a row have failed, so it tries one request at a time; the "
                     "log says why"});
  }
}

void diagnose_gateways(const json::object& body, std::vector<Diagnosis>& found) {
  const json::array* gateways = array_at(body, "gateways");
  if (gateways == nullptr) return;
  for (const json::value& entry : *gateways) {
    if (!entry.is_object()) continue;
    found.push_back({Verdict::kAdvice, "gateway",
                     std::string(text_at(entry.get_object(), "name")) +
                         " stands in front of this server; each request pays for its hop, and what "
                         "it does (keys, limits, retries) is done here"});
  }
}

void diagnose_preparation(const json::object& body, std::vector<Diagnosis>& found) {
  const json::object* preparation = object_at(body, "preparation");
  if (preparation == nullptr) return;
  const bool prepared = true_at(*preparation, "prepared");
  std::string text = prepared ? "prepared as " + std::string(text_at(*preparation, "type"))
                              : "served as it is: " + std::string(text_at(*preparation, "reason"));
  const bool off = text_at(*preparation, "policy") == "off";
  if (off) text += " (model.prepare: safe looks for a faster form once)";
  found.push_back({off ? Verdict::kAdvice : Verdict::kFine, "model", text});
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFine: return "fine";
    case Verdict::kAdvice: return "advice";
    case Verdict::kWrong: return "wrong";
  }
  return "unknown";
}

std::vector<Diagnosis> diagnose_machine(const MachineFacts& facts, const Config& config) {
  std::vector<Diagnosis> found;
  found.push_back({Verdict::kFine, "machine",
                   facts.processor + ", " + std::to_string(facts.cores) + " usable cores" +
                       (facts.features.empty() ? "" : ", " + facts.features)});
  found.push_back({Verdict::kFine, "speed",
                   print_text("reads %.1f GB/s, multiplies %.0f GFLOP/s",
                              facts.rates.read_bytes_per_second / 1e9,
                              facts.rates.matrix_flops_per_second / 1e9)});
  found.push_back(diagnose_memory(facts));
  found.push_back(diagnose_files(facts, config));
  if (facts.model_bytes == 0) {
    found.push_back({Verdict::kAdvice, "model",
                     "'" + config.model.name + "' is not here yet; `zerohop pull` brings it"});
  }
  return found;
}

Diagnosis diagnose_config(const Result<LoadedConfig>& loaded) {
  if (!loaded.ok()) return {Verdict::kWrong, "config", loaded.error().message};
  if (loaded->warnings.empty()) return {Verdict::kFine, "config", "right"};
  std::string all;
  for (const std::string& warning : loaded->warnings) all += (all.empty() ? "" : "; ") + warning;
  return {Verdict::kAdvice, "config", std::move(all)};
}

std::vector<Diagnosis> diagnose_server(std::string_view body) {
  const std::optional<json::object> object = object_in(body);
  if (!object || !object->contains("version")) {
    return {{Verdict::kWrong, "server", "what answers there is no zerohop"}};
  }
  std::vector<Diagnosis> found;
  found.push_back({Verdict::kFine, "server",
                   "version " + std::string(text_at(*object, "version")) + ", instance " +
                       std::string(text_at(*object, "instance"))});
  diagnose_pressure(*object, found);
  diagnose_preparation(*object, found);
  diagnose_gateways(*object, found);
  return found;
}

std::string diagnoses_text(const std::vector<Diagnosis>& diagnoses) {
  std::string text;
  for (const Diagnosis& diagnosis : diagnoses) {
    std::string verdict(verdict_name(diagnosis.verdict));
    std::string about(diagnosis.about);
    verdict.resize(7, ' ');
    about.resize(std::max<std::size_t>(about.size(), 9), ' ');
    text += verdict + about + " " + diagnosis.text + "\n";
  }
  return text;
}

std::string diagnoses_json(const std::vector<Diagnosis>& diagnoses) {
  json::array all;
  for (const Diagnosis& diagnosis : diagnoses) {
    all.push_back({{"verdict", verdict_name(diagnosis.verdict)},
                   {"about", diagnosis.about},
                   {"text", diagnosis.text}});
  }
  return json::serialize(json::object{{"data", std::move(all)}}) + "\n";
}

}  // namespace zerohop
