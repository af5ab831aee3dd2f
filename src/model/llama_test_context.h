// What the tests of the context share: options of the two modes, rows, logits to compare, and a
// fixture with a context on the default model.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/llama_test_model.h"

namespace zerohop {

inline constexpr SlotId kFirst{0};
inline constexpr SlotId kSecond{1};
inline constexpr SlotId kThird{2};

inline constexpr std::string_view kProse =
    "A cache keeps what was computed so that it need not be computed again. Its price is memory, "
    "and "
    "the art is to forget the right things: entries that nobody will ask for, entries that are "
    "cheap "
    "to make anew, entries that depend on others which are already gone. Every policy is a guess "
    "about the future that is made from the past, and the best guess changes with the work. ";

// The mode in which results do not depend on what else is computed: streams, no flash attention.
inline ContextOptions exact_options() {
  ContextOptions options;
  options.sequences = 4;
  options.window = 512;
  options.batch_rows = 256;
  options.logit_rows = 64;
  options.threads = 1;  // other tests may run at the same time
  options.layout = KvLayout::kStreams;
  options.flash_attention = FlashAttention::kOff;
  return options;
}

inline ContextOptions unified_options() {
  ContextOptions options = exact_options();
  options.layout = KvLayout::kUnified;
  options.flash_attention = FlashAttention::kAuto;
  return options;
}

inline std::vector<BatchRow> rows_of(SlotId slot, std::int32_t begin, TokenSpan tokens) {
  std::vector<BatchRow> rows;
  for (const Token token : tokens) rows.push_back({token, begin++, slot, false});
  if (!rows.empty()) rows.back().wants_logits = true;
  return rows;
}

using Logits = std::vector<float>;

inline bool same_bits(const Logits& left, const Logits& right) {
  return left.size() == right.size() &&
         std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0;
}

inline float largest_difference(const Logits& left, const Logits& right) {
  float largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    largest = std::max(largest, std::fabs(left[i] - right[i]));
  }
  return largest;
}

inline Token greedy(std::span<const float> logits) {
  return static_cast<Token>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

// Kullback-Leibler divergence of the next-token distributions, in nats.
inline double divergence(const Logits& from, const Logits& to) {
  const auto log_sum = [](const Logits& logits) {
    const double top = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits) sum += std::exp(logit - top);
    return top + std::log(sum);
  };
  const double from_sum = log_sum(from);
  const double to_sum = log_sum(to);
  double total = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const double log_share = from[i] - from_sum;
    total += std::exp(log_share) * (log_share - (to[i] - to_sum));
  }
  return total;
}

class WithContext : public WithDefaultModel {
 protected:
  void open(const ContextOptions& options) {
    Result<std::unique_ptr<ModelContext>> made = model->make_context(options);
    ASSERT_TRUE(made.ok()) << made.error().message;
    context = std::move(made).value();
  }

  // `count` tokens of prose.
  std::vector<Token> prose(std::size_t count) const {
    std::string text;
    while (text.size() < count * 8) text += kProse;
    std::vector<Token> all = tokens(text);
    all.resize(count);
    return all;
  }

  // Computes `tokens` at the end of `slot` in one batch; the last row's logits.
  Logits extend(SlotId slot, TokenSpan tokens) {
    const std::vector<BatchRow> rows = rows_of(slot, context->positions(slot).end, tokens);
    const DecodeStatus status = context->decode(rows);
    EXPECT_EQ(status, DecodeStatus::kOk);
    if (status != DecodeStatus::kOk) return {};
    const std::span<float> logits = context->logits(rows.size() - 1);
    return Logits(logits.begin(), logits.end());
  }

  std::vector<Token> generate(SlotId slot, TokenSpan prompt, std::size_t count) {
    std::vector<Token> text;
    Logits logits = extend(slot, prompt);
    while (text.size() < count && !logits.empty()) {
      text.push_back(greedy(logits));
      if (model->tokenizer().table().is_end_of_generation(text.back())) break;
      logits = extend(slot, {&text.back(), 1});
    }
    return text;
  }

  std::unique_ptr<ModelContext> context;
};

}  // namespace zerohop
