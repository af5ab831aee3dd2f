#include "app/request_span.h"

#include <algorithm>
#include <utility>

#include "app/request_context.h"
#include "app/service.h"

namespace zerohop {
namespace {

constexpr std::string_view kEmbeddings = "embeddings";

// Collects what has a length; the clock of the engine and that of the answer are read at other
// places than those of the states, so an edge may lie a little outside.
class Phases {
 public:
  Phases(const ExchangeSummary& summary, const RequestContext& context)
      : summary_(summary), context_(context) {
    phases_.reserve(SpanRecord::kPhasesMax);
  }

  void add(std::string_view name, Duration begin, Duration end) {
    begin = std::clamp(begin, Duration::zero(), summary_.total);
    end = std::clamp(end, Duration::zero(), summary_.total);
    if (end > begin) phases_.push_back({name, begin, end});
  }

  void add_state(std::string_view name, RequestState state) {
    if (const auto begin = entered(state)) add(name, *begin, left(state));
  }

  std::optional<Duration> entered(RequestState state) const {
    const auto at = context_.life.entered_at(state);
    return at ? std::optional(*at - summary_.received_at) : std::nullopt;
  }

  // The end of the request where it is in `state` still.
  Duration left(RequestState state) const {
    const auto at = context_.life.left_at(state);
    return at ? *at - summary_.received_at : summary_.total;
  }

  bool was_left(RequestState state) const { return context_.life.left_at(state).has_value(); }

  std::vector<SpanPhase> take() { return std::move(phases_); }

 private:
  const ExchangeSummary& summary_;
  const RequestContext& context_;
  std::vector<SpanPhase> phases_;
};

// Both since the first byte of the request.
struct EngineTime {
  Duration begin{};
  Duration end{};
};

// Nothing for a request that the engine never had. The engine is often quicker than the I/O thread,
// which enters the state only when it has handed the request over: where the first token came
// before that, the queue did too.
std::optional<EngineTime> engine_time(const RequestNotes& notes, const Phases& phases) {
  const auto entered = phases.entered(RequestState::kInferring);
  if (!entered) return std::nullopt;
  Duration end = phases.left(RequestState::kInferring);
  if (phases.entered(RequestState::kStreaming)) end = phases.left(RequestState::kStreaming);
  const Duration queue = notes.queue.value_or(Duration::zero());
  return EngineTime{std::min(*entered, notes.first_text.value_or(end) - queue), end};
}

void add_engine_phases(const EngineTime& engine, const RequestNotes& notes, Phases& phases) {
  const Duration placed = notes.queue ? engine.begin + *notes.queue : engine.end;
  phases.add("queue", engine.begin, placed);
  phases.add("prefill", placed, notes.first_text.value_or(engine.end));
  if (notes.first_text) {
    phases.add("decode", *notes.first_text, notes.last_text.value_or(engine.end));
  }
}

std::vector<SpanPhase> phases_of(const ExchangeSummary& summary, const RequestContext& context,
                                 std::string_view operation) {
  Phases phases(summary, context);
  // Probes and lists stay in that state to their end, and nothing was received.
  if (phases.was_left(RequestState::kReceiving)) {
    phases.add_state("receive", RequestState::kReceiving);
  }
  const auto prepared = phases.entered(RequestState::kValidating);
  if (!prepared) return phases.take();
  if (operation == kEmbeddings) {
    phases.add_state("prepare", RequestState::kValidating);
    phases.add_state("compute", RequestState::kInferring);
    return phases.take();
  }
  // Of an answer that another request had begun, the engine's times are that one's.
  const auto engine = context.notes.joined ? std::nullopt : engine_time(context.notes, phases);
  phases.add("prepare", *prepared, engine ? engine->begin : phases.left(RequestState::kValidating));
  if (engine) add_engine_phases(*engine, context.notes, phases);
  return phases.take();
}

}  // namespace

std::string_view operation_of(std::string_view route) {
  if (route.ends_with("/messages") || route.ends_with("/chat/completions") ||
      route.ends_with("/responses")) {
    return "chat";
  }
  if (route.ends_with("/completions")) return "text_completion";
  return route.ends_with("/embeddings") ? kEmbeddings : std::string_view();
}

SpanRecord span_of(const Service& service, const ExchangeSummary& summary,
                   const RequestContext& context, const RequestRecord& record) {
  SpanRecord span;
  span.trace = context.trace;
  span.request = record;
  span.operation = operation_of(summary.route);
  if (span.operation == kEmbeddings && !record.tier.empty()) {
    span.request.tier = service.tier().embeddings().info().name;
  }
  span.began = service.clock.wall() - summary.total;
  span.joined = context.notes.joined;
  span.phases = phases_of(summary, context, span.operation);
  return span;
}

}  // namespace zerohop
