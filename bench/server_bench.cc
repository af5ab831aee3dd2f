// The server against libllama called directly, in one process, on the default model.
//
//   streams   tokens/s of 8 parallel streams through HTTP, beside a bare loop with the same batch
//   gap       the longest silence of 4 running streams while a prompt of 2,000 tokens arrives
//   count     count_tokens of 1 kB, beside the bare tokenizer
//   prompt    body to tokens for a conversation seen before, beside the bare tokenizer
//   overhead  a one-token answer to a cached prompt, beside the bare decode of that token
//   prefill   a prompt of 2,000 tokens beside 4 streams, and a bare loop that takes the same steps
//   roofline  decode beside what memory gives, prefill beside what matrix products give, both
//             measured in the same rounds
//   full      8 streams on empty cells, and when prompts that nobody reads again have filled them;
//             with ZEROHOP_ENGINE_HOST_CACHE_BYTES=0 they have nowhere to go
//   prefix    what 1,000 cached tokens in front of a short prompt cost, beside the bare loop
//
// ./dev bench server; the program takes a subset of the names. Settings come from ZEROHOP_*
// variables, as those of the server do (ZEROHOP_ENGINE_KV_LAYOUT=streams, for example). Both sides
// use the same file, context parameters and threads, in alternating rounds, so the ratios hold on a
// noisy machine.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/config_load.h"
#include "app/machine_rates.h"
#include "app/model_options.h"
#include "app/model_store.h"
#include "app/server.h"
#include "app/service.h"
#include "bare_loop.h"
#include "base/check.h"
#include "base/log.h"
#include "count_bench.h"
#include "load_client.h"
#include "model/llama_model.h"
#include "prefill_bench.h"
#include "program_words.h"
#include "prompt_bench.h"
#include "report.h"

namespace zerohop::bench {
namespace {

constexpr int kRounds = 5;
constexpr int kStreams = 8;
constexpr int kDecodeTokens = 120;
constexpr std::size_t kLongPrompt = 1000;
// More than any of the scenarios holds. Left open, each of the contexts here (the server's, that of
// the bare loop, that of `prefill`) would take a full window for every sequence: 1.5 GB with the
// default model, up to half of the free memory.
constexpr std::uint32_t kCells = 16384;

// A question whose answer never ends early: both end-of-turn tokens of the default model are
// banned.
std::string request_body(const std::string& question, int max_tokens) {
  return R"({"max_tokens":)" + std::to_string(max_tokens) +
         R"(,"temperature":0,"stream":true,"logit_bias":{"0":-100,"2":-100},)"
         R"("messages":[{"role":"user","content":")" +
         question + R"("}]})";
}

std::string question(int number) {
  return "Tell me a long story about traveller number " + std::to_string(number) +
         " who walks from town to town and writes letters home.";
}

Conversation conversation_of(const std::string& text) {
  Conversation conversation;
  Message message;
  message.content.push_back(TextBlock{text});
  conversation.messages.push_back(message);
  return conversation;
}

// Tokens per second while all streams decode.
double served_rate(std::uint16_t port, int streams) {
  StreamGroup group(port);
  for (int i = 0; i < streams; ++i) group.start(request_body(question(i), kDecodeTokens));
  group.read_all();
  double begin = 0;
  double end = 1e300;
  for (const StreamLog& log : group.logs()) {
    begin = std::max(begin, log.delta_times.front());
    end = std::min(end, log.delta_times.back());
  }
  double tokens = 0;
  for (const StreamLog& log : group.logs()) {
    // Where a character spans tokens there are fewer deltas than tokens.
    const double per_delta = log.output_tokens / static_cast<double>(log.delta_times.size());
    const auto inside = std::count_if(log.delta_times.begin(), log.delta_times.end(),
                                      [&](double at) { return at > begin && at <= end; });
    tokens += per_delta * static_cast<double>(inside);
  }
  return tokens / (end - begin);
}

void bench_streams(std::uint16_t port, const Tier& tier, BareLoop& bare) {
  std::vector<std::vector<Token>> prompts;
  for (int i = 0; i < kStreams; ++i) {
    prompts.push_back(tier.prompts().prepare(conversation_of(question(i)))->tokens);
  }
  std::vector<double> served;
  std::vector<double> direct;
  std::vector<double> ratios;
  for (int round = 0; round < kRounds; ++round) {
    served.push_back(served_rate(port, kStreams));
    direct.push_back(bare.decode_rate(prompts, kDecodeTokens));
    ratios.push_back(served.back() / direct.back());
  }
  print_row("8 streams, through HTTP", served, "tokens/s");
  print_row("8 streams, bare loop", direct, "tokens/s");
  print_row("8 streams, ratio", ratios, "");
}

void bench_gap(std::uint16_t port, const Tier& tier) {
  std::string long_text;
  while (tier.prompts().prepare(conversation_of(long_text))->tokens.size() < 2000) {
    long_text += "The quick brown fox jumps over the lazy dog while the rain falls on the hills. ";
  }
  std::vector<double> gaps;
  std::vector<double> first_tokens;
  for (int round = 0; round < kRounds; ++round) {
    StreamGroup group(port);
    for (int i = 0; i < 4; ++i) group.start(request_body(question(i), 400));
    group.read_until([](const std::vector<StreamLog>& logs) {
      return std::all_of(logs.begin(), logs.end(),
                         [](const StreamLog& log) { return log.delta_times.size() >= 20; });
    });
    // A prefix of its own, so that no round finds the last one's cells.
    const std::size_t intruder =
        group.start(request_body(std::to_string(round) + " " + long_text, 4));
    group.read_until([intruder](const std::vector<StreamLog>& logs) {
      return !logs[intruder].delta_times.empty();
    });
    const StreamLog& arrival = group.logs()[intruder];
    const double until = arrival.delta_times.front();
    double worst = 0;
    for (std::size_t i = 0; i < intruder; ++i) {
      const std::vector<double>& times = group.logs()[i].delta_times;
      for (std::size_t t = 1; t < times.size(); ++t) {
        if (times[t] > arrival.sent_at && times[t - 1] < until) {
          worst = std::max(worst, times[t] - times[t - 1]);
        }
      }
    }
    gaps.push_back(worst * 1e3);
    first_tokens.push_back((until - arrival.sent_at) * 1e3);
  }
  print_row("longest gap of 4 streams, 2,000-token prompt", gaps, "ms");
  print_row("  first token of that prompt", first_tokens, "ms");
}

// A prompt of `tokens` or a few more that no cache knows.
std::string long_question(const Tier& tier, int number, std::size_t tokens) {
  std::string text = std::to_string(number);
  while (tier.prompts().prepare(conversation_of(text))->tokens.size() < tokens) {
    text += " The river rose in the night and nobody in the village slept before it fell again.";
  }
  return text;
}

// Tokens of a prompt per second until the first of the answer.
double served_prefill_rate(std::uint16_t port, const Tier& tier, int number) {
  const std::string text = long_question(tier, number, kLongPrompt);
  StreamGroup group(port);
  group.start(request_body(text, 2));
  group.read_all();
  const StreamLog& log = group.logs().front();
  const std::size_t length = tier.prompts().prepare(conversation_of(text))->tokens.size();
  return static_cast<double>(length) / (log.delta_times.front() - log.sent_at);
}

// Rates of the streams in cells that are empty but for their own, and in full ones.
void bench_full(std::uint16_t port, const Tier& tier) {
  constexpr int kFirstPrompt = 7'000;
  std::vector<double> empty;
  std::vector<double> full;
  for (int round = 0; round < kRounds; ++round) empty.push_back(served_rate(port, kStreams));
  const std::uint32_t prompts = tier.snapshot().cells_total / kLongPrompt;
  for (std::uint32_t i = 0; i < prompts; ++i) {
    StreamGroup group(port);
    const int number = kFirstPrompt + static_cast<int>(i);
    group.start(request_body(long_question(tier, number, kLongPrompt), 1));
    group.read_all();
  }
  for (int round = 0; round < kRounds; ++round) full.push_back(served_rate(port, kStreams));
  print_row("8 streams, empty cells", empty, "tokens/s");
  print_row("8 streams, cells that were filled", full, "tokens/s");
}

// What one side came to, and which part of what the machine gives that is.
struct RooflineSide {
  std::vector<double> decodes;
  std::vector<double> decode_shares;
  std::vector<double> prefills;
  std::vector<double> prefill_shares;

  void add_decode(double rate, double share) {
    decodes.push_back(rate);
    decode_shares.push_back(rate * share);
  }
  void add_prefill(double rate, double share) {
    prefills.push_back(rate);
    prefill_shares.push_back(rate * share);
  }
  void print(const std::string& name) const {
    print_row("one stream, " + name, decodes, "tokens/s");
    print_row("  weights read, of what memory gives", decode_shares, "");
    print_row("prompt of 1,000 tokens, " + name, prefills, "tokens/s");
    print_row("  operations, of what products give", prefill_shares, "");
  }
};

// What bounds a model on a machine: a decoded token reads all weights once, a token of a prompt
// takes two operations for each of them but those of the vocabulary, which only the last one needs.
// Attention is not counted, nor that types of weights differ in speed (the products are of Q8_0).
void bench_roofline(std::uint16_t port, const Tier& tier, BareLoop& bare, std::uint32_t threads) {
  const ModelInfo& info = tier.model().info();
  const auto token_bytes = static_cast<double>(info.file_bytes);
  const double row_operations =
      2.0 * (static_cast<double>(info.parameters) -
             static_cast<double>(info.vocabulary) * static_cast<double>(info.embedding));
  const std::vector<Token> short_prompt =
      tier.prompts().prepare(conversation_of(question(0)))->tokens;
  const std::vector<Token> long_prompt =
      tier.prompts().prepare(conversation_of(long_question(tier, 0, kLongPrompt)))->tokens;
  const auto rows = static_cast<int>(long_prompt.size()) - 1;
  std::vector<double> reads;
  std::vector<double> products;
  RooflineSide served;
  RooflineSide direct;
  for (int round = 0; round < kRounds; ++round) {
    const MachineRates rates = measure_machine_rates(SteadyClock(), threads);
    ZH_CHECK(rates.read_bytes_per_second > 0 && rates.matrix_flops_per_second > 0);
    reads.push_back(rates.read_bytes_per_second / 1e9);
    products.push_back(rates.matrix_flops_per_second / 1e9);
    const double read_share = token_bytes / rates.read_bytes_per_second;
    const double product_share = row_operations / rates.matrix_flops_per_second;
    served.add_decode(served_rate(port, 1), read_share);
    direct.add_decode(bare.decode_rate({short_prompt}, kDecodeTokens), read_share);
    served.add_prefill(served_prefill_rate(port, tier, round + 1), product_share);
    direct.add_prefill(rows / bare.tail_seconds(long_prompt, rows, 1).front(), product_share);
  }
  print_row("memory read, all threads", reads, "GB/s");
  print_row("matrix product, Q8_0 by f32", products, "GFLOP/s");
  served.print("through HTTP");
  direct.print("bare loop");
}

void bench_overhead(std::uint16_t port, const Tier& tier, BareLoop& bare) {
  const std::string text = "What is the capital of France?";
  const std::string body =
      R"({"max_tokens":1,"temperature":0,"messages":[{"role":"user","content":")" + text +
      R"("}]})";
  const std::vector<Token> prompt = tier.prompts().prepare(conversation_of(text))->tokens;
  PlainClient client(port);
  std::vector<double> over_medians;
  std::vector<double> served_all;
  std::vector<double> direct_all;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> served;
    client.post("/v1/messages", body);
    for (int i = 0; i < 100; ++i) {
      const double begin = now_seconds();
      client.post("/v1/messages", body);
      served.push_back((now_seconds() - begin) * 1e3);
    }
    std::vector<double> direct;
    for (const double seconds : bare.tail_seconds(prompt, 1, 100)) {
      direct.push_back(seconds * 1e3);
    }
    over_medians.push_back(percentile(served, 0.5) - percentile(direct, 0.5));
    served_all.push_back(percentile(served, 0.5));
    direct_all.push_back(percentile(direct, 0.5));
  }
  print_row("one-token request, through HTTP (p50)", served_all, "ms");
  print_row("one-token decode, bare (p50)", direct_all, "ms");
  print_row("fixed cost of a request", over_medians, "ms");
}

Result<void> run(const ProgramWords& words) {
  log_configure({.level = LogLevel::kError});
  ConfigSources sources;
  sources.environment = process_environment();
  ZH_ASSIGN_OR_RETURN(const LoadedConfig loaded, load_config(sources));
  Config config = loaded.config;
  config.server.port = 0;
  if (config.engine.kv_cells == 0) {
    config.engine.kv_cells = std::max(kCells, 2 * config.engine.context_tokens);
  }
  const SteadyClock clock;
  auto server = std::make_unique<Server>(config, clock);
  ZH_ASSIGN_OR_RETURN(const Endpoint endpoint, server->listen());
  ZH_ASSIGN_OR_RETURN(const std::filesystem::path file,
                      resolve_model(config.model.name, PullPolicy::kIfMissing));
  ZH_ASSIGN_OR_RETURN(std::unique_ptr<Model> model,
                      load_llama_model(llama_model_options(config.model, file)));
  ZH_RETURN_IF_ERROR(server->load(std::move(model)));
  std::thread io([&server] { server->run(); });

  const Tier& tier = server->service().tier();
  const ContextOptions options = context_options(config.engine, tier.model().info());
  BareLoop bare(file.string(), options);
  std::printf("%u threads, %s KV layout\n", options.threads,
              options.layout == KvLayout::kUnified ? "unified" : "stream");
  // This order, because in the unified layout cells that idle sequences leave behind are scanned by
  // every later step: after `gap` a lone decode takes some 2 ms longer.
  if (words.wants("count")) bench_count(endpoint.port, tier);
  if (words.wants("prompt")) bench_prompt(tier);
  if (words.wants("overhead")) bench_overhead(endpoint.port, tier, bare);
  if (words.wants("roofline")) bench_roofline(endpoint.port, tier, bare, options.threads);
  if (words.wants("full")) bench_full(endpoint.port, tier);
  if (words.wants("streams")) bench_streams(endpoint.port, tier, bare);
  if (words.wants("gap")) bench_gap(endpoint.port, tier);
  server->begin_drain();
  io.join();
  if (words.wants("prefix")) {
    Programs programs = words.programs();  // with the file and the threads of the bare loop
    programs.model = file.string();
    programs.threads = static_cast<int>(options.threads);
    bench_warm_prefix(tier, bare, programs);
  }
  server.reset();  // and with it the tier
  if (words.wants("prefill")) {
    ZH_ASSIGN_OR_RETURN(std::unique_ptr<Model> own,
                        load_llama_model(llama_model_options(config.model, file)));
    ZH_RETURN_IF_ERROR(bench_prefill(std::move(own), config.engine, bare));
  }
  return {};
}

}  // namespace
}  // namespace zerohop::bench

int main(int argc, char** argv) {
  const auto result = zerohop::bench::run(zerohop::bench::ProgramWords(argc, argv));
  if (result.ok()) return 0;
  std::fprintf(stderr, "zh_server_bench: %s\n", result.error().message.c_str());
  return 1;
}
