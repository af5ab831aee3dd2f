#include "model/prepare_score.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"

namespace zerohop {
namespace {

constexpr std::size_t kLeadTokens = 256;
constexpr std::size_t kScoredTokensMin = 256;
constexpr std::size_t kScoredTokensMax = 512;
constexpr std::size_t kTokensMin = 64;  // of the whole text, for models with short windows
constexpr double kStandardErrors = 3;
// Rows whose logits are kept at once: 128 of them are 25 MB with 49,000 entries each.
constexpr std::uint64_t kLogitBytesMax = std::uint64_t{64} << 20;
constexpr std::uint32_t kLogitRowsMax = 128;
constexpr std::uint32_t kLogitRowsMin = 32;

constexpr std::uint32_t kSequences = 8;
constexpr std::int32_t kDecodeCells = 64;  // of each sequence while decoding is timed
constexpr int kRounds = 4;                 // in which both models take their turn; two halves
constexpr int kStepsOfBatch = 2;           // in each round
constexpr int kStepsOfOne = 4;
constexpr SlotId kReader{0};

Error failed(std::string message) {
  return Error{ErrorCode::kModelFailure, std::move(message), "", {}};
}

enum class Outputs { kNone, kLogits };

// One of the two models while they are compared. False: the model failed.
class Reader {
 public:
  Reader(std::unique_ptr<ModelContext> context, const Clock& clock)
      : context_(std::move(context)), clock_(&clock) {}

  // The next tokens of the text.
  bool read(TokenSpan tokens, Outputs outputs) {
    std::int32_t position = context_->positions(kReader).end;
    const bool wanted = outputs == Outputs::kLogits;
    std::vector<BatchRow> rows;
    for (const Token token : tokens) rows.push_back({token, position++, kReader, wanted});
    return timed(rows, prefill_);
  }
  std::span<const float> logits(std::size_t row) { return context_->logits(row); }

  // Forgets the text and gives every sequence some cells to look at; none where a model cannot be
  // given any, for they matter less than the weights.
  bool start_decoding() {
    for (std::uint32_t i = 0; i < kSequences; ++i) {
      const SlotId slot(static_cast<std::int32_t>(i));
      if (!context_->remove(slot, {0, context_->positions(slot).end})) return false;
      (void)context_->fill(slot, kDecodeCells).ok();
    }
    return true;
  }
  // Steps of so many sequences, one token each, in the first or second half.
  bool decode(std::uint32_t sequences, int steps, std::size_t half) {
    std::vector<BatchRow> rows(sequences);
    Decoding& best = halves_[half];
    for (; steps > 0; --steps) {
      for (std::uint32_t i = 0; i < sequences; ++i) {
        const SlotId slot(static_cast<std::int32_t>(i));
        rows[i] = {0, context_->positions(slot).end, slot, true};
      }
      if (!timed(rows, sequences == 1 ? best.single : best.batch)) return false;
    }
    return true;
  }
  ModelSpeed speed() const {
    const auto& [early, late] = halves_;
    return {prefill_, std::max(early.batch, late.batch), std::max(early.single, late.single)};
  }
  double disturbance() const {
    const auto& [early, late] = halves_;
    return std::max(difference(early.batch, late.batch), difference(early.single, late.single));
  }

 private:
  // Tokens per second.
  struct Decoding {
    double batch = 0;
    double single = 0;
  };

  static double difference(double a, double b) {
    const double most = std::max(a, b);
    return most > 0 ? 1 - std::min(a, b) / most : 0;
  }

  bool timed(std::span<const BatchRow> rows, double& best) {
    const TimePoint begin = clock_->now();
    if (context_->decode(rows) != DecodeStatus::kOk) return false;
    const double seconds = to_seconds(clock_->now() - begin);
    if (seconds > 0) best = std::max(best, static_cast<double>(rows.size()) / seconds);
    return true;
  }

  std::unique_ptr<ModelContext> context_;
  const Clock* clock_;
  double prefill_ = 0;
  std::array<Decoding, 2> halves_;
};

struct LogSum {
  double top = 0;
  double sum = 0;  // of exp(logit − top)
  double value() const { return top + std::log(sum); }
};

// The first of the largest.
std::size_t top_of(std::span<const float> logits) {
  return static_cast<std::size_t>(std::ranges::max_element(logits) - logits.begin());
}

// The sums of both distributions, the divergence, and whether both have the same first choice.
struct RowFigures {
  LogSum from;
  LogSum to;
  double divergence = 0;
  bool same_top = false;
};

RowFigures compare_rows(std::span<const float> from, std::span<const float> to) {
  const std::size_t from_first = top_of(from);
  const std::size_t to_first = top_of(to);
  const float from_top = from[from_first];
  const float to_top = to[to_first];
  RowFigures row{{from_top, 0}, {to_top, 0}, 0, from_first == to_first};
  double weighted = 0;  // Σ share × (from − to), each measured from its own top
  for (std::size_t i = 0; i < from.size(); ++i) {
    const float below = from[i] - from_top;
    const float below_other = to[i] - to_top;
    const double share = std::exp(below);
    row.from.sum += share;
    row.to.sum += std::exp(below_other);
    weighted += share * (static_cast<double>(below) - below_other);
  }
  row.divergence = weighted / row.from.sum - std::log(row.from.sum) + std::log(row.to.sum);
  return row;
}

class DivergenceSum {
 public:
  // False when the logits are not finite.
  bool add(std::span<const float> from, std::span<const float> to, Token next) {
    const RowFigures row = compare_rows(from, to);
    const auto at = static_cast<std::size_t>(next);
    const double log_from = from[at] - row.from.value();
    const double log_to = to[at] - row.to.value();
    if (!std::isfinite(row.divergence) || !std::isfinite(log_from) || !std::isfinite(log_to)) {
      return false;
    }
    // Rounding can make the divergence of equal rows slightly negative.
    const double divergence = std::max(0.0, row.divergence);
    ++count_;
    sum_ += divergence;
    squares_ += divergence * divergence;
    max_ = std::max(max_, divergence);
    surprise_from_ -= log_from;
    surprise_to_ -= log_to;
    if (row.same_top) ++same_;
    return true;
  }

  std::size_t count() const { return count_; }
  // Whether the mean is certain to stay on its side of `limit`.
  bool settled(double limit) const {
    if (count_ < kScoredTokensMin) return false;
    const double n = static_cast<double>(count_);
    const double mean = sum_ / n;
    const double variance = std::max(0.0, squares_ / n - mean * mean);
    return std::abs(mean - limit) > kStandardErrors * std::sqrt(variance / n);
  }
  ModelDivergence figures() const {
    const double n = static_cast<double>(std::max<std::size_t>(count_, 1));
    ModelDivergence out;
    out.tokens = static_cast<std::uint32_t>(count_);
    out.kl_mean = sum_ / n;
    out.kl_max = max_;
    out.same_first = static_cast<double>(same_) / n;
    out.perplexity_original = std::exp(surprise_from_ / n);
    out.perplexity = std::exp(surprise_to_ / n);
    return out;
  }

 private:
  std::size_t count_ = 0;
  std::size_t same_ = 0;
  double sum_ = 0;
  double squares_ = 0;
  double max_ = 0;
  double surprise_from_ = 0;
  double surprise_to_ = 0;
};

std::uint32_t logit_rows_for(const ModelInfo& info) {
  const std::uint64_t row_bytes = std::uint64_t{std::max(info.vocabulary, 1u)} * sizeof(float);
  const std::uint64_t rows = kLogitBytesMax / row_bytes / kLogitRowsMin * kLogitRowsMin;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(rows, kLogitRowsMin, kLogitRowsMax));
}

ContextOptions context_options(const ModelInfo& info, std::uint32_t threads) {
  ContextOptions options;
  options.sequences = kSequences;
  // The text, or what the sequences decode: whichever is more.
  options.window = static_cast<std::uint32_t>(kLeadTokens + kScoredTokensMax);
  if (info.context_trained != 0) options.window = std::min(options.window, info.context_trained);
  options.cells = 1024;
  options.batch_rows = static_cast<std::uint32_t>(kLeadTokens);
  options.logit_rows = logit_rows_for(info);
  options.threads = threads;
  options.idle_threads = IdleThreads::kSleep;
  return options;
}

Result<std::vector<Token>> tokens_for(const Model& original, const Model& converted,
                                      std::string_view text) {
  const ModelInfo& info = original.info();
  if (info.vocabulary != converted.info().vocabulary) return failed("the vocabularies differ");
  std::vector<Token> tokens = original.tokenizer().tokenize(text, SpecialTokens::kInert);
  if (tokens != converted.tokenizer().tokenize(text, SpecialTokens::kInert)) {
    return failed("the tokenizers differ");
  }
  if (const auto begin = original.tokenizer().begin_of_sequence()) {
    tokens.insert(tokens.begin(), *begin);
  }
  std::size_t most = kLeadTokens + kScoredTokensMax;
  if (info.context_trained != 0) most = std::min<std::size_t>(most, info.context_trained);
  tokens.resize(std::min(tokens.size(), most));
  if (tokens.size() < kTokensMin) {
    return failed("too few tokens (" + std::to_string(tokens.size()) + ") to compare models on");
  }
  return tokens;
}

using Pair = std::array<Reader, 2>;

// Both read `tokens`; what they say of each is added up until the verdict is clear. The last token
// has no successor that could be looked up.
Result<DivergenceSum> score(Pair& readers, TokenSpan tokens, const CompareOptions& options,
                            std::size_t rows_max) {
  DivergenceSum sum;
  const std::size_t lead = std::min(kLeadTokens, tokens.size() / 2);
  for (Reader& reader : readers) {
    if (!reader.read(tokens.first(lead), Outputs::kNone))
      return failed("a prompt could not be computed");
  }
  for (std::size_t at = lead; at + 1 < tokens.size() && !sum.settled(options.kl_limit);) {
    const std::size_t count = std::min(rows_max, tokens.size() - 1 - at);
    for (Reader& reader : readers) {
      if (!reader.read(tokens.subspan(at, count), Outputs::kLogits)) {
        return failed("a prompt could not be computed");
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!sum.add(readers[0].logits(i), readers[1].logits(i), tokens[at + i + 1])) {
        return failed("logits are not finite");
      }
    }
    at += count;
  }
  return sum;
}

Result<void> time_decoding(Pair& readers) {
  for (Reader& reader : readers) {
    if (!reader.start_decoding()) return failed("a sequence could not be removed");
  }
  for (int round = 0; round < kRounds; ++round) {
    for (Reader& reader : readers) {
      // A first step of another size makes its graph anew and is slow: the best counts.
      const std::size_t half = round < kRounds / 2 ? 0 : 1;
      if (!reader.decode(kSequences, kStepsOfBatch, half) || !reader.decode(1, kStepsOfOne, half)) {
        return failed("a step could not be computed");
      }
    }
  }
  return {};
}

Result<Reader> reader_of(const Model& model, const CompareOptions& options) {
  ZH_ASSIGN_OR_RETURN(std::unique_ptr<ModelContext> context,
                      model.make_context(context_options(model.info(), options.threads)));
  return Reader(std::move(context), *options.clock);
}

}  // namespace

double logit_divergence(std::span<const float> from, std::span<const float> to) {
  ZH_CHECK(!from.empty() && from.size() == to.size());
  return compare_rows(from, to).divergence;
}

Result<ModelComparison> compare_models(const Model& original, const Model& converted,
                                       const CompareOptions& options) {
  ZH_CHECK(options.clock != nullptr);
  ZH_ASSIGN_OR_RETURN(const std::vector<Token> tokens,
                      tokens_for(original, converted, options.text));
  ZH_ASSIGN_OR_RETURN(Reader first, reader_of(original, options));
  ZH_ASSIGN_OR_RETURN(Reader second, reader_of(converted, options));
  Pair readers{std::move(first), std::move(second)};
  ZH_ASSIGN_OR_RETURN(const DivergenceSum sum,
                      score(readers, tokens, options, logit_rows_for(original.info())));
  ZH_RETURN_IF_ERROR(time_decoding(readers));
  return ModelComparison{sum.figures(), readers[0].speed(), readers[1].speed(),
                         std::max(readers[0].disturbance(), readers[1].disturbance())};
}

}  // namespace zerohop
