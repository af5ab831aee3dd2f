#include "trace_sim/engine_replay.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "engine/engine_loop.h"

namespace zerohop::trace_sim {
namespace {

// Where a request that gave its place to another client waits, so that what it has is not computed
// again.
constexpr std::uint32_t kParkedIds = 64;
constexpr std::uint64_t kHostBytes = std::uint64_t{1} << 30;

// Every token shows at once, as one letter.
class LetterStage final : public OutputStage {
 public:
  StageVerdict accept(Token, std::string_view, std::vector<Event>& events) override {
    events.push_back(TextDelta{"x"});
    return {};
  }
  FinishReason flush(FinishReason reason, std::vector<Event>&) override { return reason; }
};

class NoWaker final : public StreamWaker {
 public:
  void wake(std::vector<std::shared_ptr<TokenStream>>) override {}
};

struct Client {
  std::shared_ptr<TokenStream> stream;
  ServedRequest served;
  double last_token = -1;
};

class Replay {
 public:
  Replay(const LengthTrace& trace, const EngineReplayOptions& options)
      : trace_(trace), options_(options), random_(options.seed) {
    FakeModelOptions model;
    model.end_of_turn_chance = 0;
    model.cost = options.cost;
    model.clock = &clock_;
    model.context_trained = options.window;
    model_ = make_fake_model(model);
    ContextOptions context;
    context.sequences = options.sequences;
    context.window = options.window;
    context.parked = kParkedIds;
    EngineOptions engine;
    engine.cache.host_bytes_max = kHostBytes;
    engine.window = context.window;
    engine.batch_rows = context.batch_rows;
    engine.logit_rows = context.logit_rows;
    engine.queue.requests_max = trace.size();
    engine.queue.tokens_max = std::numeric_limits<std::uint64_t>::max();
    // Nobody is turned away, however long the queue gets: a load of 2.2 is to be seen, not refused.
    engine.pressure.wait_max = std::chrono::hours(24 * 365);
    engine.fairness.sequences = options.sequences;
    // One tenant, whose requests are due when they arrive: first come, first served.
    if (options.order == ServiceOrder::kArrival) engine.fairness.ageing = Duration(1);
    engine.on_step = [this](const StepReport& report) {
      result_.busy += to_seconds(report.duration);
    };
    EngineParts parts;
    parts.context = std::move(model_->make_context(context)).value();
    parts.tokens = &model_->tokenizer().table();
    parts.clock = &clock_;
    parts.waker = &waker_;
    loop_ = std::make_unique<EngineLoop>(std::move(parts), std::move(engine));
  }

  ~Replay() {
    loop_->stop();
    loop_->fail_all();
  }

  EngineReplay run() {
    std::size_t next = 0;
    while (true) {
      while (next < trace_.size() && arrival(next) <= now()) submit(next++);
      const bool worked = loop_->step();
      read();
      if (worked) continue;
      if (next == trace_.size()) break;
      clock_.advance(from_seconds(std::max(arrival(next) - now(), 1e-9)));
    }
    ZH_CHECK(clients_.empty());
    loop_->check_integrity();
    result_.seconds = now();
    return std::move(result_);
  }

 private:
  double now() const { return to_seconds(clock_.now().time_since_epoch()); }
  double arrival(std::size_t index) const { return trace_[index].seconds * options_.stretch; }

  std::uint32_t client_index(const std::string& name) {
    const auto [found, added] =
        indices_.try_emplace(name, static_cast<std::uint32_t>(result_.clients.size()));
    if (added) result_.clients.push_back(name);
    return found->second;
  }

  void submit(std::size_t index) {
    const LengthRequest& recorded = trace_[index];
    Client client;
    client.stream = loop_->make_stream();
    client.served.client = client_index(recorded.client);
    client.served.arrived = arrival(index);
    const std::uint32_t prompt_tokens = std::min(recorded.prompt_tokens, options_.window - 1);
    EngineRequest request;
    for (std::uint32_t i = 0; i < prompt_tokens; ++i) {
      request.prompt.push_back(static_cast<Token>(random_.next() % 256));
    }
    // The first token comes with the prompt's last row, so every request has one.
    request.max_tokens = std::clamp(recorded.output_tokens, 1u, options_.window - prompt_tokens);
    client.served.prompt_tokens = prompt_tokens;
    request.sampling.temperature = 0;
    if (options_.order == ServiceOrder::kFair) {
      request.scheduling.tenant = TenantId(client.served.client + 1);
    }
    request.stage = std::make_unique<LetterStage>();
    request.stream = client.stream;
    request.submitted_at = TimePoint(from_seconds(client.served.arrived));
    if (loop_->submit(std::move(request))) {
      clients_.push_back(std::move(client));
    } else {
      ++result_.refused;
    }
  }

  void read() {
    for (Client& client : clients_) read(client);
    std::erase_if(clients_, [](const Client& client) { return client.stream == nullptr; });
  }

  void read(Client& client) {
    events_.clear();
    const bool ended = client.stream->read(events_);
    for (const Event& event : events_) {
      if (const auto* text = std::get_if<TextDelta>(&event)) {
        note_tokens(client, static_cast<std::uint32_t>(text->text.size()));
      } else if (std::holds_alternative<Failed>(event)) {
        ++result_.refused;
        client.stream = nullptr;
        return;
      }
    }
    if (!ended) return;
    client.served.finished = now();
    result_.served.push_back(client.served);
    client.stream = nullptr;
  }

  void note_tokens(Client& client, std::uint32_t tokens) {
    client.served.output_tokens += tokens;
    if (client.last_token < 0) {
      client.served.first_token = now();
    } else {
      client.served.gap_max = std::max(client.served.gap_max, now() - client.last_token);
    }
    client.last_token = now();
  }

  const LengthTrace& trace_;
  const EngineReplayOptions& options_;
  VirtualClock clock_;
  Random random_;
  NoWaker waker_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<EngineLoop> loop_;
  std::map<std::string, std::uint32_t> indices_;
  std::vector<Client> clients_;
  std::vector<Event> events_;
  EngineReplay result_;
};

}  // namespace

FakeStepCost EngineReplayOptions::default_model_cost() {
  FakeStepCost cost;
  cost.base = std::chrono::microseconds(10'000);
  cost.per_row = std::chrono::microseconds(1'800);
  cost.per_cell = std::chrono::nanoseconds(3'600);
  return cost;
}

std::uint64_t EngineReplay::tokens() const {
  std::uint64_t sum = 0;
  for (const ServedRequest& request : served) sum += request.prompt_tokens + request.output_tokens;
  return sum;
}

EngineReplay replay(const LengthTrace& trace, const EngineReplayOptions& options) {
  return Replay(trace, options).run();
}

double offered_load(const LengthTrace& trace, const EngineReplayOptions& options) {
  EngineReplayOptions at_once = options;
  at_once.order = ServiceOrder::kArrival;
  at_once.stretch = 0;
  const double arrivals = trace.back().seconds * options.stretch;
  ZH_CHECK(arrivals > 0);
  return replay(trace, at_once).seconds / arrivals;
}

LengthTrace filtered(const LengthTrace& trace,
                     const std::function<bool(const LengthRequest&)>& keep) {
  LengthTrace kept;
  std::copy_if(trace.begin(), trace.end(), std::back_inserter(kept), keep);
  return kept;
}

}  // namespace zerohop::trace_sim
