#include "app/messages_call.h"

#include <optional>
#include <utility>
#include <vector>

#include "api/anthropic_events.h"
#include "api/anthropic_reply.h"
#include "api/anthropic_request.h"
#include "api/service_tier_names.h"
#include "app/ids.h"
#include "app/model_names.h"

namespace zerohop {
namespace {

// The stop sequence with which the last thing that the model reads ends; empty: none.
std::string stop_at_end_of(const ChatRequest& chat) {
  const std::vector<ContentBlock>& content = chat.conversation.messages.back().content;
  const auto* last = content.empty() ? nullptr : std::get_if<TextBlock>(&content.back());
  if (last == nullptr) return {};
  for (const std::string& stop : chat.generation.stop_sequences) {
    if (last->text.ends_with(stop)) return stop;
  }
  return {};
}

class MessagesCall final : public DialectCall {
 public:
  MessagesCall(CallScope scope, MessagesHead head)
      : scope_(std::move(scope)), head_(std::move(head)) {}

  Result<void> parse(std::string_view body) override {
    if (head_.on_body_version && scope_.live->wire_profiles.any_version()) choose_profile(body);
    ZH_ASSIGN_OR_RETURN(request_, parse_messages_request(body, parse_options_of(*head_.profile)));
    apply_server_habits(scope_, *head_.profile, request_.chat);
    return {};
  }

  Conversation* conversation() override { return &request_.chat.conversation; }
  const std::string& model() const override { return request_.chat.model; }
  const RequestLabels* labels() const override { return &request_.chat.labels; }

  bool recall() override {
    known_ = scope_.service.tier().recall_prompt(request_.chat.conversation, detail());
    return known_.has_value();
  }

  Result<PreparedCall> prepare() override {
    const Tier& tier = scope_.service.tier();
    const ChatRequest& chat = request_.chat;
    ReplyHead head;
    ZH_ASSIGN_OR_RETURN(head.model,
                        resolve_model_name(scope_.live->config.model, tier.name(), chat.model));
    if (!known_) {
      ZH_ASSIGN_OR_RETURN(known_, tier.prepare_prompt(chat.conversation, detail()));
    }
    const PreparedPrompt& prompt = *known_;
    ZH_RETURN_IF_ERROR(check_room(tier, *head_.profile, prompt, chat.generation.max_tokens));
    PreparedCall call;
    ChoiceOptions choice;
    choice.stops = profile_stops(scope_, chat);
    choice.limits = &scope_.live->config.limits;
    ZH_ASSIGN_OR_RETURN(
        ReadyConstraint ready,
        constrain_answer(scope_, {prompt.output, chat.conversation, chat.generation.max_tokens}));
    choice.constraint = std::move(ready.constraint);
    LiveValues values = live_values(chat.conversation);
    choice.soft_rules = soft_rules_of(values);
    call.relaxed = std::move(ready.relaxed);
    call.choices.push_back(tier.make_generation(prompt, chat.generation, choice));
    head.message_id = make_id("msg_");
    head.request_id = head_.request_id;
    AnthropicReplyOptions options = reply_options(prompt, std::move(values.conflicts));
    if (head_.relaxed_note == RelaxedNote::kMessage) options.constraint_relaxed = call.relaxed;
    if (chat.stream) {
      call.stream = std::make_unique<AnthropicStream>(std::move(head), std::move(options));
    } else {
      call.whole = std::make_unique<AnthropicReply>(std::move(head), std::move(options));
    }
    return call;
  }

 private:
  AnthropicReplyOptions reply_options(const PreparedPrompt& prompt,
                                      std::vector<ToolConflict> conflicts) const {
    AnthropicReplyOptions options = request_.reply;
    options.profile = head_.stream_profile.value_or(head_.profile->stream);
    options.heartbeat = head_.profile->heartbeat;
    if (!options.service_tier.empty()) {
      const PriorityClass wanted = request_.chat.generation.priority;
      options.service_tier = anthropic_service_tier_name(scope_.served_class(wanted));
    }
    if (!head_.service_tier.empty()) options.service_tier = head_.service_tier;
    if (options.diagnostics.any) {
      options.prompt_ends_with_stop = stop_at_end_of(request_.chat);
      for (ToolConflict& conflict : conflicts) {
        options.tool_conflicts.push_back(
            {std::move(conflict.tool), std::move(conflict.argument), std::move(conflict.value)});
      }
    }
    if (const auto& parts = prompt.breakdown) {
      options.prompt_tokens = PromptTokens{parts->system_tokens, parts->tools_tokens,
                                           parts->messages_tokens, parts->template_tokens};
    }
    return options;
  }

  PromptDetail detail() const {
    return request_.reply.diagnostics.prompt_breakdown ? PromptDetail::kBreakdown
                                                       : PromptDetail::kTokens;
  }

  void choose_profile(std::string_view body) {
    head_.profile = &scope_.live->wire_profiles.find(anthropic_version_of(body));
    head_.on_body_version(*head_.profile);
  }

  const CallScope scope_;
  MessagesHead head_;
  AnthropicRequest request_;
  std::optional<PreparedPrompt> known_;
};

}  // namespace

std::unique_ptr<DialectCall> make_messages_call(CallScope scope, MessagesHead head) {
  return std::make_unique<MessagesCall>(std::move(scope), std::move(head));
}

std::optional<StreamProfile> parse_stream_profile(std::string_view value) {
  if (value == "full") return StreamProfile::kFull;
  if (value == "folded") return StreamProfile::kFolded;
  return std::nullopt;
}

Result<ChatRequest> parse_count_call(const CallScope& scope, const WireProfile& profile,
                                     std::string_view body) {
  ZH_ASSIGN_OR_RETURN(ChatRequest request,
                      parse_count_tokens_request(body, parse_options_of(profile)));
  apply_configured_habits(scope, request.conversation);
  return request;
}

Result<std::uint32_t> count_prompt_tokens(const CallScope& scope, const ChatRequest& request) {
  const Tier& tier = scope.service.tier();
  ZH_RETURN_IF_ERROR(resolve_model_name(scope.live->config.model, tier.name(), request.model));
  ZH_ASSIGN_OR_RETURN(const PreparedPrompt prompt, tier.prompts().prepare(request.conversation));
  return static_cast<std::uint32_t>(prompt.tokens.size());
}

std::optional<std::uint32_t> recall_prompt_tokens(const CallScope& scope,
                                                  const ChatRequest& request) {
  const Tier& tier = scope.service.tier();
  if (!resolve_model_name(scope.live->config.model, tier.name(), request.model).ok()) {
    return std::nullopt;
  }
  const std::optional<PreparedPrompt> prompt = tier.prompts().recall(request.conversation);
  if (!prompt) return std::nullopt;
  return static_cast<std::uint32_t>(prompt->tokens.size());
}

}  // namespace zerohop
