// One answer while it is prepared and computed, and everybody who reads it. Mostly that is one
// request; repetitions of it may join (answer_joining.h), and then each gets the same bytes, from
// the first on, however late it came.
//
//                  fail()                      an error, in place of an answer or inside it
//   kPreparing ──────────────────────────┐   ┌──────────────────────────────────────────┐
//        │ begin()                       ▼   ▼                                          │
//        ├───────────▶ kRunning ───────▶ kOver ◀── the last reader has gone: abandoned ─┤
//        │                 │                                                            │
//        │                 └── pull(): events of the engine → bytes or whole body ──────┘
//        └── the last reader has gone: abandoned; who was to begin it has gone: failed (AnswerLead)
//
// Nobody pumps: a reader that can send takes what the engine has said and puts it into bytes for
// all (pull()); the others find it there. So an answer whose readers all lag is not read either,
// and the engine pauses it as it does with a single one. An answer that can be joined keeps its
// bytes until it is over, at most some megabytes; of any other only those are kept that were not
// sent yet.
//
// Computing goes on while one reader is left, until the latest deadline of those that are there;
// who may stay no longer leaves alone. It is billed once, to the reservation of the request that
// began it, timed once, and counted once: to the first of the readers that are left when it ends.
//
// I/O thread only. Shared by its readers, who are coroutines of their sessions.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/caller.h"
#include "admission/limiter.h"
#include "api/openai_wire.h"
#include "app/dialect_call.h"
#include "app/generation_clock.h"
#include "app/service.h"
#include "app/stream_reader.h"
#include "app/wake_turn.h"
#include "core/usage.h"
#include "http/awaitable.h"

namespace zerohop {

class AnswerReader;

/// Whose request it is that an answer is computed for. Copies: the request may go first.
struct AnswerOwner {
  std::shared_ptr<const LiveConfig> live;
  Caller caller;
  std::string request_id;
  TimePoint received_at{};  ///< first byte
};

/// Whether bytes that a reader has had are still needed.
enum class AnswerKeep : std::uint8_t { kUnsent, kAll };

class RunningAnswer {
 public:
  /// `service` outlives it.
  RunningAnswer(Service& service, AnswerOwner owner, AnswerKeep keep);
  RunningAnswer(const RunningAnswer&) = delete;
  RunningAnswer& operator=(const RunningAnswer&) = delete;

  // ---- by the request that began it ----

  struct Start {
    PreparedCall call;
    std::vector<std::shared_ptr<TokenStream>> streams;  ///< of its choices
    Reservation limit;                                  ///< what pays for it
    TimePoint submitted_at{};
    PriorityClass priority = PriorityClass::kStandard;
    bool generates = true;  ///< it is to have a first token
    boost::asio::any_io_executor executor;
  };
  void begin(Start start);
  /// It cannot be prepared, or found no room.
  void fail(Error error);

  // ---- by its readers ----

  bool preparing() const { return state_ == State::kPreparing; }
  /// Nothing will be added.
  bool over() const { return state_ == State::kOver; }
  bool streamed() const { return call_.stream != nullptr; }
  /// Why there is no answer, or no whole one; null: there is, or may still be.
  const Error* failure() const { return failure_ ? &*failure_ : nullptr; }

  /// Takes what the engine has said since.
  void pull();
  /// A streamed answer: what comes behind the first `offset` bytes, which then counts it too.
  std::string take(std::size_t& offset);
  void append_keep_alive(std::string& out) { call_.stream->append_keep_alive(out); }
  /// A reader's socket took `took` to take its bytes.
  void note_written(Duration took) { timing_.note_lag(took); }
  /// A streamed answer: its end for one reader who stays no longer.
  void append_failure(const Error& error, std::string& out) const {
    call_.stream->append_failure(error, out);
  }
  /// A whole answer that is over without a failure.
  std::string body() const { return call_.whole->body(); }

  /// Until when the last of its readers waits; nothing: for ever.
  std::optional<TimePoint> deadline() const;

  // ---- for the log, the headers and the console ----

  /// Of all its choices, as far as they have come.
  Usage usage() const;
  const std::string& stop_reason() const { return stop_reason_; }
  const std::string& relaxed() const { return call_.relaxed; }
  std::uint32_t soft_max_tokens() const { return soft_max_tokens_; }
  std::uint32_t pieces() const { return pieces_; }
  MissCause miss() const { return miss_; }
  std::optional<LimitGrant> granted() const { return granted_ ? granted_ : limit_.grant(); }
  const GenerationClock& clock() const { return timing_; }
  std::size_t readers() const { return readers_.size(); }

 private:
  friend class AnswerReader;
  enum class State : std::uint8_t { kPreparing, kRunning, kOver };

  void take_events();
  void note(const ChoiceEvent& entry);
  void note_start(const ChoiceEvent& entry, const Started& started);
  void note_times();
  void note_first_output(TimePoint at);
  void add(const ChoiceEvent& entry);
  void end();
  void abandon(const AnswerReader& last);
  void readers_changed();
  void bill(const OpenAiUsage& usage);
  void bill_let_out();
  void count_objectives(AnswerForSlo::End end) const;
  void wake_readers();

  Service& service_;
  const AnswerOwner owner_;
  const AnswerKeep keep_;
  State state_ = State::kPreparing;
  std::vector<AnswerReader*> readers_;        // in the order in which they came
  const AnswerReader* counted_to_ = nullptr;  // once it is over

  PreparedCall call_;
  Reservation limit_;
  std::optional<LimitGrant> granted_;  // once it has been settled
  std::optional<StreamReader> streams_;
  std::vector<ChoiceEvent> events_;                       // scratch
  std::vector<std::pair<TimePoint, const Event*>> came_;  // likewise
  std::string bytes_;
  std::optional<Error> failure_;

  GenerationClock timing_;
  TimePoint submitted_at_{};
  Duration first_token_expected_{};  // since then; 0: not known, or it has come
  std::vector<Usage> usages_;        // of each choice, as far as it is known
  bool started_ = false;
  bool generates_ = true;  // Start::generates
  std::string stop_reason_;
  std::uint32_t soft_max_tokens_ = 0;
  std::uint32_t pieces_ = 0;
  MissCause miss_ = MissCause::kNone;
};

/// The duty of the request that an answer was made for: to begin() it or to fail() it. Whoever goes
/// without having done either, because an exception ended its coroutine, fails it here, or requests
/// that joined would wait for ever. Goes behind the request's own reader: of those that are left
/// the first one counts the failure.
class AnswerLead {
 public:
  explicit AnswerLead(std::shared_ptr<RunningAnswer> answer) : answer_(std::move(answer)) {}
  ~AnswerLead();
  AnswerLead(const AnswerLead&) = delete;
  AnswerLead& operator=(const AnswerLead&) = delete;

 private:
  const std::shared_ptr<RunningAnswer> answer_;
};

/// One request's end of an answer. Whoever destroys it without leave() lets the answer go unbilled,
/// as when the server stops.
class AnswerReader {
 public:
  /// `deadline`: how long its client waits; nothing: for ever.
  AnswerReader(std::shared_ptr<RunningAnswer> answer, const boost::asio::any_io_executor& executor,
               std::optional<TimePoint> deadline);
  ~AnswerReader();
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;

  RunningAnswer& answer() const { return *answer_; }

  void set_deadline(std::optional<TimePoint> deadline);
  /// Its deadline has passed, and the answer goes on for others. (Where nobody waits for longer,
  /// the engine ends the answer.)
  bool expired() const;

  /// Whether the answer is this request's in the counts.
  bool counts() const;

  /// Waits until something has happened since the last call, or until interrupt(). False: `silence`
  /// has passed without either, or it has expired.
  Awaitable<bool> wait(Duration silence);
  /// The next bytes of a streamed answer; empty: none yet.
  std::string take() { return answer_->take(offset_); }

  /// Makes a waiting wait() return, now and from now on.
  void interrupt();
  /// This client reads no more. If it was the last one, what runs ends and is billed as far as it
  /// was let out.
  void leave();

 private:
  friend class RunningAnswer;
  void wake();
  bool outlived() const;
  void watch_silence();
  void on_silence();

  const std::shared_ptr<AnswerReader*> self_;  // for callbacks of silence_; null once it has gone
  const Clock& clock_;
  std::shared_ptr<RunningAnswer> answer_;
  WaitSlot news_;  // woken: news, silence or an interruption
  // Setting a timer costs a system call where it becomes the next to fire, so this one may fire
  // early and then looks how long it still has: an answer that flows sets none.
  boost::asio::steady_timer silence_;
  std::optional<TimePoint> silence_set_;  // when it fires
  TimePoint silent_at_{};                 // when the wait that runs has taken too long
  std::optional<TimePoint> deadline_;
  std::size_t offset_ = 0;
  bool woken_ = false;
  bool interrupted_ = false;
  bool attached_ = true;
};

}  // namespace zerohop
