// `zerohop doctor`: what could be better here.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "app/ask_server.h"
#include "app/commands.h"
#include "app/doctor_report.h"
#include "app/exit_code.h"
#include "app/machine.h"
#include "app/model_store.h"
#include "base/clock.h"
#include "model/llama_backend.h"

namespace zerohop {
namespace {

std::uint64_t model_bytes(const Config& config) {
  const auto file = resolve_model(config.model.name, PullPolicy::kNever);
  std::error_code fault;
  const auto size = file.ok() ? std::filesystem::file_size(*file, fault) : 0;
  return fault ? 0 : size;
}

MachineFacts facts_of_machine(const Config& config) {
  MachineFacts facts;
  facts.processor = processor_name();
  facts.cores = usable_cores();
  facts.free_memory_bytes = free_memory_bytes();
  facts.open_files_max = allow_open_files();  // as a server does
  facts.model_bytes = model_bytes(config);
  facts.rates = measure_machine_rates(SteadyClock(), facts.cores);
  facts.features = llama_system_info();
  return facts;
}

}  // namespace

int run_doctor(const Result<LoadedConfig>& loaded, const DoctorOptions& options) {
  std::vector<Diagnosis> found{diagnose_config(loaded)};
  const Config config = loaded.ok() ? loaded->config : Config{};
  std::ranges::move(diagnose_machine(facts_of_machine(config), config), std::back_inserter(found));
  const Result<std::string> body = ask_server(options.server, "/v1/system_info");
  if (body.ok()) {
    std::ranges::move(diagnose_server(*body), std::back_inserter(found));
  } else {
    found.push_back({Verdict::kAdvice, "server", "not asked: " + body.error().message});
  }
  std::cout << (options.json ? diagnoses_json(found) : diagnoses_text(found)) << std::flush;
  if (!std::cout) return kExitOther;
  const bool wrong = std::ranges::any_of(
      found, [](const Diagnosis& diagnosis) { return diagnosis.verdict == Verdict::kWrong; });
  return wrong ? kExitOther : kExitOk;
}

}  // namespace zerohop
