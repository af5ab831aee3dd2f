// One request and the client behind it: what handlers_messages.cc does for a socket, without one.
//
//   enter()   door → parser → prompt stage → engine; or a refusal
//   tick()    time passes: the client may go away, may read
//   over()    answered, refused, failed or gone
//
// The client reads when the server wakes it, as StreamReader does, or at its own slow pace. When
// the answer ends it is held against the oracle. A client is over within one call; the permit goes
// back with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admission/admission.h"
#include "admission/request_lifecycle.h"
#include "api/anthropic_events.h"
#include "api/anthropic_reply.h"
#include "app/tier.h"
#include "base/random.h"
#include "oracle.h"
#include "speaker.h"
#include "sse_checker.h"
#include "trace.h"

namespace zerohop {

/// What a client needs of its world; everything outlives it.
struct ClientSurroundings {
  Tier& tier;
  Admission& admission;
  const Oracle& oracle;
  const VirtualClock& clock;
  const ParseOptions parse_options;
  Random& random;
  Trace& trace;
};

/// How a client behaves, and who it is to the scheduler. Ticks count rounds of the world.
struct ClientHabits {
  Scheduling scheduling;
  ScopeId scope = kPublicScope;
  std::uint32_t read_every = 0;            ///< ticks; 0: at once when woken
  std::uint32_t read_from = 0;             ///< ticks after the request
  std::size_t buffer_bytes = 0;            ///< of its stream; 0: as the server makes it
  std::optional<std::uint32_t> leaves_at;  ///< ticks after the request
};

class SimClient {
 public:
  SimClient(ClientSurroundings surroundings, SimRequest request, ClientHabits habits,
            std::uint64_t number);
  ~SimClient();
  SimClient(const SimClient&) = delete;
  SimClient& operator=(const SimClient&) = delete;

  void enter();
  void tick();
  /// Goes away without another word.
  void leave();
  /// Stops dawdling: reads whatever comes from now on.
  void hurry() { habits_.read_every = habits_.read_from = 0; }

  bool over() const { return is_final(life_.state()); }
  /// It came as far as the engine.
  bool entered_engine() const { return entered_engine_; }
  const std::vector<Token>& prompt() const { return prompt_; }
  bool reads_at_once() const { return habits_.read_every == 0; }
  bool answered() const { return life_.state() == RequestState::kDone; }
  bool cancelled() const { return life_.state() == RequestState::kCancelled; }
  /// Of a request that was refused or failed.
  const std::optional<Error>& error() const { return error_; }
  const SimRequest& request() const { return request_; }
  const SeenAnswer& seen() const { return seen_; }
  std::uint64_t number() const { return number_; }

  const ClientHabits& habits() const { return habits_; }
  TimePoint submitted_at() const { return submitted_at_; }
  /// When it got its slot, once that is known.
  std::optional<TimePoint> placed_at() const { return placed_at_; }
  /// True while the engine still holds anything of a request whose client has gone.
  bool lingers() const { return over() && !engine_end_.expired(); }
  /// Tokens that the engine may have to compute for it.
  std::uint64_t work() const { return work_; }

 private:
  void advance(RequestState state);
  void refuse(const Error& error);
  Result<void> submit();
  void read();
  void check_buffer(const std::vector<Event>& events, bool engine_knows);
  void take(const Event& event);
  void send(std::string_view bytes);
  void finish();
  void check_against_oracle();
  void check_partial_text();
  void release();
  void say(std::string_view what);

  ClientSurroundings world_;
  const SimRequest request_;
  ClientHabits habits_;
  const std::uint64_t number_;

  RequestLifecycle life_;
  Permit permit_;
  std::shared_ptr<TokenStream> stream_;
  std::weak_ptr<TokenStream> engine_end_;
  std::optional<AnthropicStream> stream_dialect_;
  std::optional<AnthropicReply> whole_dialect_;
  SseChecker checker_;
  SeenAnswer seen_;
  std::optional<Error> error_;
  std::optional<TimePoint> placed_at_;
  TimePoint submitted_at_{};
  std::uint32_t age_ = 0;  // ticks
  std::uint64_t work_ = 0;
  std::vector<Token> prompt_;
  std::uint32_t prompt_tokens_ = 0;
  std::uint32_t max_tokens_ = 0;
  std::vector<std::string> stops_;
  std::uint64_t rings_ = 0;  // of its own small stream
  bool entered_engine_ = false;
  bool woken_ = true;  // a reader looks once before it waits
};

}  // namespace zerohop
