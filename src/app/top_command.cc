// `zerohop top`: a look a second at /console/data, drawn over the last one.
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <iostream>

#include "app/ask_server.h"
#include "app/commands.h"
#include "app/exit_code.h"
#include "app/terminal_text.h"
#include "app/top_screen.h"

namespace zerohop {
namespace {

constexpr int kEveryMs = 1000;
constexpr std::string_view kClear = "\x1b[H\x1b[J";

volatile std::sig_atomic_t interrupted = 0;

void on_interrupt(int) { interrupted = 1; }

ScreenSize screen_size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {};
  }
  return {size.ws_col, size.ws_row - std::size_t{1}};
}

// Until the next look, or an interrupt.
void wait_a_moment() { static_cast<void>(poll(nullptr, 0, kEveryMs)); }

Result<std::string> look(const ServerPlace& server, TopScreen& top, bool live) {
  ZH_ASSIGN_OR_RETURN(const std::string body, ask_server(server, "/console/data"));
  return top.draw(body, live ? screen_size() : ScreenSize{160, 1000});
}

}  // namespace

int run_top(const TopOptions& options) {
  const bool live = !options.once && isatty(STDOUT_FILENO) == 1;
  if (live) {
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
  }
  TopScreen top;
  for (bool seen = false; interrupted == 0; seen = true) {
    const Result<std::string> screen = look(options.server, top, live);
    // A server that starts again, or is too busy for one look, is looked at again.
    if (!screen.ok() && !(live && seen)) return report_failure(screen.error());
    std::cout << (live ? kClear : "")
              << (screen.ok() ? *screen : terminal_text(screen.error().message) + "\n")
              << std::flush;
    if (!live || !std::cout) return std::cout ? kExitOk : kExitOther;
    wait_a_moment();
  }
  return kExitOk;
}

}  // namespace zerohop
