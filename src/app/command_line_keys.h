// The part of the command line behind `zerohop keys`. Main thread.
#pragma once

#include <CLI/CLI.hpp>
#include <deque>
#include <string>
#include <vector>

#include "app/keys_options.h"
#include "core/error.h"

namespace zerohop {

/// Binds the subcommands below `keys` and keeps their words. CLI11 keeps references: never moved.
class KeysCommandLine {
 public:
  explicit KeysCommandLine(CLI::App& keys);
  KeysCommandLine(const KeysCommandLine&) = delete;
  KeysCommandLine& operator=(const KeysCommandLine&) = delete;

  /// Every subcommand, for the flags that all commands have.
  const std::vector<CLI::App*>& commands() const { return commands_; }

  /// After parsing. Errors: kConfiguration (no subcommand, a value that is none).
  Result<KeysOptions> options() const;

 private:
  struct LimitFlag {
    const CLI::App* app;
    const LimitField* field;
    std::string text;
    const CLI::Option* option;
  };

  CLI::App* command(CLI::App& parent, const std::string& name);
  void bind_limits(CLI::App& app);
  Result<void> read_limits(KeysOptions& options) const;
  Result<void> read_tenant(KeysOptions& options) const;

  std::vector<CLI::App*> commands_;
  CLI::App* create_;
  CLI::App* list_;
  CLI::App* revoke_;
  CLI::App* limits_;
  CLI::App* tenants_;
  CLI::App* tenants_set_;
  CLI::App* tenants_delete_;
  CLI::App* backup_;
  CLI::App* prune_;

  std::deque<LimitFlag> limit_flags_;
  std::vector<std::string> words_;
  std::string tenant_, name_, expires_days_, weight_, priority_, pool_, models_, ended_days_;
  std::string overload_status_;
  const CLI::Option* pool_given_ = nullptr;
  const CLI::Option* models_given_ = nullptr;
  bool json_ = false;
};

}  // namespace zerohop
