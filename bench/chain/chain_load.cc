// The load generator of `./dev bench chain`: carries out a plan against one port and prints what
// its client saw, one JSON object for each request and one for the whole load at the end.
//
//   zh_chain_load --port N --plan FILE [--clients N] [--warm N] [--drain SECONDS]
//                 [--headers FILE] [--path PATH]
//
// The format of a plan is described in chain/plan.h; --headers is a file of header lines.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "chain/plan.h"
#include "chain/plan_load.h"
#include "program_words.h"

namespace zerohop::bench {
namespace {

[[noreturn]] void give_up(const std::string& text) {
  std::cerr << "zh_chain_load: " << text << "\n";
  std::exit(2);
}

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) give_up("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Header lines of a text file, as HTTP wants them.
std::string header_lines(const std::string& path) {
  std::istringstream lines(file_text(path));
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) out += line + "\r\n";
  }
  return out;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    // Control characters of a refusal's body say nothing here.
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

std::string seconds(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.6f", value);
  return buffer;
}

void print(const PlannedRequest& request, const PlanResult& result) {
  std::string times;
  for (const double time : result.text_times) {
    times += (times.empty() ? "" : ",") + seconds(time);
  }
  std::cout << R"({"kind":)" << quoted(request.kind) << R"(,"due":)" << seconds(result.due)
            << R"(,"sent":)" << seconds(result.sent) << R"(,"ended":)" << seconds(result.ended)
            << R"(,"end":")" << name_of(result.end) << R"(","status":)" << result.status
            << R"(,"prompt_tokens":)" << result.prompt_tokens << R"(,"cached_tokens":)"
            << result.cached_tokens << R"(,"output_tokens":)" << result.output_tokens
            << R"(,"finish_reason":)" << quoted(result.finish_reason) << R"(,"trouble":)"
            << quoted(result.trouble)
            // Escaped already, as it stood in the answer.
            << R"(,"text":")" << result.text << R"(","text_times":[)" << times << "]}\n";
}

int run(const ProgramWords& words) {
  if (!words.has("port") || !words.has("plan")) give_up("needs --port and --plan");
  PlanLoad load;
  load.port = static_cast<std::uint16_t>(words.number("port", 0));
  load.path = words.text("path", load.path);
  if (words.has("headers")) load.headers = header_lines(words.text("headers", ""));
  load.clients = static_cast<std::size_t>(words.number("clients", 0));
  load.warm_connections =
      static_cast<std::size_t>(words.number("warm", static_cast<int>(load.warm_connections)));
  load.drain_seconds = words.share("drain", load.drain_seconds);
  std::string fault;
  const std::vector<PlannedRequest> plan = parse_plan(file_text(words.text("plan", "")), fault);
  if (plan.empty()) give_up(fault);
  const PlanFigures figures = run_plan(load, plan);
  for (const PlanResult& result : figures.results) print(plan[result.index], result);
  std::cout << R"({"seconds":)" << seconds(figures.seconds) << R"(,"connections":)"
            << figures.connections << "}\n";
  return 0;
}

}  // namespace
}  // namespace zerohop::bench

int main(int argc, char** argv) {
  return zerohop::bench::run(zerohop::bench::ProgramWords(argc, argv));
}
