// `zerohop usage`: sums of the ledger on standard output. It reads the file itself, so a server may
// be running or not; what that has not written yet (a tenth of a second) is not there.

#include <filesystem>
#include <iostream>

#include "app/commands.h"
#include "app/environment.h"
#include "app/exit_code.h"
#include "app/paths.h"
#include "app/usage_keeper.h"

namespace zerohop {
namespace {

Result<std::filesystem::path> usage_folder(const LimitsConfig& config) {
  if (config.usage_folder.empty()) {
    return Error{
        ErrorCode::kConfiguration, "limits.usage_folder is empty: usage is not kept", "", {}};
  }
  if (config.usage_folder != "auto") return std::filesystem::path(config.usage_folder);
  ZH_ASSIGN_OR_RETURN(const UserFolders folders, user_folders(process_environment()));
  return folders.state / "usage";
}

Result<std::string> report(const LimitsConfig& config, const UsageOptions& options) {
  ZH_ASSIGN_OR_RETURN(const LedgerQuery query, usage_query(options));
  ZH_ASSIGN_OR_RETURN(const std::filesystem::path folder, usage_folder(config));
  DatabaseOptions file;
  file.path = ledger_file(folder).string();
  file.rule = OpenRule::kMustExist;
  ZH_ASSIGN_OR_RETURN(const std::unique_ptr<Ledger> ledger, Ledger::open(file));
  ZH_ASSIGN_OR_RETURN(const std::vector<LedgerSum> sums, ledger->sums(query));
  return options.json ? usage_json(query.by, sums) : usage_csv(query.by, sums);
}

}  // namespace

int run_usage(const Config& config, const UsageOptions& options) {
  const Result<std::string> text = report(config.limits, options);
  if (!text.ok()) return report_failure(text.error());
  std::cout << *text << std::flush;
  return std::cout ? kExitOk : kExitOther;
}

}  // namespace zerohop
