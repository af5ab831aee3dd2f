// This server beside llama-server of the same release, on one machine in one run: the same model
// file, number of cells, threads and requests.
//
//   sessions    conversations that share a system prompt, more than there is room for
//   gap         running streams while a long prompt arrives
//   cancel      what clients that leave cost the others
//   prefix      a one-token answer behind a long cached system prompt
//   time-stamp  a system prompt that carries the time of day
//   neighbour   running streams while another process takes a core
//
// ./dev bench peer builds both; the program takes a subset of the six names and these flags:
//   --peer PATH      a llama-server; without it only this server is measured
//   --ours PATH      default: the zerohop of the same build
//   --model PATH     a GGUF file
//   --rounds N       default 1; both servers in turn in each
//   --report PATH    a page to write the tables to
// and for `sessions` --question TOKENS, --spacing MILLISECONDS between the sessions' first
// requests, --sequences N of this server (the peer has 8 slots, the cells are the same).

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "chat_load.h"
#include "peer_scenarios.h"
#include "program_words.h"

namespace zerohop::bench {

void warm_up(const ChildServer& server) {
  ChatLoad load(server.port());
  load.start({.system = "Hi.", .turns = {"Hello."}, .max_tokens = 4});
  load.run();
}

namespace {

std::string page_head(const Programs& programs) {
  std::string head =
      "# Beside llama-server\n\nWritten by `./dev bench peer`. Both servers run one after the "
      "other "
      "in one run, with the same model file, number of KV cells, " +
      std::to_string(programs.threads) +
      " threads and the same bytes in every request (`/v1/chat/completions`, temperature 0, ends "
      "of "
      "turn banned). Everything else is as each server has it by default; so this one prepared the "
      "file for the machine at its first start (`model.prepare: safe`). llama-server is compiled "
      "from the pinned release and linked against the same shared libraries that this server uses. "
      "Where there were several rounds: the median, and the range.\n\n";
  head += "- machine: " + machine_description() + "\n";
  head += "- model: " + std::filesystem::path(programs.model).filename().string() + "\n";
  head += "- " + version_of(programs.ours, Side::kOurs) + "\n";
  if (!programs.peer.empty()) {
    head += "- llama-server " + version_of(programs.peer, Side::kPeer) + "\n";
  }
  return head;
}

int run(const ProgramWords& words) {
  const std::vector<std::pair<std::string, std::function<void(const PeerBench&)>>> scenarios{
      {"sessions", bench_sessions},     {"gap", bench_gap},
      {"cancel", bench_cancel},         {"prefix", bench_prefix},
      {"time-stamp", bench_time_stamp}, {"neighbour", bench_neighbour}};
  Comparison report;
  PeerBench bench{.programs = words.programs(),
                  .sides = {Side::kOurs},
                  .rounds = words.number("rounds", 1),
                  .words = words,
                  .report = report};
  if (!bench.programs.peer.empty()) bench.sides.push_back(Side::kPeer);
  const std::string head = page_head(bench.programs);
  std::printf("%s", head.c_str());
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
