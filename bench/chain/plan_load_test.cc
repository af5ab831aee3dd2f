#include "chain/plan_load.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "base/check.h"
#include "http_wire.h"

namespace zerohop::bench {
namespace {

const std::string kBody = R"({"choices":[{"finish_reason":"stop","message":{"content":"Hi"}}],)"
                          R"("usage":{"completion_tokens":2,"prompt_tokens":5}})";
const std::string kAnswer =
    "HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(kBody.size()) + "\r\n\r\n" + kBody;

// A process that serves one connection after the other: on each it answers requests with the
// scripted bytes, one entry each, and closes it where an entry is empty or when all were used.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::vector<std::string> answers) {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr generic{};
    std::memcpy(&generic, &address, sizeof generic);
    ZH_CHECK(bind(listener, &generic, sizeof generic) == 0 && listen(listener, 16) == 0);
    socklen_t length = sizeof generic;
    ZH_CHECK(getsockname(listener, &generic, &length) == 0);
    std::memcpy(&address, &generic, sizeof address);
    port_ = ntohs(address.sin_port);
    pid_ = fork();
    ZH_CHECK(pid_ >= 0);
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      serve(listener, answers);
    }
    close(listener);
  }
  ~ScriptedServer() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  std::uint16_t port() const { return port_; }

 private:
  [[noreturn]] static void serve(int listener, const std::vector<std::string>& answers) {
    std::size_t next = 0;
    for (;;) {
      const int connection = accept(listener, nullptr, nullptr);
      char request[4096];
      while (recv(connection, request, sizeof request, 0) > 0) {
        const std::string& answer = answers[next < answers.size() ? next : answers.size() - 1];
        ++next;
        if (answer.empty()) break;
        if (answer != "silence") send_all(connection, answer);
      }
      close(connection);
    }
  }

  std::uint16_t port_ = 0;
  pid_t pid_ = -1;
};

std::vector<PlannedRequest> plan_of(std::size_t count) {
  return std::vector<PlannedRequest>(count, PlannedRequest{.kind = "k", .body = "{}"});
}

TEST(PlanLoad, AClosedLoopKeepsItsConnection) {
  const ScriptedServer server({kAnswer});
  const PlanFigures figures = run_plan({.port = server.port(), .clients = 1}, plan_of(5));
  ASSERT_EQ(figures.results.size(), 5U);
  EXPECT_EQ(figures.connections, 1U);
  for (const PlanResult& result : figures.results) {
    EXPECT_EQ(result.end, PlanEnd::kWhole);
    EXPECT_EQ(result.output_tokens, 2);
    EXPECT_EQ(result.prompt_tokens, 5);
    EXPECT_GE(result.sent, result.due);
    EXPECT_GE(result.ended, result.sent);
  }
  EXPECT_GE(figures.results[1].sent, figures.results[0].ended);
}

TEST(PlanLoad, AnOpenLoopSendsWhenARequestIsDue) {
  const ScriptedServer server({kAnswer});
  std::vector<PlannedRequest> plan = plan_of(3);
  plan[1].due = 0.02;
  plan[2].due = 0.04;
  const PlanFigures figures = run_plan({.port = server.port(), .warm_connections = 1}, plan);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    EXPECT_EQ(figures.results[i].end, PlanEnd::kWhole);
    EXPECT_DOUBLE_EQ(figures.results[i].due, plan[i].due);
    EXPECT_GE(figures.results[i].sent, plan[i].due);
  }
}

TEST(PlanLoad, ARequestOnAConnectionThatWasClosedIsSentOnceMore) {
  const ScriptedServer server({kAnswer, "", kAnswer});
  const PlanFigures figures = run_plan({.port = server.port(), .clients = 1}, plan_of(2));
  EXPECT_EQ(figures.connections, 2U);
  EXPECT_EQ(figures.results[1].end, PlanEnd::kWhole);
}

TEST(PlanLoad, ASecondLossIsBroken) {
  const ScriptedServer server({"", "", kAnswer});
  const PlanFigures figures = run_plan({.port = server.port(), .clients = 1}, plan_of(2));
  EXPECT_EQ(figures.results[0].end, PlanEnd::kBroken);
  EXPECT_EQ(figures.results[1].end, PlanEnd::kWhole);
}

TEST(PlanLoad, WhereNobodyListensEveryRequestIsBroken) {
  std::uint16_t port = 0;
  {
    const ScriptedServer server({});
    port = server.port();
  }
  const PlanFigures figures = run_plan({.port = port, .clients = 1}, plan_of(2));
  EXPECT_EQ(figures.connections, 0U);
  for (const PlanResult& result : figures.results) {
    EXPECT_EQ(result.end, PlanEnd::kBroken);
    EXPECT_EQ(result.status, 0);
  }
}

TEST(PlanLoad, WhoGetsNoAnswerGivesUp) {
  const ScriptedServer server({"silence", kAnswer});
  std::vector<PlannedRequest> plan = plan_of(2);
  plan[0].give_up = 0.01;
  const PlanFigures figures = run_plan({.port = server.port(), .clients = 1}, plan);
  EXPECT_EQ(figures.results[0].end, PlanEnd::kGivenUp);
  EXPECT_EQ(figures.results[0].status, 0);
  EXPECT_EQ(figures.results[1].end, PlanEnd::kWhole);
}

TEST(PlanLoad, TheEndOfALoadGivesUpTheRest) {
  const ScriptedServer server({"silence"});
  const PlanFigures figures =
      run_plan({.port = server.port(), .warm_connections = 1, .drain_seconds = 0.01}, plan_of(1));
  EXPECT_EQ(figures.results[0].end, PlanEnd::kGivenUp);
}

TEST(PlanLoad, ARefusalIsToldFromABrokenAnswer) {
  const ScriptedServer server({"HTTP/1.1 429 x\r\ncontent-length: 2\r\n\r\nno",
                               "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"});
  const PlanFigures figures = run_plan({.port = server.port(), .clients = 1}, plan_of(2));
  EXPECT_EQ(figures.results[0].end, PlanEnd::kRefused);
  EXPECT_EQ(figures.results[0].status, 429);
  EXPECT_EQ(figures.results[1].end, PlanEnd::kBroken);
  EXPECT_STREQ(name_of(figures.results[1].end), "broken");
}

}  // namespace
}  // namespace zerohop::bench
