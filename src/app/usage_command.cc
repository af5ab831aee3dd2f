// `zerohop usage`: sums of the ledger on standard output. It reads the file itself, so a server may
// be running or not; what that has not written yet (a tenth of a second) is not there.

#include <filesystem>
#include <iostream>

#include "app/commands.h"
#include "app/config_error.h"
#include "app/exit_code.h"
#include "app/kept_files.h"
#include "app/usage_keeper.h"

namespace zerohop {
namespace {

// In the words of the command line.
Error of_flag(const Error& error) {
  return configuration_error("--" + error.field + ": " + error.message);
}

Result<std::string> report(const LimitsConfig& config, const UsageOptions& options) {
  const Result<LedgerQuery> query = usage_query(options);
  if (!query.ok()) return of_flag(query.error());
  if (config.usage_folder.empty()) {
    return configuration_error("limits.usage_folder is empty: usage is not kept");
  }
  ZH_ASSIGN_OR_RETURN(const std::filesystem::path folder,
                      state_path(config.usage_folder, kUsageFolderName));
  DatabaseOptions file;
  file.path = ledger_file(folder).string();
  file.rule = OpenRule::kMustExist;
  ZH_ASSIGN_OR_RETURN(const std::unique_ptr<Ledger> ledger, Ledger::open(file));
  ZH_ASSIGN_OR_RETURN(const std::vector<LedgerSum> sums, ledger->sums(*query));
  return options.json ? usage_json(query->by, sums) : usage_csv(query->by, sums);
}

}  // namespace

int run_usage(const Config& config, const UsageOptions& options) {
  const Result<std::string> text = report(config.limits, options);
  if (!text.ok()) return report_failure(text.error());
  std::cout << *text << std::flush;
  return std::cout ? kExitOk : kExitOther;
}

}  // namespace zerohop
