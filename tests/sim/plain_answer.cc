#include "plain_answer.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "base/utf8.h"
#include "engine/sampler.h"

namespace zerohop {
namespace {

struct StopPlace {
  std::size_t end = 0;
  std::size_t order = 0;  // in the client's array
  std::size_t begin = 0;
};

// The match that ends first; among those, the first in the array.
std::optional<StopPlace> find_stop(const std::string& bytes,
                                   const std::vector<std::string>& stops) {
  std::optional<StopPlace> best;
  for (std::size_t order = 0; order < stops.size(); ++order) {
    const std::size_t begin = bytes.find(stops[order]);
    if (begin == std::string::npos) continue;
    const StopPlace place{begin + stops[order].size(), order, begin};
    if (!best || std::pair(place.end, place.order) < std::pair(best->end, best->order)) {
      best = place;
    }
  }
  return best;
}

// A context for one sequence that is fed from its beginning.
class PlainModel {
 public:
  PlainModel(const Model& model, std::uint32_t window) {
    ContextOptions options;
    options.sequences = 1;
    options.window = options.cells = options.batch_rows = window;
    options.logit_rows = 1;
    context_ = std::move(model.make_context(options)).value();
  }

  std::span<float> logits_after(TokenSpan tokens) {
    std::vector<BatchRow> rows;
    for (const Token token : tokens) {
      rows.push_back(BatchRow{token, position_++, SlotId(0), rows.size() + 1 == tokens.size()});
    }
    ZH_CHECK(context_->decode(rows) == DecodeStatus::kOk);
    return context_->logits(rows.size() - 1);
  }

 private:
  std::unique_ptr<ModelContext> context_;
  std::int32_t position_ = 0;
};

}  // namespace

OracleAnswer plain_answer(const Model& model, std::uint32_t window,
                          const std::vector<Token>& prompt,
                          const GenerationParameters& generation) {
  OracleAnswer answer;
  answer.usage.prompt_tokens = static_cast<std::uint32_t>(prompt.size());
  const std::uint32_t room = window - answer.usage.prompt_tokens;
  const std::uint32_t most = std::min(generation.max_tokens, room);
  answer.reason =
      generation.max_tokens <= room ? FinishReason::kMaxTokens : FinishReason::kContextWindow;

  const TokenTable& table = model.tokenizer().table();
  PlainModel plain(model, window);
  Sampler sampler;
  Random random(generation.sampling.seed.value_or(0));
  std::vector<Token> next = prompt;
  std::string bytes;
  while (answer.usage.output_tokens < most) {
    const Token token =
        sampler.sample(plain.logits_after(next), {generation.sampling}, random).value();
    if (table.is_end_of_generation(token)) {
      answer.reason = FinishReason::kEndOfTurn;
      break;
    }
    ++answer.usage.output_tokens;
    bytes += table.bytes(token);
    if (const auto stop = find_stop(bytes, generation.stop_sequences)) {
      answer.reason = FinishReason::kStopSequence;
      answer.stop_sequence = generation.stop_sequences[stop->order];
      bytes.resize(stop->begin);
      break;
    }
    next = {token};
  }
  answer.text = utf8_replace_invalid(bytes);
  return answer;
}

}  // namespace zerohop
