// `zerohop check-config`.
#include <filesystem>
#include <iostream>
#include <system_error>

#include "app/commands.h"
#include "app/config_text.h"
#include "app/exit_code.h"
#include "app/key_watch.h"

namespace zerohop {
namespace {

// As `serve` will look at it.
Result<void> check_key_store(const Config& config) {
  const AuthConfig& auth = config.auth;
  if (never_asks_for_keys(auth)) return {};
  ZH_ASSIGN_OR_RETURN(const std::string path, key_store_path(auth));
  std::error_code fault;
  const bool there = std::filesystem::exists(path, fault);
  if (!there && !fault) {
    return check_keys_for_address(config, KeyRing(KeyStoreContents{}));
  }
  ZH_ASSIGN_OR_RETURN(const std::unique_ptr<KeyStore> store,
                      KeyStore::open(path, OpenRule::kMustExist));
  ZH_ASSIGN_OR_RETURN(KeyStoreContents contents, store->read());
  return check_keys_for_address(config, KeyRing(std::move(contents)));
}

}  // namespace

int run_check_config(const Result<LoadedConfig>& loaded) {
  if (!loaded.ok()) return report_failure(loaded.error());
  const Result<void> keys = check_key_store(loaded->config);
  if (!keys.ok()) return report_failure(keys.error());
  for (const std::string& warning : loaded->warnings) std::cerr << "warning: " << warning << "\n";
  std::cout << effective_config_text(*loaded) << std::flush;
  return std::cout ? kExitOk : kExitOther;
}

}  // namespace zerohop
