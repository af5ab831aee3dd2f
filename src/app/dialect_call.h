// A request for generated text in one dialect, without a socket: what handlers, message batches and
// tests drive. Each dialect has its implementations (messages_call.h, openai_calls.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/key_records.h"
#include "api/parse_options.h"
#include "api/reply.h"
#include "app/constraint_service.h"
#include "app/request_tenant.h"
#include "app/service.h"
#include "app/tier.h"
#include "core/request.h"
#include "core/tenant.h"
#include "prompt/live_values.h"

namespace zerohop {

/// What runs, and who writes the answer.
struct PreparedCall {
  std::vector<PreparedGeneration> choices;  ///< one or more
  std::size_t choices_per_prompt = 1;       ///< so many neighbours have the same prompt
  std::string relaxed;                      ///< ReadyConstraint::relaxed
  // Exactly one of the two:
  std::unique_ptr<ReplyStream> stream;
  std::unique_ptr<WholeReply> whole;
};

/// One object per request; its calls come one after another, from different threads.
class DialectCall {
 public:
  virtual ~DialectCall() = default;

  /// On a worker, or on the I/O thread if the body is short. Errors: what is wrong with the body.
  virtual Result<void> parse(std::string_view body) = 0;
  /// After parse(): what the model is to read, if that is a conversation; its documents become text
  /// before prepare() is called.
  virtual Conversation* conversation() = 0;
  /// After parse(): the model that the request names; may be empty.
  virtual const std::string& model() const = 0;
  /// After parse(): the labels of the request's metadata; null where a dialect has none.
  virtual const RequestLabels* labels() const { return nullptr; }
  /// After parse(): looks for what prepare() would make. True: all of it is remembered, and
  /// prepare() has so little left to do that the I/O thread may call it. Any thread.
  virtual bool recall() { return false; }
  /// On a worker, but for recall(). Errors: kInvalidRequest, kPromptTooLong, kNotFound (the model's
  /// name).
  virtual Result<PreparedCall> prepare() = 0;
};

/// What a call is begun under.
struct CallScope {
  Service& service;
  std::shared_ptr<const LiveConfig> live;  ///< for the whole of it
  /// That the operator gave its tenant; nothing: as each request asks.
  std::optional<PriorityClass> tenant_class = std::nullopt;

  /// In which a request that asks for `wanted` is served (request_tenant.h).
  PriorityClass served_class(PriorityClass wanted) const {
    return zerohop::served_class(tenant_class, wanted);
  }
};

// ---- What the dialects share ----

ParseOptions parse_options_of(const WireProfile& profile);

/// Whether `tenant` may use the model behind the name that a request gave: one of its patterns must
/// match that name (an alias) or the model's own. Errors: kPermission, kNotFound.
Result<void> check_model(const CallScope& scope, const TenantRecord& tenant,
                         std::string_view requested);

/// The same where the name is resolved. Errors: kPermission.
Result<void> check_resolved_model(const Service& service, const TenantRecord& tenant,
                                  std::string_view name);

/// The server's say on what a client sent: habits that spoil prefix reuse are undone and counted,
/// stop sequences that it did not bring are filled in.
void apply_server_habits(const CallScope& scope, const WireProfile& profile, ChatRequest& request);
void apply_configured_habits(const CallScope& scope, Conversation& conversation);

/// The compiled stop sequences of the profile that `request` matches (request_profile.h), which is
/// counted; nothing when it matches none.
std::optional<CompiledStops> profile_stops(const CallScope& scope, const ChatRequest& request);

/// What decides about the form of an answer.
struct AnswerForm {
  const OutputPlan& plan;
  const Conversation& conversation;  ///< after the server's habits
  std::uint32_t max_tokens = 0;      ///< 0: nothing is generated
};

/// On a worker: the constraint of an answer, compiled or from the cache. Errors: kInvalidRequest
/// (what cannot be enforced; max_tokens too small for the shortest answer).
Result<ReadyConstraint> constrain_answer(const CallScope& scope, const AnswerForm& form);

/// What the conversation makes likelier in calls (prompt/live_values.h); null: nothing.
std::shared_ptr<const std::vector<SoftRule>> soft_rules_of(LiveValues& values);

/// Strict servers refuse what others cut: an answer that may not fit behind its prompt. Errors:
/// kPromptTooLong.
Result<void> check_room(const Tier& tier, const WireProfile& profile, const PreparedPrompt& prompt,
                        std::uint32_t max_tokens);

}  // namespace zerohop
