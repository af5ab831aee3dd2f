// What tests of drafts need: a model that copies what was said before, and answers that can be
// compared. Test code only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.h"
#include "core/token_meter.h"
#include "engine/engine_harness.h"

namespace zerohop {

/// A script that for stretches of some ten tokens says what followed the last two tokens (or one,
/// or anything) when they stood there before, and leaves the other stretches to the model: drafts
/// of such answers are accepted for a while and then are not. `chance`: that a stretch copies.
inline FakeScript copying(std::uint64_t seed, double chance) {
  return [seed, chance](TokenSpan tokens) -> std::optional<Token> {
    const std::size_t size = tokens.size();
    Random random(mix64(seed ^ mix64(size / 11)));
    if (size < 3 || !random.chance(chance)) return std::nullopt;
    std::size_t from = random.below(size - 1);
    std::size_t agreeing = 0;
    for (std::size_t i = size - 1; i-- > 1 && agreeing < 2;) {
      if (tokens[i] != tokens[size - 1]) continue;
      const std::size_t here = tokens[i - 1] == tokens[size - 2] ? 2 : 1;
      if (here <= agreeing) continue;
      agreeing = here;
      from = i;
    }
    const Token next = tokens[from + 1];
    if (next >= FakeTokens::kBegin && next <= FakeTokens::kEndOfText) return std::nullopt;
    return next;
  };
}

/// Lets so many tokens out, and says so beforehand.
class CountedBudget final : public TokenMeter {
 public:
  explicit CountedBudget(std::uint64_t tokens) : left_(tokens) {}
  bool spend_output_token() override { return left_ > 0 && left_-- > 0; }
  std::optional<std::uint64_t> remaining() const override { return left_; }

 private:
  std::uint64_t left_;
};

/// All that a client is told but times and why something was missed in the cache.
struct HeardAnswer {
  std::string text;
  std::optional<FinishReason> reason;
  std::string stop_sequence;
  Usage usage;
  std::vector<std::pair<Token, float>> chances;
  bool failed = false;
  std::string error;

  friend bool operator==(const HeardAnswer&, const HeardAnswer&) = default;
  friend std::ostream& operator<<(std::ostream& out, const HeardAnswer& answer) {
    out << '"' << answer.text << "\", " << answer.usage.output_tokens << " tokens, "
        << answer.usage.prompt_tokens_cached << " of " << answer.usage.prompt_tokens << " cached";
    if (answer.reason) out << ", " << finish_reason_name(*answer.reason);
    return out << ' ' << answer.stop_sequence << answer.error;
  }
};

inline HeardAnswer heard(const HarnessClient& client) {
  HeardAnswer answer;
  answer.text = client.text();
  for (const Event& event : client.events) {
    if (const auto* token = std::get_if<TokenLogprobs>(&event)) {
      answer.chances.emplace_back(token->chosen.token, token->chosen.logprob);
      for (const TokenChance& other : token->likeliest) {
        answer.chances.emplace_back(other.token, other.logprob);
      }
    } else if (const auto* finished = std::get_if<Finished>(&event)) {
      answer.reason = finished->reason;
      answer.stop_sequence = finished->stop_sequence;
      answer.usage = finished->usage;
    } else if (const auto* failed = std::get_if<Failed>(&event)) {
      answer.failed = true;
      answer.error = failed->error.message;
    }
  }
  return answer;
}

}  // namespace zerohop
