// The command line: argv to a typed command. Flags of the configuration come from config_table.h
// and are kept as text (config_load.h gives them their type), so that every source has the same
// messages.
//
// A wrong command, flag or argument is one clear line (kConfiguration, exit code 2). Main thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/commands.h"
#include "app/config_load.h"
#include "core/error.h"

namespace zerohop {

enum class Command {
  kHelp,
  kVersion,
  kServe,
  kChat,
  kPull,
  kCheckConfig,
  kTokenize,
  kExplainMiss,
  kConstrainCheck,
  kKeys,
  kUsage,
  kExplain,
  kTop,
  kDoctor,
};

struct CommandLine {
  Command command = Command::kHelp;
  std::string help_text;  ///< for kHelp

  // For the commands that read the configuration.
  std::optional<std::filesystem::path> config_file;
  std::vector<FlagValue> flags;

  ChatOptions chat;
  PullOptions pull;
  TokenizeOptions tokenize;
  ExplainMissOptions explain_miss;
  ConstrainCheckOptions constrain_check;
  KeysOptions keys;
  UsageOptions usage;
  ExplainOptions explain;
  TopOptions top;
  DoctorOptions doctor;
};

/// `arguments` without the program's name. Errors: kConfiguration.
Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments);

/// The user's own configuration file (paths.h), if there is one. Errors: those of user_folders().
Result<std::optional<std::filesystem::path>> users_config_file(const Environment& environment);

/// The configuration that `line` and `environment` ask for. Without --config, the user's own file
/// (paths.h) is read if it exists. Errors: kConfiguration.
Result<LoadedConfig> load_config_for(const CommandLine& line, const Environment& environment,
                                     std::uint64_t seed);

}  // namespace zerohop
