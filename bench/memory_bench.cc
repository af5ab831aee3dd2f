// What the server needs beside the model: its resident memory less that of libllama alone with the
// same file, cells and threads; and whether it grows with the number of requests.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/config_load.h"
#include "app/engine_setup.h"
#include "app/model_options.h"
#include "app/model_store.h"
#include "bare_loop.h"
#include "base/check.h"
#include "door_scenarios.h"
#include "http_wire.h"
#include "model/llama_model.h"
#include "model/llama_test_tiny.h"
#include "paced_load.h"
#include "process_use.h"
#include "report.h"

namespace zerohop::bench {
namespace {

constexpr std::size_t kStreams = 500;
constexpr int kRounds = 2;
constexpr double kMemoryGoalMib = 64;
constexpr Room kRoom{.sequences = 8, .cells = 16384, .window = 2048};

constexpr std::size_t kManyRequests = 100'000;
constexpr std::size_t kReports = 5;
// A leak of 84 bytes a request would show.
constexpr double kGrowthGoalMib = 8;

// Both sides keep the layout of the cells fixed and nothing of KV outside of the cells.
std::vector<std::string> same_settings() {
  return {"ZEROHOP_MODEL_PREPARE=off", "ZEROHOP_ENGINE_KV_LAYOUT=unified",
          "ZEROHOP_ENGINE_HOST_CACHE_BYTES=0", "ZEROHOP_SCHEDULER_MAX_WAIT_SECONDS=86400"};
}

std::vector<std::string> environment_of(DoorKeys& keys) {
  std::vector<std::string> environment = keys.environment();
  for (const std::string& variable : same_settings()) environment.push_back(variable);
  return environment;
}

std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

double bare_memory_mib(const Programs& programs) {
  std::string words = "ZEROHOP_MODEL_NAME='" + programs.model +
                      "' ZEROHOP_ENGINE_THREADS=" + std::to_string(programs.threads) +
                      " ZEROHOP_ENGINE_SEQUENCES=" + std::to_string(kRoom.sequences) +
                      " ZEROHOP_ENGINE_KV_CELLS=" + std::to_string(kRoom.cells) +
                      " ZEROHOP_ENGINE_CONTEXT_TOKENS=" + std::to_string(kRoom.window) + " ";
  for (const std::string& variable : same_settings()) words += variable + " ";
  words += "'" + own_program() + "' --bare-memory 1 2>/dev/null";
  std::FILE* pipe = popen(words.c_str(), "r");
  ZH_CHECK(pipe != nullptr);
  double mib = 0;
  const int read = std::fscanf(pipe, "%lf", &mib);
  ZH_CHECK(pclose(pipe) == 0 && read == 1);
  return mib;
}

// Streams that are open until the object goes: every one has its head and none its end.
class OpenStreams {
 public:
  OpenStreams(std::uint16_t port, const std::vector<std::string>& keys) {
    for (std::size_t i = 0; i < kStreams; ++i) {
      // The first one fills a whole batch of rows, as libllama alone does.
      std::string text = "Letter " + std::to_string(i) + ": tell me a long story. ";
      while (i == 0 && text.size() < 4'000) text += "Once upon a time. ";
      const std::string body =
          R"({"model":"smollm2-135m","max_tokens":1000,"temperature":0,"stream":true,)"
          R"("logit_bias":{"0":-100,"2":-100},"messages":[{"role":"user","content":")" +
          text + R"("}]})";
      descriptors_.push_back(connect_to(port));
      ZH_CHECK(send_all(descriptors_.back(),
                        post_bytes("/v1/messages", body, key_header(keys[i % keys.size()]))));
    }
    for (const int descriptor : descriptors_) {
      char status[12];
      ZH_CHECK(recv(descriptor, status, sizeof status, MSG_WAITALL) == sizeof status);
      ZH_CHECK(std::string_view(status, sizeof status) == "HTTP/1.1 200");
    }
  }
  ~OpenStreams() {
    for (const int descriptor : descriptors_) close(descriptor);
  }
  OpenStreams(const OpenStreams&) = delete;
  OpenStreams& operator=(const OpenStreams&) = delete;

 private:
  std::vector<int> descriptors_;
};

void measure_beside_model(const DoorBench& bench) {
  const std::vector<std::string> environment = environment_of(bench.keys);
  ComparisonRow bare{"libllama alone", "MiB"};
  ComparisonRow ready{"zerohop, ready, 1,000 keys", "MiB"};
  ComparisonRow busy{"… with 500 open streams", "MiB"};
  ComparisonRow peak{"… its peak", "MiB"};
  ComparisonRow beside{"beside model and KV", "MiB"};
  for (int round = 0; round < kRounds; ++round) {
    bare.ours.push_back(bare_memory_mib(bench.programs));
    const ChildServer server(bench.programs, Side::kOurs, kRoom, environment);
    ready.ours.push_back(server.use().resident_mib);
    const OpenStreams streams(server.port(), bench.keys.texts());
    busy.ours.push_back(server.use().resident_mib);
    peak.ours.push_back(server.use().resident_peak_mib);
    beside.ours.push_back(busy.ours.back() - bare.ours.back());
  }
  beside.goal = "≤ 64 MiB";
  beside.met = percentile(beside.ours, 0.5) <= kMemoryGoalMib;
  for (const ComparisonRow& row : {bare, ready, busy, peak, beside}) bench.report.add(row);
}

// `count` requests from number `first` on, no two with the same text.
std::vector<std::string> many_requests(const std::vector<std::string>& keys, std::size_t first,
                                       std::size_t count) {
  std::vector<std::string> requests;
  for (std::size_t i = first; i < first + count; ++i) {
    std::string words;  // letters only: the tiny model's vocabulary has no others
    for (std::size_t left = i; left > 0 || words.size() < 6; left /= 26) {
      words += static_cast<char>('a' + left % 26);
    }
    const std::string body =
        R"({"model":"tiny","max_tokens":2,"temperature":0,"messages":[{"role":"user","content":")" +
        words + R"("}]})";
    requests.push_back(post_bytes("/v1/messages", body, key_header(keys[i % keys.size()])));
  }
  return requests;
}

void measure_growth(const DoorBench& bench) {
  const std::filesystem::path model = bench.keys.folder() / "tiny.gguf";
  write_tiny_model(model, TinyKind::kDense);
  Programs programs = bench.programs;
  programs.model = model.string();
  const std::vector<std::string> environment = environment_of(bench.keys);
  const ChildServer server(programs, Side::kOurs, kRoom, environment);
  const std::size_t part = kManyRequests / kReports;
  std::vector<double> resident;
  double seconds = 0;
  for (std::size_t i = 0; i < kReports; ++i) {
    const LoadFigures figures =
        run_closed({.port = server.port(),
                    .requests = many_requests(bench.keys.texts(), i * part, part),
                    .connections = 32},
                   {600, part});
    if (figures.latencies(200).size() != part) {
      std::printf("  not all were answered: %s\n", figures.statuses().c_str());
    }
    seconds += figures.seconds;
    resident.push_back(server.use().resident_mib);
    bench.report.add(
        {"after " + std::to_string((i + 1) * part) + " requests", "MiB", {resident.back()}});
  }
  ComparisonRow growth{"growth over the last 80,000", "MiB", {resident.back() - resident.front()}};
  growth.goal = "flat: ≤ 8 MiB";
  growth.met = growth.ours.front() <= kGrowthGoalMib;
  bench.report.add(growth);
  bench.report.add({"requests a second", "/s", {static_cast<double>(kManyRequests) / seconds}});
}

}  // namespace

int report_bare_memory() {
  ConfigSources sources;
  sources.environment = process_environment();
  const Result<LoadedConfig> loaded = load_config(sources);
  ZH_CHECK(loaded.ok());
  const Config& config = loaded->config;
  const auto file = resolve_model(config.model.name, PullPolicy::kNever);
  ZH_CHECK(file.ok());
  ContextOptions options;
  std::vector<std::vector<Token>> prompts;
  {
    // Only for its numbers: what it holds is given back before the other side is loaded.
    const auto model = load_llama_model(llama_model_options(config.model, *file));
    ZH_CHECK(model.ok());
    options = context_options(config.engine, (*model)->info());
  }
  // A whole batch of rows, so that everything that is computed with has been touched.
  for (std::uint32_t i = 0; i < config.engine.sequences; ++i) {
    prompts.emplace_back(i == 0 ? options.batch_rows : 32, static_cast<Token>(100 + i));
  }
  BareLoop bare(file->string(), options);
  bare.decode_rate(prompts, 8);
  std::printf("%.1f\n", process_use(getpid()).resident_mib);
  return 0;
}

void bench_memory(const DoorBench& bench) {
  bench.report.begin(
      "memory",
      "Resident memory of the process with 1,000 keys, limits, budgets and ledger while 500 "
      "streams "
      "are open (8 are computed, the others wait with their head sent), less that of libllama "
      "alone "
      "in a process of its own that has loaded the same file, made the same context (16,384 cells) "
      "and computed a whole batch and 8 answers. Host memory for parked states is off: it is KV.",
      kFigures);
  measure_beside_model(bench);
}

void bench_growth(const DoorBench& bench) {
  bench.report.begin(
      "growth",
      "100,000 requests of 2 tokens with different texts from 1,000 keys on 32 connections, each a "
      "row of the ledger. Here the model is one of two random layers (92 kB), so that they take a "
      "minute. Until about 17,000 requests the cache of tokenised texts fills (16,384 texts). "
      "Resident memory, model and KV (16,384 cells) included.",
      kFigures);
  measure_growth(bench);
}

}  // namespace zerohop::bench
