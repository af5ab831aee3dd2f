// Reading the configuration: flag over environment over YAML file over default.
//
// An unknown key, a value of the wrong type or out of range, and settings that contradict each
// other are errors that name the place ("zerohop.yaml:3", "ZEROHOP_SERVER_PORT", "--port"), the
// value and what would be right. Nothing is coerced or ignored. Main thread, at start.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/config.h"
#include "app/config_table.h"
#include "app/environment.h"
#include "core/error.h"

namespace zerohop {

/// A flag as it was typed.
struct FlagValue {
  const ConfigKey* key = nullptr;
  std::string text;
};

struct ConfigSources {
  std::optional<std::filesystem::path> file;  ///< must exist when given
  Environment environment;                    ///< only ZEROHOP_* and kStandardVariables are read
  std::vector<FlagValue> flags;
  std::uint64_t seed = 0;  ///< for the instance id, when none is configured
};

/// Where an instance id comes from that nobody has configured.
inline constexpr std::string_view kMadeUpOrigin = "made up";

/// Variables that other programs know too, and the keys that they set where nobody else does. They
/// are meant for every program of the machine, so a value that this one cannot use is no reason not
/// to start: it is left out, with a warning.
struct StandardVariable {
  std::string_view name;
  std::string_view path;
};
inline constexpr StandardVariable kStandardVariables[] = {
    {"OTEL_EXPORTER_OTLP_ENDPOINT", "otlp.endpoint"}, {"OTEL_SERVICE_NAME", "otlp.service_name"}};

/// A setting and where it comes from: "default", "zerohop.yaml:3", "ZEROHOP_SERVER_PORT", "--port".
struct ConfigOrigin {
  const ConfigKey* key = nullptr;
  std::string origin;
  std::map<std::string, std::string> entries = {};  ///< of a map in a file: where each stands
};

struct LoadedConfig {
  Config config;
  std::vector<ConfigOrigin> origins;  ///< one for each key, in the order of the table
  std::vector<std::string> warnings;  ///< for people: what was left out, why, and what to do
};

/// Errors: kConfiguration, one line.
Result<LoadedConfig> load_config(const ConfigSources& sources);

/// A fault of a configuration that was read, told with the place where the key it names was set
/// ("zerohop.yaml:3: limits.prices.a: …"); of a map whose entry it names ("KEY: 'ENTRY': …"), where
/// that entry was.
Error with_origin(const LoadedConfig& loaded, Error error);

/// What no single key can say: settings that contradict each other. Errors: kConfiguration.
Result<void> check_config_rules(const Config& config);

/// Whether `host` reaches only this machine: localhost, 127.0.0.0/8, ::1.
bool is_loopback_host(std::string_view host);

/// Whether more than this machine may reach the server.
bool serves_public_address(const ServerConfig& server);

/// One value of a YAML file.
struct YamlSetting {
  const ConfigKey* key = nullptr;
  RawValue value;
  int line = 0;                                 ///< counted from 1
  std::map<std::string, int> entry_lines = {};  ///< of a map
};

/// The settings in `text`, in its order. `name` is how messages call the file. Errors:
/// kConfiguration.
Result<std::vector<YamlSetting>> parse_config_yaml(const std::string& text,
                                                   const std::string& name);

}  // namespace zerohop
