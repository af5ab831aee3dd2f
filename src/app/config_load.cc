#include "app/config_load.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <system_error>

#include "app/config_error.h"
#include "app/engine_setup.h"
#include "app/instance_identity.h"
#include "app/key_gate.h"
#include "app/limit_settings.h"
#include "app/network_config.h"
#include "app/otlp_settings.h"
#include "app/request_profile.h"
#include "app/request_schedule.h"
#include "app/slo_objectives.h"
#include "app/suggest.h"
#include "app/wire_profile.h"
#include "base/ip_address.h"
#include "base/random.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kVariablePrefix = "ZEROHOP_";

// A fault of one value, told with the place that the value comes from.
Error at_place(const std::string& place, Error error) {
  error.message = place + ": " + error.message;
  return error;
}

// Where the value was set that a fault is about: its entry, where one is named behind the key.
const std::string& place_in(const ConfigOrigin& origin, std::string_view text) {
  const std::size_t found = text.find(origin.key->path);
  if (found == text.npos) return origin.origin;
  const std::string_view rest = text.substr(found + origin.key->path.size());
  for (const auto& [name, place] : origin.entries) {
    if (rest.starts_with(": '" + name + "'")) return place;
  }
  return origin.origin;
}

class Loader {
 public:
  explicit Loader(const ConfigSources& sources) : sources_(sources) {
    for (const ConfigKey& key : config_table()) loaded_.origins.push_back({&key, "default"});
  }

  Result<LoadedConfig> load() {
    if (sources_.file) ZH_RETURN_IF_ERROR(apply_file(*sources_.file));
    ZH_RETURN_IF_ERROR(apply_environment());
    for (const FlagValue& flag : sources_.flags) {
      ZH_RETURN_IF_ERROR(apply_text(*flag.key, flag.text, std::string(flag.key->flag)));
    }
    apply_standard_variables();
    if (loaded_.config.instance.id.empty()) make_instance_id();
    const Result<void> fits = check_config_rules(loaded_.config);
    if (!fits.ok()) return with_origin(loaded_, fits.error());
    return std::move(loaded_);
  }

 private:
  Result<void> apply_file(const fs::path& path) {
    std::error_code fault;
    if (!fs::is_regular_file(path, fault)) {
      return Error{ErrorCode::kConfiguration, path.string() + ": no such file", {}, {}};
    }
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file) {
      return Error{ErrorCode::kConfiguration, path.string() + ": cannot be read", {}, {}};
    }
    ZH_ASSIGN_OR_RETURN(const std::vector<YamlSetting> settings,
                        parse_config_yaml(text, path.string()));
    for (const YamlSetting& setting : settings) {
      const auto place = [&path](int line) { return path.string() + ":" + std::to_string(line); };
      ConfigOrigin origin{setting.key, place(setting.line)};
      for (const auto& [name, line] : setting.entry_lines) origin.entries[name] = place(line);
      auto applied = apply_value(*setting.key, setting.value, loaded_.config);
      if (!applied.ok()) {
        Error error = at_place(std::string(setting.key->path), applied.error());
        const std::string& where = place_in(origin, error.message);
        return at_place(where, std::move(error));
      }
      note_origin(std::move(origin));
    }
    return {};
  }

  Result<void> apply_environment() {
    for (const ConfigKey& key : config_table()) {
      const std::string variable = key.variable();
      const auto found = sources_.environment.find(variable);
      if (found == sources_.environment.end()) continue;
      ZH_RETURN_IF_ERROR(apply_text(key, found->second, variable));
    }
    return refuse_unknown_variables();
  }

  // What was set for this program counts more.
  void apply_standard_variables() {
    for (const StandardVariable& variable : kStandardVariables) {
      const auto value = find_variable(sources_.environment, variable.name);
      const ConfigKey& key = *find_config_key(variable.path);
      const auto is_key = [&key](const ConfigOrigin& entry) { return entry.key == &key; };
      const auto entry = std::ranges::find_if(loaded_.origins, is_key);
      if (!value || entry->origin != "default") continue;
      Result<void> usable = check_alone(key, *value);
      if (usable.ok()) usable = apply_text(key, *value, std::string(variable.name));
      if (usable.ok()) continue;
      loaded_.warnings.push_back(std::string(variable.name) +
                                 " is not used: " + usable.error().message + " (" + key.variable() +
                                 " sets it for this program alone; empty: nothing)");
    }
  }

  // With the rules of its section, and nothing else that may be wrong there.
  static Result<void> check_alone(const ConfigKey& key, const std::string& text) {
    Config alone;
    ZH_ASSIGN_OR_RETURN(const RawValue value, split_text(key, text));
    ZH_RETURN_IF_ERROR(apply_value(key, value, alone));
    return check_otlp_rules(alone.otlp);
  }

  // Other ZEROHOP_* variables exist (build and test switches); only those that begin like a section
  // of the configuration are taken for misspelt keys.
  Result<void> refuse_unknown_variables() const {
    std::vector<std::string> variables;
    std::vector<std::string> prefixes;
    for (const ConfigKey& key : config_table()) {
      variables.push_back(key.variable());
      prefixes.push_back(
          variables.back().substr(0, kVariablePrefix.size() + key.section().size() + 1));
    }
    const std::vector<std::string_view> known(variables.begin(), variables.end());
    for (const auto& [name, value] : sources_.environment) {
      const bool of_a_section = std::ranges::any_of(
          prefixes, [&name](const std::string& prefix) { return name.starts_with(prefix); });
      if (!of_a_section || std::ranges::find(known, name) != known.end()) continue;
      return Error{ErrorCode::kConfiguration,
                   "unknown environment variable '" + name + "'" + did_you_mean(name, known),
                   {},
                   {}};
    }
    return {};
  }

  Result<void> apply_text(const ConfigKey& key, const std::string& text, const std::string& place) {
    auto value = split_text(key, text);
    if (!value.ok()) return at_place(place, value.error());
    auto applied = apply_value(key, value.value(), loaded_.config);
    if (!applied.ok()) return at_place(place, applied.error());
    note_origin({&key, place});
    return {};
  }

  void note_origin(ConfigOrigin origin) {
    for (ConfigOrigin& entry : loaded_.origins) {
      if (entry.key == origin.key) entry = std::move(origin);
    }
  }

  void make_instance_id() {
    char digits[16];
    std::snprintf(digits, sizeof digits, "%08x",
                  static_cast<unsigned>(mix64(sources_.seed) & 0xffffffffU));
    loaded_.config.instance.id = loaded_.config.instance.pool + "-" + digits;
    note_origin({find_config_key("instance.id"), std::string(kMadeUpOrigin)});
  }

  const ConfigSources& sources_;
  LoadedConfig loaded_;
};

// Without keys, a public address would serve anybody. Whether there are keys is seen at the start
// (key_watch.h).
Result<void> check_auth(const Config& config) {
  const AuthConfig& auth = config.auth;
  if (auth.no_auth && auth.required == AuthRequired::kAlways) {
    return configuration_error("no_auth and auth.required: always contradict each other");
  }
  if (!never_asks_for_keys(auth) || !serves_public_address(config.server)) return {};
  const std::string what = auth.no_auth ? "no_auth" : "auth.required: never";
  return configuration_error(what + " is allowed only on loopback or a Unix socket, not on '" +
                             config.server.host + "'");
}

// The key that a fault is about: the first one of those it names that somebody has set.
const ConfigOrigin* named_in(const LoadedConfig& loaded, std::string_view text) {
  const ConfigOrigin* first = nullptr;
  std::size_t at = text.npos;
  for (const ConfigOrigin& entry : loaded.origins) {
    const std::size_t found = text.find(entry.key->path);
    if (found == text.npos || entry.origin.empty() || entry.origin == "default") continue;
    // Of two at one place the longer one is meant.
    const bool longer = found == at && entry.key->path.size() > first->key->path.size();
    if (first == nullptr || found < at || longer) {
      first = &entry;
      at = found;
    }
  }
  return first;
}

}  // namespace

Error with_origin(const LoadedConfig& loaded, Error error) {
  if (!error.field.empty() && error.message.find(error.field) == error.message.npos) {
    error.message = error.field + ": " + error.message;
  }
  const ConfigOrigin* const origin = named_in(loaded, error.message);
  if (origin == nullptr) return error;
  const std::string& where = place_in(*origin, error.message);
  return at_place(where, std::move(error));
}

Result<LoadedConfig> load_config(const ConfigSources& sources) { return Loader(sources).load(); }

bool is_loopback_host(std::string_view host) {
  const std::optional<IpAddress> address = IpAddress::parse(host);
  return host == "localhost" || (address && address->is_loopback());
}

bool serves_public_address(const ServerConfig& server) {
  return server.unix_socket.empty() && !is_loopback_host(server.host);
}

Result<void> check_config_rules(const Config& config) {
  const EngineConfig& engine = config.engine;
  if (engine.batch_rows < engine.sequences) {
    return configuration_error("engine.batch_rows (" + std::to_string(engine.batch_rows) +
                               ") must be at least engine.sequences (" +
                               std::to_string(engine.sequences) +
                               "): each running sequence needs a row");
  }
  if (engine.kv_cells != 0 && engine.kv_cells < engine.context_tokens) {
    return configuration_error("engine.kv_cells (" + std::to_string(engine.kv_cells) +
                               ") must be at least engine.context_tokens (" +
                               std::to_string(engine.context_tokens) + "), or auto");
  }
  const std::uint64_t cells = std::uint64_t{engine.sequences} * engine.context_tokens;
  if (engine.kv_cells == 0 && cells > std::numeric_limits<std::int32_t>::max()) {
    return configuration_error(
        "engine.sequences × engine.context_tokens (" + std::to_string(cells) +
        ") exceeds 2147483647 cells; lower one of them or set engine.kv_cells");
  }
  ZH_RETURN_IF_ERROR(check_network_rules(config));
  ZH_RETURN_IF_ERROR(check_otlp_rules(config.otlp));
  ZH_RETURN_IF_ERROR(check_identity_rules(config.instance));
  ZH_RETURN_IF_ERROR(WireProfiles::from_config(config));
  ZH_RETURN_IF_ERROR(RequestProfiles::from_config(config));
  ZH_RETURN_IF_ERROR(LimitSettings::from_config(config.limits));
  ZH_ASSIGN_OR_RETURN(const FairQueueOptions fairness,
                      fairness_options(config.scheduler, engine.sequences));
  std::uint32_t reserved = config.queue.pool_reserved_sequences;
  for (const ClassShare& share : fairness.classes) reserved += share.reserved_sequences;
  ZH_RETURN_IF_ERROR(concurrency_options(config.queue, {engine.sequences, reserved}));
  ZH_RETURN_IF_ERROR(class_waits(config));
  ZH_RETURN_IF_ERROR(slo_objectives(config));
  return check_auth(config);
}

}  // namespace zerohop
