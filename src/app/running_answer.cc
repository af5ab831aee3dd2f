#include "app/running_answer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"

namespace zerohop {

namespace asio = boost::asio;

namespace {

// Longer than anybody waits for an answer.
constexpr std::chrono::hours kForEver{24 * 30};

bool is_output(const Event& event) {
  return !std::holds_alternative<Started>(event) && !is_terminal(event);
}

// A limit of its client is no failure of the server; that is what a status below 500 says.
AnswerForSlo::End end_of(const std::optional<Error>& failure) {
  if (!failure) return AnswerForSlo::End::kWhole;
  return error_traits(failure->code).status >= 500 ? AnswerForSlo::End::kFailed
                                                   : AnswerForSlo::End::kLeft;
}

}  // namespace

RunningAnswer::RunningAnswer(Service& service, AnswerOwner owner, AnswerKeep keep)
    : service_(service),
      owner_(std::move(owner)),
      keep_(keep),
      timing_(service.tier_metrics->answers, owner_.received_at) {}

void RunningAnswer::begin(Start start) {
  ZH_CHECK(state_ == State::kPreparing);
  call_ = std::move(start.call);
  limit_ = std::move(start.limit);
  submitted_at_ = start.submitted_at;
  usages_.resize(start.streams.size());
  const bool streams = call_.stream != nullptr;
  generates_ = start.generates;
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
  counted_to_ = readers_.empty() ? nullptr : readers_.front();
  wake_readers();
}

void RunningAnswer::pull() {
  if (state_ != State::kRunning) return;
  take_events();
  if (events_.empty()) return;
  for (const ChoiceEvent& entry : events_) add(entry);
  events_.clear();
  const bool complete = streamed() ? call_.stream->ended() : call_.whole->complete();
  if (complete) end();
  // One reader has pulled; the others wait for what it found.
  if (readers_.size() > 1) wake_readers();
}

// Into events_, until the next time.
void RunningAnswer::take_events() {
  events_.clear();
  streams_->poll(events_);
  for (const ChoiceEvent& entry : events_) note(entry);
  note_times();
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
  counted_to_ = readers_.empty() ? nullptr : readers_.front();
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
  count_objectives(end_of(failure_));
  streams_.reset();  // what still runs of other choices is cancelled
}

// Nobody waits for the end: billed is what was computed and let out, read or not.
void RunningAnswer::abandon(const AnswerReader& last) {
  if (state_ == State::kOver) return;
  counted_to_ = &last;
  if (state_ == State::kRunning) take_events();
  service_.metrics.count_cancellation(timing_.phase());
  if (std::exchange(state_, State::kOver) == State::kPreparing) return;
  count_objectives(AnswerForSlo::End::kLeft);
  if (started_) {
    bill_let_out();
  } else {
    limit_.release();
  }
  streams_.reset();
}

void RunningAnswer::count_objectives(AnswerForSlo::End end) const {
  const SloMetrics* const slo = owner_.live->slo.get();
  if (slo == nullptr || !generates_) return;
  slo->count_answer(timing_.for_slo(end, service_.clock.now()));
}

Usage RunningAnswer::usage() const {
  if (usages_.empty()) return {};
  if (usages_.size() == 1) return usages_.front();
  const OpenAiUsage sum = openai_usage(usages_, call_.choices_per_prompt);
  Usage usage;
  usage.prompt_tokens = static_cast<std::uint32_t>(sum.prompt_tokens);
  usage.prompt_tokens_cached = static_cast<std::uint32_t>(sum.cached_tokens);
  usage.output_tokens = static_cast<std::uint32_t>(sum.output_tokens);
  usage.thinking_tokens = static_cast<std::uint32_t>(sum.reasoning_tokens);
  return usage;
}

std::optional<TimePoint> RunningAnswer::deadline() const {
  std::optional<TimePoint> latest;
  for (const AnswerReader* reader : readers_) {
    if (!reader->deadline_) return std::nullopt;
    latest = std::max(latest.value_or(*reader->deadline_), *reader->deadline_);
  }
  return latest;
}

// Each has to look anew whether the answer goes on behind its own deadline.
void RunningAnswer::readers_changed() {
  if (readers_.empty() || state_ == State::kOver) return;
  if (streams_) streams_->set_deadline(deadline());
  if (readers_.size() > 1) wake_readers();
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
  if (is_output(entry.event)) {
    pieces_ += static_cast<std::uint32_t>(std::max<std::size_t>(1, entry.came_at.size()));
  } else if (const auto* started = std::get_if<Started>(&entry.event)) {
    note_start(entry, *started);
  } else if (const auto* finished = std::get_if<Finished>(&entry.event)) {
    usages_[entry.choice] = finished->usage;
    stop_reason_ = finish_reason_name(finished->reason);
  }
}

void RunningAnswer::note_start(const ChoiceEvent& entry, const Started& started) {
  usages_[entry.choice] = started.usage;
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

// Choices are computed side by side and read one behind the other.
void RunningAnswer::note_times() {
  const TimePoint now = service_.clock.now();
  came_.clear();
  for (const ChoiceEvent& entry : events_) {
    if (entry.came_at.empty()) came_.emplace_back(now, &entry.event);
    for (const TimePoint at : entry.came_at) came_.emplace_back(at, &entry.event);
  }
  std::ranges::stable_sort(came_, {}, [](const auto& one) { return one.first; });
  for (const auto& [at, event] : came_) {
    timing_.note(*event, at);
    if (is_output(*event)) note_first_output(at);
  }
}

void RunningAnswer::note_first_output(TimePoint at) {
  const Duration expected = std::exchange(first_token_expected_, Duration::zero());
  if (expected == Duration::zero()) return;
  service_.queue_metrics.first_token(expected, at - submitted_at_);
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

AnswerLead::~AnswerLead() {
  if (!answer_->preparing()) return;
  answer_->fail({ErrorCode::kInternal, "the request that this one joined broke off", "", {}});
}

AnswerReader::AnswerReader(std::shared_ptr<RunningAnswer> answer,
                           const asio::any_io_executor& executor, std::optional<TimePoint> deadline)
    : self_(std::make_shared<AnswerReader*>(this)),
      clock_(answer->service_.clock),
      answer_(std::move(answer)),
      news_(executor),
      silence_(executor),
      deadline_(deadline) {
  answer_->readers_.push_back(this);
  answer_->readers_changed();
}

AnswerReader::~AnswerReader() {
  *self_ = nullptr;
  if (attached_) std::erase(answer_->readers_, this);
}

void AnswerReader::wake() {
  woken_ = true;
  news_.wake();
}

void AnswerReader::interrupt() {
  interrupted_ = true;
  news_.wake();
}

void AnswerReader::leave() {
  if (!std::exchange(attached_, false)) return;
  std::erase(answer_->readers_, this);
  if (answer_->readers_.empty()) {
    answer_->abandon(*this);
  } else {
    answer_->readers_changed();
  }
}

void AnswerReader::set_deadline(std::optional<TimePoint> deadline) {
  if (std::exchange(deadline_, deadline) != deadline) answer_->readers_changed();
}

// The answer goes on when this reader's time is over.
bool AnswerReader::outlived() const {
  if (!attached_ || !deadline_ || answer_->over()) return false;
  const auto latest = answer_->deadline();
  return !latest || *latest > *deadline_;
}

bool AnswerReader::expired() const { return outlived() && clock_.now() >= *deadline_; }

bool AnswerReader::counts() const {
  if (answer_->over()) return answer_->counted_to_ == this;
  return attached_ && answer_->readers_.front() == this;
}

Awaitable<bool> AnswerReader::wait(Duration silence) {
  if (!woken_ && !interrupted_) {
    silent_at_ = clock_.now() + silence;
    if (outlived()) silent_at_ = std::min(silent_at_, *deadline_);
    watch_silence();
    // News come through wake(), which runs on this thread and therefore not in between.
    co_await news_.wait();
  }
  const bool news = std::exchange(woken_, false) || interrupted_;
  co_return news;
}

// Whoever waits for ever sets none: its end would cost another turn of the event loop.
void AnswerReader::watch_silence() {
  if (silent_at_ - clock_.now() > kForEver) return;
  if (silence_set_ && *silence_set_ <= silent_at_) return;
  silence_set_ = silent_at_;
  silence_.expires_at(silent_at_);
  silence_.async_wait([self = self_](const boost::system::error_code& fault) {
    if (!fault && *self != nullptr) (*self)->on_silence();
  });
}

void AnswerReader::on_silence() {
  silence_set_.reset();
  if (!news_.waiting()) return;  // the next wait sets it
  if (clock_.now() < silent_at_) return watch_silence();
  news_.wake();
}

}  // namespace zerohop
