// The door of the server as its clients see it, against the program in processes of its own.
//
//   refusals       how many a second, and how quickly at 5,000 a second
//   policy         what keys, limits, ledger and limits of addresses cost a request
//   memory         resident memory beside model and KV
//   growth         resident memory over 100,000 requests
//   overload       answers in time at ten times the load that can be answered
//   probes         /healthz and /metrics while long prompts are computed
//   observability  what metrics, log, scrapes and console cost eight streams
//
// ./dev bench admission runs them with the micro-benchmarks and the count of system calls and
// writes docs/measurements/admission_bench.md. The program takes a subset of the names and
//   --ours PATH, --model PATH, --threads N   as the other benchmarks do
//   --report PATH                            a page to write the tables to

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "door_scenarios.h"

namespace zerohop::bench {
namespace {

std::string page_head(const Programs& programs) {
  return "# Admission\n\nWritten by `./dev bench admission`. Server and generator share the cores "
         "of one machine; servers run in processes of their own, with the configuration's defaults "
         "where nothing else is said. Where there were several rounds: the median, and the "
         "range.\n\n- machine: " +
         machine_description() +
         "\n- model: " + std::filesystem::path(programs.model).filename().string() + "\n- " +
         version_of(programs.ours, Side::kOurs) + "\n";
}

int run(const ProgramWords& words) {
  if (words.has("bare-memory")) return report_bare_memory();
  const std::vector<std::pair<std::string, std::function<void(const DoorBench&)>>> scenarios{
      {"refusals", bench_refusals},
      {"policy", bench_policy},
      {"memory", bench_memory},
      {"growth", bench_growth},
      {"overload", bench_overload},
      {"probes", bench_probes},
      {"observability", bench_observability}};
  Comparison report;
  DoorKeys keys;
  const DoorBench bench{words.programs(), keys, report};
  const std::string head = page_head(bench.programs);
  for (const auto& [name, scenario] : scenarios) {
    if (!words.wants(name)) continue;
    scenario(bench);
    // After each, so that an interrupted run keeps what it has.
    if (words.has("report")) report.write(words.text("report", ""), head);
  }
  return 0;
}

}  // namespace
}  // namespace zerohop::bench

int main(int argc, char** argv) {
  return zerohop::bench::run(zerohop::bench::ProgramWords(argc, argv));
}
