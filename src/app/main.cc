// The program: command line → configuration → one subcommand. Everything else is in the library.
#include <iostream>
#include <memory>

#include "app/command_line.h"
#include "app/exit_code.h"
#include "base/core_dumps.h"
#include "base/log.h"
#include "base/random.h"
#include "policy/redact.h"

namespace zerohop {
namespace {

// Read again, the configuration comes from the file of the start: one that is gone for a moment is
// an error then, not a reason to serve with defaults.
CommandLine with_its_file(CommandLine line, const Environment& environment) {
  if (line.config_file) return line;
  // Without a folder for it load_config_for() says why.
  if (const auto file = users_config_file(environment); file.ok()) line.config_file = *file;
  return line;
}

int run_with_config(const CommandLine& typed) {
  const CommandLine line = with_its_file(typed, process_environment());
  const auto read = [line, environment = process_environment(), seed = os_random_seed()] {
    return load_config_for(line, environment, seed);
  };
  const auto loaded = read();
  if (line.command == Command::kCheckConfig) return run_check_config(loaded);
  if (line.command == Command::kDoctor) return run_doctor(loaded, line.doctor);
  if (!loaded.ok()) return report_failure(loaded.error());
  const Config& config = loaded->config;
  log_configure({.level = config.log.level, .format = config.log.format});
  log_set_redactor(std::make_shared<PiiRedactor>());
  if (config.server.core_dumps == CoreDumps::kForbid) {
    if (const std::error_code fault = forbid_core_dumps()) {
      log_warning("core files cannot be forbidden", {{"reason", fault.message()}});
    }
  }
  switch (line.command) {
    case Command::kServe:
      for (const std::string& left_out : loaded->warnings) {
        log_warning("a setting is left out", {{"reason", left_out}});
      }
      return run_serve(config, read);
    case Command::kChat: return run_chat(config, line.chat);
    case Command::kExplainMiss: return run_explain_miss(config, line.explain_miss);
    case Command::kConstrainCheck: return run_constrain_check(config, line.constrain_check);
    case Command::kKeys: return run_keys(config, line.keys);
    case Command::kUsage: return run_usage(config, line.usage);
    default: return run_tokenize(config, line.tokenize);
  }
}

int run(const CommandLine& line) {
  switch (line.command) {
    case Command::kHelp: std::cout << line.help_text << std::flush; return kExitOk;
    case Command::kVersion: return run_version();
    case Command::kPull: return run_pull(line.pull);
    case Command::kExplain: return run_explain(line.explain);
    case Command::kTop: return run_top(line.top);
    case Command::kDoctor:
    case Command::kServe:
    case Command::kChat:
    case Command::kCheckConfig:
    case Command::kTokenize:
    case Command::kExplainMiss:
    case Command::kConstrainCheck:
    case Command::kKeys:
    case Command::kUsage: break;
  }
  return run_with_config(line);
}

}  // namespace
}  // namespace zerohop

int main(int argc, char** argv) {
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i) arguments.emplace_back(argv[i]);
  const auto line = zerohop::parse_command_line(arguments);
  return line.ok() ? zerohop::run(*line) : zerohop::report_failure(line.error());
}
