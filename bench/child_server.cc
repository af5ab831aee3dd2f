#include "child_server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/check.h"
#include "bench_clock.h"
#include "http_wire.h"

namespace zerohop::bench {
namespace {

constexpr double kStartSecondsMax = 60;
constexpr double kEndSecondsMax = 20;

void pause_ms(int milliseconds) { poll(nullptr, 0, milliseconds); }

std::vector<std::string> command(const Programs& programs, Side side, const Room& room,
                                 std::uint16_t port) {
  const std::string threads = std::to_string(programs.threads);
  const std::string sequences = std::to_string(room.sequences);
  if (side == Side::kOurs) {
    return {programs.ours, "serve",
            "--port",      std::to_string(port),
            "--model",     programs.model,
            "--threads",   threads,
            "--sequences", sequences,
            "--context",   std::to_string(room.window),
            "--log-level", room.log_file.empty() ? "error" : "info"};
  }
  return {programs.peer,
          "--port",
          std::to_string(port),
          "-m",
          programs.model,
          "-t",
          threads,
          "-tb",
          threads,
          "-np",
          sequences,
          "-c",
          std::to_string(room.cells),
          "--no-ui",
          "-lv",
          "1"};
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

// The child gets SIGTERM when this process ends, however it ends.
pid_t spawn(std::vector<std::string> words, std::vector<std::string> environment,
            const std::string& log_file) {
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> variables = pointers(environment);
  const pid_t pid = fork();
  ZH_CHECK(pid >= 0);
  if (pid > 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);
  if (!log_file.empty()) {
    dup2(open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600), STDERR_FILENO);
  }
  execve(words.front().c_str(), arguments.data(), variables.data());
  std::fprintf(stderr, "cannot start %s\n", words.front().c_str());
  _exit(1);
}

}  // namespace

std::string_view name_of(Side side) { return side == Side::kOurs ? "zerohop" : "llama-server"; }

ChildServer::ChildServer(const Programs& programs, Side side, const Room& room,
                         std::vector<std::string> environment)
    : side_(side), port_(free_port()) {
  if (side == Side::kOurs) {
    environment.push_back("ZEROHOP_ENGINE_KV_CELLS=" + std::to_string(room.cells));
    environment.emplace_back("ZEROHOP_BATCHES_FOLDER=");
  }
  pid_ = spawn(command(programs, side, room, port_), std::move(environment), room.log_file);
  wait_until_ready();
}

ChildServer::~ChildServer() {
  if (!alive()) return;
  kill(pid_, SIGTERM);
  const double until = now_seconds() + kEndSecondsMax;
  while (now_seconds() < until) {
    if (!alive()) return;
    pause_ms(20);
  }
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool ChildServer::alive() {
  if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
  return pid_ > 0;
}

void ChildServer::wait_until_ready() {
  const std::string path = side_ == Side::kOurs ? "/healthz" : "/health";
  const double until = now_seconds() + kStartSecondsMax;
  while (alive() && now_seconds() < until) {
    const std::optional<Answer> answer = exchange(port_, path);
    if (answer && answer->status == 200) return;
    pause_ms(20);
  }
  std::fprintf(stderr, "%s does not come up\n", std::string(name_of(side_)).c_str());
  std::exit(1);
}

std::optional<double> ChildServer::metric(std::string_view name, std::string_view label) const {
  const std::optional<Answer> page = exchange(port_, "/metrics");
  if (!page) return std::nullopt;
  return metric_in(page->body, name, label);
}

std::optional<double> metric_in(std::string_view page, std::string_view name,
                                std::string_view label) {
  std::optional<double> sum;
  std::string_view rest = page;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (!line.starts_with(name) || line.find(label) == std::string_view::npos) continue;
    if (line[name.size()] != '{' && line[name.size()] != ' ') continue;
    sum = sum.value_or(0) + number_after(line, " ").value_or(0);
  }
  return sum;
}

std::string version_of(const std::string& program, Side side) {
  const std::string words =
      "'" + program + "' " +
      (side == Side::kOurs ? "--version | head -1" : "--version 2>&1 | grep '^version'");
  std::FILE* pipe = popen(words.c_str(), "r");
  ZH_CHECK(pipe != nullptr);
  char buffer[256];
  const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe);
  pclose(pipe);
  std::string text(buffer, count);
  return text.substr(0, text.find('\n'));
}

}  // namespace zerohop::bench
