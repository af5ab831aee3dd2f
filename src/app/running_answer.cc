#include "app/running_answer.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <utility>

#include "base/check.h"

namespace zerohop {

namespace asio = boost::asio;

namespace {

bool is_output(const Event& event) {
  return !std::holds_alternative<Started>(event) && !is_terminal(event);
}

}  // namespace

RunningAnswer::RunningAnswer(Service& service, AnswerOwner owner, AnswerKeep keep)
    : service_(service),
      owner_(std::move(owner)),
      keep_(keep),
      timing_(service.clock, service.tier_metrics->answers, owner_.received_at) {}

void RunningAnswer::begin(Start start) {
  ZH_CHECK(state_ == State::kPreparing);
  call_ = std::move(start.call);
  limit_ = std::move(start.limit);
  submitted_at_ = start.submitted_at;
  usages_.resize(start.streams.size());
  const bool streams = call_.stream != nullptr;
  timing_.serve_as(start.priority,
                   streams ? AnswerMetrics::Shape::kStream : AnswerMetrics::Shape::kWhole);
  streams_.emplace(start.executor, std::move(start.streams));
  streams_->set_on_events([this] { wake_readers(); });
  state_ = State::kRunning;
  wake_readers();
}

void RunningAnswer::fail(Error error) {
  ZH_CHECK(state_ == State::kPreparing);
  failure_ = std::move(error);
  state_ = State::kOver;
  wake_readers();
}

void RunningAnswer::pull() {
  if (state_ != State::kRunning) return;
  streams_->poll(events_);
  if (events_.empty()) return;
  for (const ChoiceEvent& entry : events_) {
    note(entry);
    add(entry);
  }
  events_.clear();
  const bool complete = streamed() ? call_.stream->ended() : call_.whole->complete();
  if (complete) end();
  // One reader has pulled; the others wait for what it found.
  if (readers_.size() > 1) wake_readers();
}

void RunningAnswer::add(const ChoiceEvent& entry) {
  if (const auto* failed = std::get_if<Failed>(&entry.event); failed != nullptr && !failure_) {
    failure_ = failed->error;
  }
  if (streamed()) {
    if (!call_.stream->ended()) call_.stream->append(entry.choice, entry.event, bytes_);
  } else if (!call_.whole->complete()) {
    call_.whole->add(entry.choice, entry.event);
  }
}

// The numbers that the reply shows. Nothing is billed for an answer that the server did not bring
// to its end.
void RunningAnswer::end() {
  state_ = State::kOver;
  // A deadline is the client's own limit: what it was sent by then is not given away.
  const bool cut = failure_ && failure_->code == ErrorCode::kTimeout && streamed() && pieces_ > 0;
  if (cut) {
    bill_let_out();
  } else if (failure_) {
    granted_ = limit_.grant();
    service_.limits.settle_unanswered(limit_, error_traits(failure_->code).status);
  } else {
    bill(openai_usage(usages_, call_.choices_per_prompt));
  }
  streams_.reset();  // what still runs of other choices is cancelled
}

// Nobody waits for the end: billed is what was computed and let out.
void RunningAnswer::abandon() {
  if (state_ == State::kOver) return;
  service_.metrics.count_cancellation(timing_.phase());
  if (std::exchange(state_, State::kOver) == State::kPreparing) return;
  if (started_) {
    bill_let_out();
  } else {
    limit_.release();
  }
  streams_.reset();
}

void RunningAnswer::bill_let_out() {
  OpenAiUsage usage = openai_usage(usages_, call_.choices_per_prompt);
  usage.output_tokens = limit_.served();
  bill(usage);
}

void RunningAnswer::bill(const OpenAiUsage& usage) {
  const BilledTokens tokens{usage.prompt_tokens - usage.cached_tokens, usage.cached_tokens,
                            usage.output_tokens};
  granted_ = limit_.grant();
  service_.limits.settle(limit_, {&owner_.caller, service_.tier().name(), tokens});
}

void RunningAnswer::note(const ChoiceEvent& entry) {
  timing_.note(entry.event);
  if (is_output(entry.event)) {
    ++pieces_;
    note_first_output();
  } else if (const auto* started = std::get_if<Started>(&entry.event)) {
    note_start(entry, *started);
  } else if (const auto* finished = std::get_if<Finished>(&entry.event)) {
    usages_[entry.choice] = usage_ = finished->usage;
    stop_reason_ = finish_reason_name(finished->reason);
  }
}

void RunningAnswer::note_start(const ChoiceEvent& entry, const Started& started) {
  usages_[entry.choice] = usage_ = started.usage;
  started_ = true;
  soft_max_tokens_ = std::max(soft_max_tokens_, started.soft_max_tokens);
  if (entry.choice == 0) first_token_expected_ = started.first_token_expected;
  miss_ = started.miss.cause;
  const auto now = service_.clock.wall().time_since_epoch();
  service_.misses.record({std::chrono::duration_cast<std::chrono::seconds>(now).count(),
                          owner_.request_id, started.usage.prompt_tokens,
                          started.usage.prompt_tokens_cached, started.miss,
                          owner_.caller.tenant->number});
}

void RunningAnswer::note_first_output() {
  const Duration expected = std::exchange(first_token_expected_, Duration::zero());
  if (expected == Duration::zero()) return;
  service_.queue_metrics.first_token(expected, service_.clock.now() - submitted_at_);
}

std::string RunningAnswer::take(std::size_t& offset) {
  std::string out;
  if (keep_ == AnswerKeep::kUnsent) {
    out = std::exchange(bytes_, std::string());
  } else {
    out = bytes_.substr(offset);
  }
  offset += out.size();
  return out;
}

void RunningAnswer::wake_readers() {
  for (AnswerReader* reader : readers_) reader->wake();
}

AnswerReader::AnswerReader(std::shared_ptr<RunningAnswer> answer,
                           const asio::any_io_executor& executor)
    : self_(std::make_shared<AnswerReader*>(this)),
      clock_(answer->service_.clock),
      answer_(std::move(answer)),
      news_(executor, asio::steady_timer::time_point::max()),
      silence_(executor) {
  answer_->readers_.push_back(this);
}

AnswerReader::~AnswerReader() {
  *self_ = nullptr;
  if (attached_) std::erase(answer_->readers_, this);
}

void AnswerReader::wake() {
  woken_ = true;
  if (waiting_) news_.cancel();
}

void AnswerReader::interrupt() {
  interrupted_ = true;
  if (waiting_) news_.cancel();
}

void AnswerReader::leave() {
  if (!std::exchange(attached_, false)) return;
  std::erase(answer_->readers_, this);
  if (answer_->readers_.empty()) answer_->abandon();
}

Awaitable<bool> AnswerReader::wait(Duration silence) {
  if (!woken_ && !interrupted_) {
    silent_at_ = clock_.now() + silence;
    watch_silence();
    waiting_ = true;
    // News come through wake(), which runs on this thread and therefore not in between.
    co_await news_.async_wait(asio::as_tuple(asio::use_awaitable));
    waiting_ = false;
  }
  const bool news = std::exchange(woken_, false) || interrupted_;
  co_return news;
}

void AnswerReader::watch_silence() {
  if (silence_set_ && *silence_set_ <= silent_at_) return;
  silence_set_ = silent_at_;
  silence_.expires_at(silent_at_);
  silence_.async_wait([self = self_](const boost::system::error_code& fault) {
    if (!fault && *self != nullptr) (*self)->on_silence();
  });
}

void AnswerReader::on_silence() {
  silence_set_.reset();
  if (!waiting_) return;  // the next wait sets it
  if (clock_.now() < silent_at_) return watch_silence();
  news_.cancel();
}

}  // namespace zerohop
