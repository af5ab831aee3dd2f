// What `zerohop doctor` finds: facts of the machine, the configuration and a running server, each
// with a verdict and advice. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/config_load.h"
#include "app/machine_rates.h"
#include "core/error.h"

namespace zerohop {

enum class Verdict : std::uint8_t {
  kFine,
  kAdvice,  ///< works, and could be better
  kWrong,   ///< has to be mended
};

std::string_view verdict_name(Verdict verdict);

struct Diagnosis {
  Verdict verdict = Verdict::kFine;
  std::string_view about;  ///< machine, memory, model, files, server …; static text
  std::string text;
};

struct MachineFacts {
  std::string processor;
  std::string features;  ///< as the model library names them
  std::uint32_t cores = 0;
  std::uint64_t free_memory_bytes = 0;
  std::uint64_t open_files_max = 0;
  MachineRates rates;
  std::uint64_t model_bytes = 0;  ///< file of the configured model; 0: it is not here
};

std::vector<Diagnosis> diagnose_machine(const MachineFacts& facts, const Config& config);

/// One line for a configuration that is right; what is wrong with another one.
Diagnosis diagnose_config(const Result<LoadedConfig>& loaded);

/// `body`: of the server's /v1/system_info.
std::vector<Diagnosis> diagnose_server(std::string_view body);

/// One line each: verdict, about, text.
std::string diagnoses_text(const std::vector<Diagnosis>& diagnoses);
std::string diagnoses_json(const std::vector<Diagnosis>& diagnoses);

}  // namespace zerohop
