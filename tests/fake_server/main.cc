// zh_fake_server: the real server around a model that says what a script tells it to. For the
// end-to-end tests with client libraries, which need calls and thoughts that a small model does not
// produce on demand.
//
//   zh_fake_server --script FILE [--plain-template] [flags of zerohop serve]
//
// Prints the same ready line as `zerohop serve`. The window is 200,000 tokens; a token is a byte.
// Keys and usage are kept only where `auth.store` and `limits.usage_folder` name a place.
// The model's chat template shows tools and thinking, as those of current models do; with
// --plain-template it knows roles and texts alone.
#include <csignal>
#include <fstream>
#include <iostream>
#include <sstream>

#include "app/command_line.h"
#include "app/exit_code.h"
#include "app/paths.h"
#include "app/server.h"
#include "base/random.h"
#include "script.h"

namespace zerohop {
namespace {

constexpr std::uint32_t kWindow = 200'000;

struct Arguments {
  std::string script;
  FakeTemplateSkills skills{.tools = true, .thinking = true};
  std::vector<std::string> serve{"serve"};
};

Arguments split(int argc, char** argv) {
  Arguments result;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--script" && i + 1 < argc) {
      result.script = argv[++i];
    } else if (std::string_view(argv[i]) == "--plain-template") {
      result.skills = {};
    } else {
      result.serve.emplace_back(argv[i]);
    }
  }
  return result;
}

Result<Script> read_script(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Error{ErrorCode::kConfiguration, "--script: cannot read '" + path + "'", "", {}};
  }
  std::ostringstream text;
  text << file.rdbuf();
  return parse_script(text.str());
}

Result<void> keep_keys(Server& server, const std::string& store) {
  return store == "auto" ? Result<void>() : server.keep_keys(store);
}

Result<void> keep_usage(Server& server, const std::string& folder) {
  return folder.empty() || folder == "auto" ? Result<void>() : server.keep_usage(folder);
}

Result<void> keep_batches(Server& server, const std::string& folder) {
  if (folder.empty()) return {};
  if (folder != "auto") return server.keep_batches(folder);
  ZH_ASSIGN_OR_RETURN(const UserFolders folders, user_folders(process_environment()));
  return server.keep_batches(folders.state);
}

Result<void> serve(const Arguments& arguments) {
  ZH_ASSIGN_OR_RETURN(Script script, read_script(arguments.script));
  ZH_ASSIGN_OR_RETURN(const CommandLine line, parse_command_line(arguments.serve));
  ZH_ASSIGN_OR_RETURN(LoadedConfig loaded,
                      load_config_for(line, process_environment(), os_random_seed()));
  Config& config = loaded.config;
  config.model.name = "fake";
  if (config.engine.context_tokens == 0) config.engine.context_tokens = kWindow;
  log_configure({.level = config.log.level, .format = config.log.format});
  FakeModelOptions options;
  options.name = config.model.name;
  options.context_trained = kWindow;
  options.template_skills = arguments.skills;
  options = scripted_model(std::move(script), options);
  const SteadyClock clock;
  Server server(config, clock);
  ZH_RETURN_IF_ERROR(keep_keys(server, config.auth.store));
  ZH_ASSIGN_OR_RETURN(const Endpoint endpoint, server.listen());
  ZH_RETURN_IF_ERROR(server.load(make_fake_model(options)));
  ZH_RETURN_IF_ERROR(keep_batches(server, config.batches.folder));
  ZH_RETURN_IF_ERROR(keep_usage(server, config.limits.usage_folder));
  server.handle_signals();
  std::cout << "ready " << endpoint.url() << " instance=" << config.instance.id
            << " model=" << options.name << std::endl;
  server.run();
  return {};
}

}  // namespace
}  // namespace zerohop

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const auto served = zerohop::serve(zerohop::split(argc, argv));
  return served.ok() ? zerohop::kExitOk : zerohop::report_failure(served.error());
}
