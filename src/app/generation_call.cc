#include "app/generation_call.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "app/answer_joining.h"
#include "app/document_text.h"
#include "app/json_response.h"
#include "app/queue_door.h"
#include "app/request_context.h"
#include "app/request_schedule.h"
#include "app/running_answer.h"
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

Result<void> read_call(const CallScope& scope, const UnreadCall& unread) {
  DialectCall& call = *unread.call;
  ZH_RETURN_IF_ERROR(call.parse(unread.body));
  if (unread.notes != nullptr) {
    note_body(*unread.notes, {unread.body, call.model(), call.labels(), call.conversation()},
              scope.live->config.metrics.labels);
  }
  return check_model(scope, *unread.tenant, call.model());
}

// One HTTP request: begins an answer or joins one, and hands it to its client.
class GenerationCall {
 public:
  GenerationCall(Service& service, Exchange& exchange, std::unique_ptr<DialectCall> call)
      : service_(service),
        exchange_(exchange),
        call_(std::move(call)),
        context_(*context_of(exchange.ticket())) {}

  Awaitable<void> run() {
    advance(RequestState::kValidating);
    const RequestHead& head = exchange_.request().head;
    Result<RequestSchedule> schedule =
        read_schedule(context_.tenant, head, exchange_.request().received_at);
    if (!schedule.ok()) {
      co_await refuse(std::move(schedule).error());
      co_return;
    }
    schedule_ = *std::move(schedule);
    const auto identity = join_identity(context_.caller, head, context_.live->config.queue);
    if (identity) co_await join(*identity);
    if (!reader_) lead(std::make_shared<RunningAnswer>(service_, owner(), AnswerKeep::kUnsent));
    if (lead_) {
      co_await begin();
    } else {
      co_await await_begin();
    }
    if (!is_final(context_.life.state())) co_await answer();
    note_answer();
    exchange_.on_peer_gone(nullptr);
  }

 private:
  AnswerOwner owner() const {
    return {context_.live, context_.caller, context_.request_id, exchange_.request().received_at};
  }

  void attach(std::shared_ptr<RunningAnswer> answer) {
    const auto deadline = deadline_for(*answer);
    reader_.emplace(std::move(answer), exchange_.executor(), deadline);
    exchange_.on_peer_gone([this] { reader_->interrupt(); });
  }

  void lead(const std::shared_ptr<RunningAnswer>& answer) {
    lead_.emplace(answer);
    attach(answer);
  }

  // The answer to the same request, if it runs; else a new one, which repetitions can join.
  Awaitable<void> join(const JoinIdentity& identity) {
    auto work = [&identity, &body = exchange_.request().body] {
      return join_digest(identity, body);
    };
    const Sha256Digest digest = co_await run_on_worker(service_.workers, std::move(work));
    std::shared_ptr<RunningAnswer> answer;
    if (identity.may_join) answer = service_.joinable.find(digest);
    if (answer != nullptr) {
      service_.queue_metrics.count_joined();
      attach(std::move(answer));
    } else {
      answer = std::make_shared<RunningAnswer>(service_, owner(), AnswerKeep::kAll);
      service_.joinable.add(digest, answer);
      lead(answer);
    }
  }

  // How long this client waits for an answer, as far as its shape is known.
  std::optional<TimePoint> deadline_for(const RunningAnswer& answer) const {
    if (answer.preparing()) return schedule_.deadline;
    return deadline_of(schedule_, answer.streamed() ? AnswerShape::kStream : AnswerShape::kWhole);
  }

  // From the body to the engine. When it returns the request has come to its end, or the answer is
  // computed.
  Awaitable<void> begin() {
    RunningAnswer& running = reader_->answer();
    UnreadCall unread{call_.get(), context_.caller.tenant, exchange_.take_body(), &context_.notes,
                      true};
    CallScope scope{service_, context_.live};
    Result<PreparedCall> prepared = co_await prepare_call(std::move(scope), std::move(unread));
    // Others may wait for it by now.
    if (exchange_.peer_gone() && running.readers() == 1) {
      cancelled();
      co_return;
    }
    Result<void> begun;
    if (prepared.ok()) {
      begun = start(running, std::move(prepared).value());
    } else {
      begun = std::move(prepared).error();
    }
    if (!begun.ok()) running.fail(begun.error());
    co_await settle_begin();
  }

  // Somebody else has begun the same and is not as far as the engine yet.
  Awaitable<void> await_begin() {
    const RunningAnswer& running = reader_->answer();
    while (running.preparing() && !exchange_.peer_gone() && !reader_->expired()) {
      co_await reader_->wait(kForEver);
    }
    if (!running.preparing()) reader_->set_deadline(deadline_for(running));
    co_await settle_begin();
  }

  Awaitable<void> settle_begin() {
    const RunningAnswer& running = reader_->answer();
    if (exchange_.peer_gone()) {
      cancelled();
    } else if (running.over() && !has_output()) {
      co_await refuse_failed();
    } else if (reader_->expired()) {
      co_await leave_late();
    } else {
      advance(RequestState::kInferring);
    }
  }

  bool has_output() const { return reader_->answer().failure() == nullptr || head_out_; }

  Result<void> start(RunningAnswer& running, PreparedCall prepared) {
    note_call(prepared);
    ZH_RETURN_IF_ERROR(service_.limits.attach(context_.limit, served_by(), prepared));
    RunningAnswer::Start start;
    start.priority = prepared.choices.front().request.scheduling.priority;
    context_.notes.priority = start.priority;
    start.generates = prepared.choices.front().request.max_tokens > 0;
    start.submitted_at = service_.clock.now();
    start.executor = exchange_.executor();
    const AnswerShape shape =
        prepared.stream != nullptr ? AnswerShape::kStream : AnswerShape::kWhole;
    reader_->set_deadline(deadline_of(schedule_, shape));
    ZH_ASSIGN_OR_RETURN(start.streams, submit(prepared, shape));
    start.call = std::move(prepared);
    start.limit = std::move(context_.limit);
    running.begin(std::move(start));
    return {};
  }

  Result<std::vector<std::shared_ptr<TokenStream>>> submit(PreparedCall& call, AnswerShape shape) {
    const RequestSchedule schedule = schedule_of_all();
    for (std::size_t i = 0; i < call.choices.size(); ++i) {
      PreparedGeneration& choice = call.choices[i];
      apply_schedule(schedule, shape, choice.request);
      choice.request.prompt_shared = i % call.choices_per_prompt != 0;
      choice.read_at_end = shape == AnswerShape::kWhole;
    }
    const EngineRequest& first = call.choices.front().request;
    const QueueQuestion question{schedule,
                                 context_.live->waits,
                                 shape,
                                 first.scheduling.priority,
                                 first.max_tokens,
                                 static_cast<std::uint32_t>(first.prompt.size()),
                                 call.choices.size()};
    ZH_RETURN_IF_ERROR(check_queue_at_submit(service_, question));
    auto streams = service_.tier().submit_all(std::move(call.choices));
    if (streams.ok()) return streams;
    Error error = std::move(streams).error();
    if (error.code == ErrorCode::kOverloaded) advise_by_queue(service_, error);
    return error;
  }

  // For whom others wait as well, it is worth computing until the last of them has gone.
  RequestSchedule schedule_of_all() const {
    RequestSchedule schedule = schedule_;
    const RunningAnswer& running = reader_->answer();
    if (running.readers() == 1) return schedule;
    schedule.deadline = running.deadline();
    schedule.client_gives_up.reset();
    return schedule;
  }

  ServedBy served_by() const { return {service_.tier().name(), service_.tier().window()}; }

  void advance(RequestState state) { context_.life.advance(state, service_.clock.now()); }

  Awaitable<void> refuse(Error error) {
    note_answer();
    return refuse_request(service_, exchange_, std::move(error));
  }

  Awaitable<void> refuse_failed() { return refuse(*reader_->answer().failure()); }

  // The deadline of this client is over; others wait for longer.
  Awaitable<void> leave_late() {
    const RunningAnswer& running = reader_->answer();
    Error error{ErrorCode::kTimeout, "the deadline of the request is over", "", {}};
    std::string bytes;
    if (head_out_) {
      bytes = reader_->take();
      running.append_failure(error, bytes);
    }
    reader_->leave();
    if (!head_out_) {
      co_await refuse(std::move(error));
      co_return;
    }
    note_answer();
    context_.notes.failure = error;
    service_.metrics.count_refusal(error.code);
    const bool sent = co_await exchange_.end_stream(bytes);
    advance(sent ? RequestState::kFailed : RequestState::kCancelled);
  }

  void cancelled() {
    reader_->leave();
    advance(RequestState::kCancelled);
  }

  // What the log and the metrics tell of the request itself.
  void note_call(const PreparedCall& call) {
    RequestNotes& notes = context_.notes;
    notes.cache_key = schedule_.affinity;
    notes.streamed = call.stream != nullptr;
    for (const PreparedGeneration& choice : call.choices) {
      notes.max_tokens += choice.request.max_tokens;
    }
  }

  // What headers, log and console tell of the answer, as far as it has come.
  void note_answer() {
    if (!reader_) return;
    const RunningAnswer& running = reader_->answer();
    // One of those that it was computed for has it in its counts.
    context_.usage = reader_->counts() ? running.usage() : Usage();
    context_.notes.streamed = running.streamed();
    context_.stop_reason = running.stop_reason();
    context_.soft_max_tokens = running.soft_max_tokens();
    context_.constraint_relaxed = running.relaxed();
    context_.pieces_out = running.pieces();
    if (!context_.granted) context_.granted = running.granted();
    context_.notes.queue = running.clock().queued();
    context_.notes.first_text = running.clock().first_text();
    context_.notes.last_text = running.clock().last_text();
    context_.notes.joined = !lead_;
    context_.notes.miss = running.miss();
    if (running.failure() != nullptr) context_.notes.failure = *running.failure();
  }

  Awaitable<void> answer() {
    return reader_->answer().streamed() ? answer_streamed() : answer_whole();
  }

  Awaitable<void> answer_whole() {
    RunningAnswer& running = reader_->answer();
    for (running.pull(); !running.over(); running.pull()) {
      co_await reader_->wait(kForEver);
      if (exchange_.peer_gone()) {
        cancelled();
        co_return;
      }
      if (reader_->expired()) {
        co_await leave_late();
        co_return;
      }
    }
    note_answer();
    if (running.failure() != nullptr) {
      co_await refuse_failed();
      co_return;
    }
    advance(RequestState::kStreaming);
    HttpResponse response = json_response(200, running.body());
    co_await exchange_.respond(std::move(response));
    advance(exchange_.peer_gone() ? RequestState::kCancelled : RequestState::kDone);
  }

  Awaitable<void> answer_streamed() {
    RunningAnswer& running = reader_->answer();
    for (bool silent = false, last = false; !last;) {
      running.pull();
      if (exchange_.peer_gone()) {
        cancelled();
        co_return;
      }
      // Nothing is out yet: a failure can still be a status.
      if (!has_output()) {
        co_await refuse_failed();
        co_return;
      }
      if (reader_->expired()) {
        co_await leave_late();
        co_return;
      }
      std::string bytes = reader_->take();
      last = running.over();
      if (silent || last || !bytes.empty()) {
        note_answer();
        const bool sent = co_await send(std::move(bytes), last, silent);
        if (!sent) {
          cancelled();
          co_return;
        }
        silent = false;
      }
      // More may have come while it was sent.
      if (last || running.over()) continue;
      const bool news = co_await reader_->wait(silence());
      silent = !news;
    }
    end_streamed();
  }

  void end_streamed() {
    const Error* failure = reader_->answer().failure();
    if (failure != nullptr) service_.metrics.count_refusal(failure->code);
    advance(failure != nullptr ? RequestState::kFailed : RequestState::kDone);
  }

  // How long the reader may wait before something has to be sent.
  Duration silence() const {
    if (!head_out_) return kFirstByte;
    const std::uint32_t seconds = context_.live->config.stream.ping_seconds;
    return seconds == 0 ? Duration(kForEver) : Duration(std::chrono::seconds(seconds));
  }

  // False when the peer is gone.
  Awaitable<bool> send(std::string bytes, bool last, bool silent) {
    if (!head_out_) {
      std::vector<HeaderField> headers = event_stream_headers();
      const bool open = co_await exchange_.begin_stream(200, std::move(headers));
      if (!open) co_return false;
      head_out_ = true;
      advance(RequestState::kStreaming);
      if (silent) co_return co_await exchange_.flush();
    } else if (silent && bytes.empty() && !last) {
      reader_->answer().append_keep_alive(bytes);
    }
    const TimePoint began = service_.clock.now();
    const bool sent = last ? co_await exchange_.end_stream(bytes) : co_await exchange_.write(bytes);
    const Duration took = service_.clock.now() - began;
    service_.tier_metrics->answers.written(took);
    // Of several readers the one that has it in its counts tells how long it made them wait.
    if (reader_->counts()) reader_->answer().note_written(took);
    co_return sent;
  }

  Service& service_;
  Exchange& exchange_;
  const std::unique_ptr<DialectCall> call_;
  RequestContext& context_;
  RequestSchedule schedule_;
  std::optional<AnswerLead> lead_;  // it begins the answer that it reads; goes behind its reader
  std::optional<AnswerReader> reader_;
  bool head_out_ = false;
};

}  // namespace

Awaitable<void> run_generation(Service& service, Exchange& exchange,
                               std::unique_ptr<DialectCall> call) {
  GenerationCall generation(service, exchange, std::move(call));
  co_await generation.run();
}

// Closures are named, because GCC 12 destroys a temporary inside a co_await expression twice.
Awaitable<Result<PreparedCall>> prepare_call(CallScope scope, UnreadCall unread) {
  using Prepared = std::optional<Result<PreparedCall>>;  // nothing: documents come first
  DialectCall& call = *unread.call;
  const bool at_once = unread.at_once && unread.body.size() <= kBodyAtOnceMax;
  if (at_once) {
    const Result<void> readable = read_call(scope, unread);
    if (!readable.ok()) co_return readable.error();
    if (call.recall()) co_return call.prepare();
  }
  auto all = [&scope, &unread, &call, at_once]() -> Prepared {
    const Result<void> readable = at_once ? Result<void>() : read_call(scope, unread);
    if (!readable.ok()) return readable.error();
    if (waits_for_documents(call.conversation())) return std::nullopt;
    return call.prepare();
  };
  Prepared prepared = co_await run_on_worker(scope.service.workers, std::move(all));
  if (prepared) co_return std::move(*prepared);
  const Result<void> read = co_await read_documents_of(scope, *call.conversation());
  if (!read.ok()) co_return read.error();
  auto rest = [&call] { return call.prepare(); };
  co_return co_await run_on_worker(scope.service.workers, std::move(rest));
}

Awaitable<Result<void>> read_documents_of(CallScope scope, Conversation& conversation) {
  auto work = [&conversation, &scope] {
    return read_documents(conversation, scope.live->documents);
  };
  co_return co_await run_on_worker(scope.service.waiters, std::move(work));
}

}  // namespace zerohop
