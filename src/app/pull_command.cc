// `zerohop pull`.
#include <iostream>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/model_store.h"

namespace zerohop {
namespace {

void print_list(const ModelStore& store, std::span<const KnownModel> models) {
  for (const KnownModel& model : models) {
    std::cout << model.name << (model.name == kDefaultModelName ? " (default)" : "") << "\n  "
              << model.description << "\n  " << model.file_bytes / 1'000'000
              << " MB; licence: " << model.licence << "\n  "
              << (store.has(model) ? store.path_of(model).string() : "not here yet") << "\n";
  }
}

}  // namespace

int run_pull(const PullOptions& options) {
  auto store_options = user_model_store_options(process_environment());
  if (!store_options.ok()) return report_failure(store_options.error());
  const std::span<const KnownModel> models = store_options->models;
  const ModelStore store(std::move(*store_options));
  if (options.list) {
    print_list(store, models);
    return std::cout.flush() ? kExitOk : kExitOther;
  }
  const std::string name = options.name.empty() ? std::string(kDefaultModelName) : options.name;
  const auto file = options.from.empty() ? store.pull(name) : store.import(name, options.from);
  if (!file.ok()) return report_failure(file.error());
  std::cout << file->string() << std::endl;
  return std::cout ? kExitOk : kExitOther;
}

}  // namespace zerohop
