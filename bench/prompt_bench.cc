#include "prompt_bench.h"

#include <cstdio>
#include <string>
#include <vector>

#include "api/anthropic_request.h"
#include "base/check.h"
#include "load_client.h"
#include "report.h"

namespace zerohop::bench {
namespace {

constexpr int kTurns = 20;
constexpr std::size_t kTokens = 6000;
constexpr int kRequests = 200;

// A turn of the conversation: the same words for the same number.
std::string turn_text(int number, std::size_t sentences) {
  std::string text;
  for (std::size_t i = 0; i < sentences; ++i) {
    text += "Point " + std::to_string(number * 100 + static_cast<int>(i)) +
            " of the agreement says that either party may end it in writing. ";
  }
  return text;
}

std::string body_of(std::size_t sentences, int last) {
  std::string body = R"({"model":"m","max_tokens":64,"messages":[)";
  for (int turn = 0; turn < kTurns; ++turn) {
    const bool is_last = turn + 1 == kTurns;
    body += std::string(turn == 0 ? "" : ",") + R"({"role":")" +
            (turn % 2 == 0 ? "user" : "assistant") + R"(","content":")" +
            (is_last ? "Question " + std::to_string(last) + " about it: who may end it?"
                     : turn_text(turn, sentences)) +
            R"("})";
  }
  // The conversation ends with the assistant's turn otherwise.
  return body + R"(,{"role":"user","content":"And number )" + std::to_string(last) + R"(?"}]})";
}

std::vector<Token> tokens_of(const Tier& tier, const std::string& body) {
  const auto request = parse_messages_request(body, {});
  ZH_CHECK(request.ok());
  auto prompt = tier.prompts().prepare(request->chat.conversation);
  ZH_CHECK(prompt.ok());
  return std::move(prompt->tokens);
}

}  // namespace

void bench_prompt(const Tier& tier) {
  std::size_t sentences = 1;
  while (tokens_of(tier, body_of(sentences, 0)).size() < kTokens) ++sentences;
  std::vector<double> seen;
  std::vector<double> bare;
  for (int i = 1; i <= kRequests; ++i) {
    const std::string body = body_of(sentences, i);
    const double begin = now_seconds();
    const std::vector<Token> tokens = tokens_of(tier, body);
    seen.push_back((now_seconds() - begin) * 1e3);
    const std::string text = tier.model().tokenizer().detokenize(tokens);
    const double middle = now_seconds();
    tier.model().tokenizer().tokenize(text, SpecialTokens::kParse);
    bare.push_back((now_seconds() - middle) * 1e3);
  }
  std::printf("%d turns of %zu tokens\n", kTurns + 1,
              tokens_of(tier, body_of(sentences, 0)).size());
  print_row("body to tokens, last turn new", seen, "ms");
  print_row("bare tokenizer, whole prompt", bare, "ms");
}

}  // namespace zerohop::bench
