// `zerohop chat`: the terminal around a ChatSession.
//
// Answers go to standard output, everything else to standard error, so that `zerohop chat --prompt
// …` can be piped. Ctrl-C ends the running answer; at the prompt it ends the program.

#include <unistd.h>

#include <csignal>
#include <iostream>

#include "app/chat_session.h"
#include "app/commands.h"
#include "app/exit_code.h"
#include "app/model_options.h"
#include "app/served_model.h"
#include "base/log.h"
#include "base/random.h"

namespace zerohop {
namespace {

// Written by the signal handler.
std::atomic<bool> interrupted{false};
std::atomic<bool> answering{false};

void on_interrupt(int) {
  if (!answering.load()) _exit(kExitOk);
  interrupted.store(true);
}

GenerationParameters generation_of(const Config& config, const ChatOptions& options) {
  GenerationParameters generation;
  generation.max_tokens = options.max_tokens.value_or(config.limits.default_max_tokens);
  generation.sampling.temperature = static_cast<float>(options.temperature.value_or(0.7));
  generation.sampling.min_p = 0.05f;  // small models wander without it
  generation.sampling.seed = options.seed;
  return generation;
}

Result<void> ask_and_show(ChatSession& session, std::string question) {
  interrupted = false;
  answering = true;
  Result<ChatTurn> turn = session.ask(
      std::move(question), [](std::string_view text) { std::cout << text << std::flush; },
      interrupted);
  answering = false;
  if (!turn.ok()) return std::move(turn).error();
  std::cout << std::endl;
  if (turn->interrupted) std::cerr << "[interrupted]" << std::endl;
  return {};
}

Result<void> converse(ChatSession& session) {
  const bool terminal = isatty(STDIN_FILENO) == 1;
  if (terminal) std::cerr << "/reset forgets the conversation, /exit or Ctrl-D ends it\n";
  std::string line;
  while (true) {
    if (terminal) std::cerr << "> " << std::flush;
    if (!std::getline(std::cin, line) || line == "/exit") return {};
    if (line == "/reset") {
      session.reset();
    } else if (!line.empty()) {
      const Result<void> said = ask_and_show(session, line);
      // A refused question (too long, say) is no reason to lose the conversation.
      if (!said.ok()) std::cerr << "zerohop: " << said.error().message << std::endl;
    }
  }
}

Result<void> chat(const Config& config, const ChatOptions& options) {
  const SteadyClock clock;
  BlockingWaker waker;
  ZH_ASSIGN_OR_RETURN(ServedModel served, load_served_model(config, clock));
  EngineConfig engine = config.engine;
  engine.sequences = 1;
  TierParts parts;
  parts.clock = &clock;
  parts.waker = &waker;
  parts.seed = os_random_seed();
  parts.default_system = default_system_of(config.model);
  ZH_ASSIGN_OR_RETURN(const std::unique_ptr<Tier> tier,
                      Tier::create(std::move(served.model), engine, std::move(parts)));
  tier->start();
  ChatSession session(*tier, waker, generation_of(config, options), options.system);
  if (!options.prompt.empty()) return ask_and_show(session, options.prompt);
  return converse(session);
}

}  // namespace

int run_chat(const Config& config, const ChatOptions& options) {
  // What a server tells its operator at the default level only disturbs a conversation.
  if (config.log.level == LogLevel::kInfo) {
    log_configure({.level = LogLevel::kWarning, .format = config.log.format});
  }
  std::signal(SIGINT, on_interrupt);
  const Result<void> result = chat(config, options);
  return result.ok() ? kExitOk : report_failure(result.error());
}

}  // namespace zerohop
