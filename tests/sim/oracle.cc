#include "oracle.h"

#include <utility>
#include <variant>
#include <vector>

#include "api/anthropic_request.h"
#include "base/check.h"
#include "engine/engine_draft_kit.h"

namespace zerohop {
namespace {

class NobodyWaits final : public StreamWaker {
 public:
  void wake(std::vector<std::shared_ptr<TokenStream>>) override {}
};

OracleAnswer gather(const std::vector<Event>& events) {
  OracleAnswer answer;
  for (const Event& event : events) {
    if (const auto* delta = std::get_if<TextDelta>(&event)) answer.text += delta->text;
    if (const auto* finished = std::get_if<Finished>(&event)) {
      answer.reason = finished->reason;
      answer.stop_sequence = finished->stop_sequence;
      answer.usage = finished->usage;
    }
  }
  ZH_CHECK(!events.empty() && std::holds_alternative<Finished>(events.back()));
  return answer;
}

}  // namespace

std::unique_ptr<Tier> make_sim_tier(const WorldOptions& options, ModelHooks hooks,
                                    VirtualClock& clock, StreamWaker& waker) {
  FakeModelOptions model;
  model.seed = options.seed;
  model.end_of_turn_chance = options.end_of_turn_chance;
  model.fault = std::move(hooks.fault);
  model.script = [hook = std::move(hooks.script),
                  copies = copying(options.seed, options.copy_chance)](TokenSpan tokens) {
    if (hook) hook(tokens);
    return copies(tokens);
  };
  model.cost = options.cost;
  model.clock = &clock;
  TierParts parts;
  parts.clock = &clock;
  parts.waker = &waker;
  parts.seed = options.seed;
  return std::move(Tier::create(make_fake_model(model), options.engine, std::move(parts))).value();
}

ParseOptions sim_parse_options(const WorldOptions& options) {
  return ParseOptions{Strictness::kLenient, options.default_max_tokens};
}

Oracle::Oracle(const WorldOptions& options) : options_(options) {
  options_.engine.sequences = 1;
  options_.engine.speculation.mode = Speculation::kOff;
  options_.engine.kv_cells = options_.engine.context_tokens;
}

std::optional<OracleAnswer> Oracle::answer(std::string_view body) const {
  VirtualClock clock;
  NobodyWaits waker;
  const std::unique_ptr<Tier> tier = make_sim_tier(options_, {}, clock, waker);
  auto parsed = parse_messages_request(body, sim_parse_options(options_));
  if (!parsed.ok()) return std::nullopt;
  const ChatRequest& request = parsed->chat;
  auto prepared = tier->prepare(request.conversation, request.generation);
  if (!prepared.ok()) return std::nullopt;
  OracleAnswer plain =
      plain_answer(tier->model(), tier->window(), prepared->request.prompt, request.generation);
  plain.usage.prompt_tokens_marked = prepared->request.marked_tokens;
  const auto stream = std::move(tier->submit(std::move(*prepared))).value();
  std::vector<Event> events;
  while (tier->loop().step()) stream->read(events);
  stream->read(events);
  OracleAnswer answer = gather(events);
  if (answer != plain) ++disagreements_;
  return answer;
}

}  // namespace zerohop
