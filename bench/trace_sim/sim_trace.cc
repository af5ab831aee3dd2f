// zh_sim_trace FILE: what the cache, the queue and the engine make of recorded arrivals.
//
// Mooncake traces are replayed through the prefix cache; Azure and VTC traces, which know lengths
// only, through the engine. `--all` replays every trace of a folder and can write the report.
// `./dev sim-trace` builds and runs it. Bad command lines and files end with 2.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/whole_number.h"
#include "trace_sim/report.h"
#include "trace_sim/trace.h"

namespace zerohop::trace_sim {
namespace {

struct Wishes {
  std::string file;
  std::string cells;
  bool all = false;
  std::string folder;
  std::string write;
  std::size_t requests = 0;
  double base_ms = 0;
  double row_us = 0;
  double cell_ns = 0;
  CacheReportOptions cache;
  LoadReportOptions load;
};

constexpr int kBadInput = 2;
// Of the Azure traces in the report: an hour is 27 million tokens.
constexpr std::size_t kAzureRequests = 500;
constexpr std::uint32_t kAzureWindow = 8192;

int complain(const std::string& message) {
  std::fprintf(stderr, "zh_sim_trace: %s\n", message.c_str());
  return kBadInput;
}

void describe(CLI::App& app, Wishes& wishes) {
  app.add_option("file", wishes.file, "a Mooncake (.jsonl), Azure (.csv) or VTC (.jsonl) trace");
  app.add_option("--cells", wishes.cells,
                 "Mooncake: size of the cache, in tokens (512 a block) or, as in 5%, of all "
                 "different blocks (default: 5%, 20%, 80%)");
  app.add_option("--tokens-per-block", wishes.cache.tokens_per_block,
                 "Mooncake: tokens that stand for the 512 of a block")
      ->check(CLI::Range(1, 512))
      ->capture_default_str();
  app.add_option("--holders", wishes.cache.slots,
                 "Mooncake: slots that may hold prefixes (default: enough)");
  app.add_option("--requests", wishes.requests, "only the first so many");
  app.add_option("--load", wishes.load.loads,
                 "Azure, VTC: arrivals ÷ what can be served; several make a curve")
      ->check(CLI::Range(0.01, 100.0))
      ->capture_default_str();
  app.add_option("--sequences", wishes.load.engine.sequences, "Azure, VTC: computed at once")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--window", wishes.load.engine.window, "Azure, VTC: longer requests are cut")
      ->check(CLI::Range(16, 1 << 17))
      ->capture_default_str();
  app.add_option("--step-ms", wishes.base_ms, "of an empty step")->check(CLI::Range(0.0, 1e4));
  app.add_option("--row-us", wishes.row_us, "of a token in a step")->check(CLI::Range(0.0, 1e6));
  app.add_option("--cell-ns", wishes.cell_ns, "of a cell that a token looks back at")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--ttft", wishes.load.objectives.first_token_seconds,
                 "seconds to the first token that count as good")
      ->capture_default_str();
  app.add_option("--gap", wishes.load.objectives.gap_seconds,
                 "seconds between two tokens that count as good, at most")
      ->capture_default_str();
  app.add_flag("--all", wishes.all, "every trace of --folder, with the sizes of the report");
  app.add_option("--folder", wishes.folder, "where --all looks for the traces");
  app.add_option("--write", wishes.write,
                 "with --all: write the report here, and its picture beside");
}

// "4096" tokens or "5%".
std::optional<CacheSize> cache_size(std::string_view words) {
  const bool share = words.ends_with('%');
  if (share) words.remove_suffix(1);
  const double number = whole_number<double>(words).value_or(0);
  if (!(number > 0)) return std::nullopt;
  if (share) return number <= 100 ? std::optional(CacheSize{0, number / 100}) : std::nullopt;
  if (number < kBlockTokens || number > 1e12) return std::nullopt;
  return CacheSize{static_cast<std::uint64_t>(number / kBlockTokens), 0};
}

template <class Trace>
void shorten(Trace& trace, std::size_t requests) {
  if (requests != 0 && requests < trace.size()) trace.resize(requests);
}

Result<LoadReport> report_of(const std::string& path, const Wishes& wishes) {
  const Result<std::string> text = read_trace(path);
  if (!text) return text.error();
  const Result<TraceForm> form = trace_form(*text);
  if (!form) return form.error();
  if (*form == TraceForm::kMooncake) {
    Result<BlockTrace> trace = parse_mooncake(*text);
    if (!trace) return trace.error();
    shorten(*trace, wishes.requests);
    return LoadReport{cache_report(*trace, wishes.cache), {}};
  }
  Result<LengthTrace> trace = *form == TraceForm::kAzure ? parse_azure(*text) : parse_vtc(*text);
  if (!trace) return trace.error();
  shorten(*trace, wishes.requests);
  if (trace->back().seconds <= 0) return invalid_request(path, "all requests arrive at once");
  return load_report(*trace, wishes.load);
}

struct Part {
  std::string title;
  std::string file;
};

Result<std::string> whole_report(const Wishes& wishes, std::string& picture) {
  const std::vector<Part> parts = {
      {"Prefix cache: Mooncake conversation", "mooncake_conversation_trace.jsonl"},
      {"Prefix cache: Mooncake synthetic", "mooncake_synthetic_trace.jsonl"},
      {"Fairness: 27 clients of the VTC artifact", "vtc_VTC_all_results_real.jsonl"},
      {"Lengths and arrivals: Azure, conversation", "AzureLLMInferenceTrace_conv.csv"},
      {"Lengths and arrivals: Azure, code", "AzureLLMInferenceTrace_code.csv"}};
  std::string text;
  for (const Part& part : parts) {
    Wishes own = wishes;
    if (part.file.ends_with(".csv")) {
      own.requests = kAzureRequests;
      own.load.engine.window = kAzureWindow;
    }
    std::fprintf(stderr, "%s\n", part.file.c_str());
    const Result<LoadReport> report = report_of(wishes.folder + "/" + part.file, own);
    if (!report) return report.error();
    text += "## " + part.title + "\n\n" + report->text + "\n";
    if (!report->chart.lines.empty()) {
      picture = svg(report->chart);
      text += "![time to first token by load](trace_sim.svg)\n\n";
    }
  }
  return text;
}

std::string introduction(const Wishes& wishes) {
  const FakeStepCost& cost = wishes.load.engine.cost;
  return "# Recorded traffic through the cache and the engine\n\n"
         "Written by `./dev sim-trace --all --write`; the traces are those of "
         "`../shared/data/traces`. Nothing here\ndepends on the machine: the cache part counts "
         "hits, "
         "the engine part runs in virtual time.\n\n"
         "Prefix cache: each 512-token block is a run of " +
         std::to_string(wishes.cache.tokens_per_block) +
         " tokens in the real `PrefixCache`, one request at a\ntime; answers are computed and not "
         "kept. Hits are blocks of "
         "the longest cached prefix, as shares of those of a cache without\nlimit. The size is a "
         "share "
         "of all different blocks. `LRU` and `optimum` (Belady) are exact, by block.\n`gap "
         "closed`: "
         "(expected reuse − LRU) ÷ (optimum − LRU).\n\n"
         "The constants of the order by expected reuse were chosen on these two Mooncake traces, "
         "so "
         "its figures\nare not those of a load that nobody tuned on.\n\n"
         "Engine: a step takes " +
         fixed(to_milliseconds(cost.base), 1) + " ms + " +
         fixed(to_milliseconds(cost.per_row) * 1000, 0) + " µs a row + " +
         fixed(to_milliseconds(cost.per_cell) * 1e6, 0) +
         " ns a cell looked at (the default model on two cores),\n" +
         std::to_string(wishes.load.engine.sequences) +
         " sequences. `load` is the work that arrives ÷ what can be served. Good requests have "
         "their "
         "first\ntoken within " +
         fixed(wishes.load.objectives.first_token_seconds, 1) + " s and no gap above " +
         fixed(wishes.load.objectives.gap_seconds * 1000, 0) +
         " ms. `arrival` is first come, first served; `÷ alone`: the median of\nthe lighter half "
         "of "
         "the clients against each of them alone on the machine. Azure: the first " +
         std::to_string(kAzureRequests) + "\nrequests, cut to " + std::to_string(kAzureWindow) +
         " tokens.\n\n";
}

int write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  return file.good() ? 0 : complain(path + ": cannot be written");
}

int run_all(const Wishes& wishes) {
  if (wishes.folder.empty()) return complain("--all needs --folder");
  std::string picture;
  const Result<std::string> text = whole_report(wishes, picture);
  if (!text) return complain(text.error().message);
  if (wishes.write.empty()) {
    std::fputs(text->c_str(), stdout);
    return 0;
  }
  std::string picture_path = wishes.write;
  picture_path.replace(picture_path.rfind('.'), std::string::npos, ".svg");
  const int code = write_file(wishes.write, introduction(wishes) + *text);
  return code != 0 ? code : write_file(picture_path, picture);
}

int run_one(Wishes& wishes) {
  if (wishes.file.empty()) return complain("a trace file is needed, or --all");
  if (!wishes.cells.empty()) {
    const std::optional<CacheSize> size = cache_size(wishes.cells);
    if (!size) return complain("--cells: a number of tokens from 512 on, or a share such as 5%");
    wishes.cache.sizes = {*size};
  }
  const Result<LoadReport> report = report_of(wishes.file, wishes);
  if (!report) return complain(wishes.file + ": " + report.error().message);
  std::fputs(report->text.c_str(), stdout);
  return 0;
}

int run(int argc, char** argv) {
  Wishes wishes;
  CLI::App app("Replays recorded traffic through the prefix cache and the engine.");
  describe(app, wishes);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadInput;
  }
  FakeStepCost& cost = wishes.load.engine.cost;
  if (wishes.base_ms > 0) cost.base = from_seconds(wishes.base_ms / 1e3);
  if (wishes.row_us > 0) cost.per_row = from_seconds(wishes.row_us / 1e6);
  if (wishes.cell_ns > 0) cost.per_cell = from_seconds(wishes.cell_ns / 1e9);
  if (!wishes.write.empty() && (!wishes.all || wishes.write.rfind('.') == std::string::npos)) {
    return complain("--write goes with --all and names a file such as report.md");
  }
  return wishes.all ? run_all(wishes) : run_one(wishes);
}

}  // namespace
}  // namespace zerohop::trace_sim

int main(int argc, char** argv) { return zerohop::trace_sim::run(argc, argv); }
