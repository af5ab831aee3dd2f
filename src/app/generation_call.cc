#include "app/generation_call.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "api/openai_wire.h"
#include "app/document_text.h"
#include "app/generation_clock.h"
#include "app/json_response.h"
#include "app/request_context.h"
#include "app/request_schedule.h"
#include "app/stream_reader.h"
#include "app/worker_pool.h"
#include "http/sse.h"

namespace zerohop {
namespace {

// With no event by then, the head of a streamed answer goes out alone: clients measure this time.
constexpr std::chrono::seconds kFirstByte{1};
constexpr std::chrono::hours kForEver{24 * 365};

bool waits_for_documents(const Conversation* conversation) {
  return conversation != nullptr && has_unread_documents(*conversation);
}

class GenerationCall {
 public:
  GenerationCall(Service& service, Exchange& exchange, std::unique_ptr<DialectCall> call)
      : service_(service),
        exchange_(exchange),
        call_(std::move(call)),
        context_(*context_of(exchange.ticket())),
        timing_(service.clock, service.metrics, exchange.request().received_at) {}

  Awaitable<void> run() {
    advance(RequestState::kValidating);
    const RequestHead& head = exchange_.request().head;
    const RequestTenant tenant = tenant_of(service_.config, context_.caller, head.headers);
    Result<RequestSchedule> schedule = read_schedule(tenant, head, exchange_.request().received_at);
    if (!schedule.ok()) {
      co_await refuse(std::move(schedule).error());
      co_return;
    }
    UnreadCall unread{call_.get(), context_.caller.tenant, exchange_.take_body()};
    Result<PreparedCall> prepared = co_await prepare_call(service_, std::move(unread));
    if (!prepared.ok()) {
      co_await refuse(std::move(prepared).error());
      co_return;
    }
    context_.constraint_relaxed = prepared->relaxed;
    if (exchange_.peer_gone()) {
      cancelled();
      co_return;
    }
    const Result<void> limited = service_.limits.attach(context_.limit, served_by(), *prepared);
    if (!limited.ok()) {
      co_await refuse(limited.error());
      co_return;
    }
    usages_.resize(prepared->choices.size());
    choices_per_prompt_ = prepared->choices_per_prompt;
    Result<std::vector<std::shared_ptr<TokenStream>>> streams = submit(*prepared, *schedule);
    if (!streams.ok()) {
      co_await refuse(std::move(streams).error());
      co_return;
    }
    advance(RequestState::kInferring);
    StreamReader reader(exchange_.executor(), std::move(streams).value());
    exchange_.on_peer_gone([&reader] { reader.interrupt(); });
    if (prepared->stream != nullptr) {
      co_await answer_streamed(reader, *prepared->stream);
    } else {
      co_await answer_whole(reader, *prepared->whole);
    }
    exchange_.on_peer_gone(nullptr);
  }

 private:
  // All or none: what was submitted before a refusal is cancelled with its stream.
  Result<std::vector<std::shared_ptr<TokenStream>>> submit(PreparedCall& call,
                                                           const RequestSchedule& schedule) {
    const AnswerShape shape = call.stream != nullptr ? AnswerShape::kStream : AnswerShape::kWhole;
    if (deadline_of(schedule, shape)) {
      const std::chrono::milliseconds objective(service_.config.engine.itl_objective_ms);
      const double part = service_.tier().loop().part_in_front(schedule.tenant.tenant);
      ZH_RETURN_IF_ERROR(check_deadline(
          schedule, shape, {service_.tier().snapshot(), service_.clock.now(), objective, part}));
    }
    std::vector<std::shared_ptr<TokenStream>> streams;
    for (PreparedGeneration& choice : call.choices) {
      apply_schedule(schedule, shape, choice.request);
      auto stream = service_.tier().submit(std::move(choice));
      if (!stream.ok()) {
        for (const auto& earlier : streams) earlier->cancel();
        return std::move(stream).error();
      }
      streams.push_back(std::move(stream).value());
    }
    return streams;
  }

  ServedBy served_by() const { return {service_.tier().name(), service_.tier().window()}; }

  // The numbers that the reply shows. Nothing is billed for an answer that the server did not bring
  // to its end.
  void bill() { bill(openai_usage(usages_, choices_per_prompt_)); }

  // The client did not wait for the end: what was computed for it and let out.
  void bill_cancelled() {
    if (!started_) return context_.limit.release();
    OpenAiUsage usage = openai_usage(usages_, choices_per_prompt_);
    usage.output_tokens = context_.limit.served();
    bill(usage);
  }

  void bill(const OpenAiUsage& usage) {
    const BilledTokens tokens{usage.prompt_tokens - usage.cached_tokens, usage.cached_tokens,
                              usage.output_tokens};
    context_.granted = context_.limit.grant();
    service_.limits.settle(context_.limit, {&context_.caller, service_.tier().name(), tokens});
  }

  void advance(RequestState state) { context_.life.advance(state, service_.clock.now()); }

  Awaitable<void> refuse(Error error) {
    return refuse_request(service_, exchange_, std::move(error));
  }

  void cancelled() {
    bill_cancelled();
    service_.metrics.count_cancellation(timing_.phase());
    advance(RequestState::kCancelled);
  }

  void note(const ChoiceEvent& entry) {
    const Event& event = entry.event;
    timing_.note(event);
    if (const auto* started = std::get_if<Started>(&event)) {
      usages_[entry.choice] = started->usage;
      note_start(*started);
    }
    if (const auto* finished = std::get_if<Finished>(&event)) {
      usages_[entry.choice] = finished->usage;
      context_.usage = finished->usage;
      context_.stop_reason = finish_reason_name(finished->reason);
    }
  }

  void note_start(const Started& started) {
    started_ = true;
    context_.usage = started.usage;
    context_.soft_max_tokens = std::max(context_.soft_max_tokens, started.soft_max_tokens);
    const auto now = service_.clock.wall().time_since_epoch();
    service_.misses.record({std::chrono::duration_cast<std::chrono::seconds>(now).count(),
                            context_.request_id, started.usage.prompt_tokens,
                            started.usage.prompt_tokens_cached, started.miss});
  }

  Awaitable<void> answer_whole(StreamReader& reader, WholeReply& reply) {
    std::vector<ChoiceEvent> events;
    while (!reader.ended() && !reply.complete()) {
      co_await reader.read(kForEver, events);
      if (exchange_.peer_gone()) {
        cancelled();
        co_return;
      }
      for (const ChoiceEvent& entry : events) {
        note(entry);
        if (!reply.complete()) reply.add(entry.choice, entry.event);
      }
      events.clear();
    }
    if (reply.failure() != nullptr) {
      co_await refuse(*reply.failure());
      co_return;
    }
    bill();
    advance(RequestState::kStreaming);
    HttpResponse response = json_response(200, reply.body());
    co_await exchange_.respond(std::move(response));
    advance(exchange_.peer_gone() ? RequestState::kCancelled : RequestState::kDone);
  }

  Awaitable<void> answer_streamed(StreamReader& reader, ReplyStream& reply) {
    std::vector<ChoiceEvent> events;
    std::string bytes;
    bool failed = false;
    while (!reply.ended()) {
      co_await reader.read(silence(), events);
      if (exchange_.peer_gone()) {
        cancelled();
        co_return;
      }
      // Nothing is out yet: a failure can still be a status.
      if (!head_out_) {
        const auto failure = std::ranges::find_if(events, [](const ChoiceEvent& entry) {
          return std::holds_alternative<Failed>(entry.event);
        });
        if (failure != events.end()) {
          co_await refuse(std::move(std::get<Failed>(failure->event).error));
          co_return;
        }
      }
      for (const ChoiceEvent& entry : events) {
        note(entry);
        if (const auto* failure = std::get_if<Failed>(&entry.event)) {
          service_.metrics.count_refusal(failure->error.code);
          failed = true;
        }
        if (!reply.ended()) reply.append(entry.choice, entry.event, bytes);
      }
      if (reply.ended() && !failed) bill();
      const bool silent = events.empty();
      events.clear();
      const bool sent = co_await send(reply, bytes, silent);
      if (!sent) {
        cancelled();
        co_return;
      }
      bytes.clear();
    }
    advance(failed ? RequestState::kFailed : RequestState::kDone);
  }

  // How long the reader may wait before something has to be sent.
  Duration silence() const {
    if (!head_out_) return kFirstByte;
    const std::uint32_t seconds = service_.config.stream.ping_seconds;
    return seconds == 0 ? Duration(kForEver) : Duration(std::chrono::seconds(seconds));
  }

  // False when the peer is gone.
  Awaitable<bool> send(ReplyStream& reply, std::string& bytes, bool silent) {
    if (!head_out_) {
      std::vector<HeaderField> headers = event_stream_headers();
      const bool open = co_await exchange_.begin_stream(200, std::move(headers));
      if (!open) co_return false;
      head_out_ = true;
      advance(RequestState::kStreaming);
      if (silent) co_return co_await exchange_.flush();
    } else if (silent) {
      reply.append_keep_alive(bytes);
    }
    if (reply.ended()) co_return co_await exchange_.end_stream(bytes);
    co_return co_await exchange_.write(bytes);
  }

  Service& service_;
  Exchange& exchange_;
  const std::unique_ptr<DialectCall> call_;
  RequestContext& context_;
  GenerationClock timing_;
  std::vector<Usage> usages_;  // of each choice, as far as it is known
  std::size_t choices_per_prompt_ = 1;
  bool started_ = false;
  bool head_out_ = false;
};

}  // namespace

Awaitable<void> run_generation(Service& service, Exchange& exchange,
                               std::unique_ptr<DialectCall> call) {
  GenerationCall generation(service, exchange, std::move(call));
  co_await generation.run();
}

// Closures are named, because GCC 12 destroys a temporary inside a co_await expression twice.
Awaitable<Result<PreparedCall>> prepare_call(Service& service, UnreadCall unread) {
  using Prepared = std::optional<Result<PreparedCall>>;  // nothing: documents come first
  DialectCall& call = *unread.call;
  auto all = [&service, &unread, &call]() -> Prepared {
    const Result<void> parsed = call.parse(unread.body);
    if (!parsed.ok()) return parsed.error();
    const Result<void> allowed = check_model(service, *unread.tenant, call.model());
    if (!allowed.ok()) return allowed.error();
    if (waits_for_documents(call.conversation())) return std::nullopt;
    return call.prepare();
  };
  Prepared prepared = co_await run_on_worker(service.workers, std::move(all));
  if (prepared) co_return std::move(*prepared);
  const Result<void> read = co_await read_documents_of(service, *call.conversation());
  if (!read.ok()) co_return read.error();
  auto rest = [&call] { return call.prepare(); };
  co_return co_await run_on_worker(service.workers, std::move(rest));
}

Awaitable<Result<void>> read_documents_of(Service& service, Conversation& conversation) {
  auto work = [&conversation, &service] {
    return read_documents(conversation, service.document_limits);
  };
  co_return co_await run_on_worker(service.waiters, std::move(work));
}

}  // namespace zerohop
