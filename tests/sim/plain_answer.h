// The answer by the plainest loop that can be written: the prompt in one piece, one token at a
// time, stop sequences searched in the whole text, characters mended at the end.
//
// It shares the prompt stage, the sampler and the fake model with the server, but neither the
// engine nor the output chain nor the automaton.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/request.h"
#include "core/token.h"
#include "core/usage.h"
#include "model/model.h"

namespace zerohop {

struct OracleAnswer {
  std::string text;
  FinishReason reason = FinishReason::kEndOfTurn;
  std::string stop_sequence;
  Usage usage;

  friend bool operator==(const OracleAnswer&, const OracleAnswer&) = default;
};

/// `prompt`: 1 ≤ size ≤ window.
OracleAnswer plain_answer(const Model& model, std::uint32_t window,
                          const std::vector<Token>& prompt, const GenerationParameters& generation);

}  // namespace zerohop
