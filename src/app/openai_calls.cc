#include "app/openai_calls.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <utility>

#include "api/openai_chat_reply.h"
#include "api/openai_chat_request.h"
#include "api/openai_chat_stream.h"
#include "api/openai_completions_reply.h"
#include "api/openai_completions_request.h"
#include "api/openai_responses_reply.h"
#include "api/openai_responses_request.h"
#include "api/openai_responses_stream.h"
#include "api/service_tier_names.h"
#include "app/ids.h"
#include "app/model_names.h"
#include "app/version.h"
#include "base/utf8.h"

namespace zerohop {
namespace {

constexpr std::string_view kToolIdPrefix = "call_";

// What every reply says about itself. On a worker.
struct HeadFacts {
  std::string_view id_prefix;
  std::string_view requested_model;
  std::string_view service_tier;  ///< empty: the request named none
  PriorityClass wanted = PriorityClass::kStandard;
};

Result<OpenAiReplyHead> make_head(const CallScope& scope, const HeadFacts& facts) {
  const Service& service = scope.service;
  OpenAiReplyHead head;
  ZH_ASSIGN_OR_RETURN(head.model, resolve_model_name(scope.live->config.model,
                                                     service.tier().name(), facts.requested_model));
  head.id = make_id(facts.id_prefix);
  if (!facts.service_tier.empty()) {
    head.service_tier = openai_service_tier_name(scope.served_class(facts.wanted));
  }
  head.created =
      std::chrono::duration_cast<std::chrono::seconds>(service.clock.wall().time_since_epoch())
          .count();
  head.system_fingerprint = "fp_" + std::string(kVersion);
  return head;
}

// Clients of this dialect name no version.
const WireProfile& profile_of(const CallScope& scope) { return scope.live->wire_profiles.find(""); }

// What the engine is to compute for a conversation, without who writes the answer. `known`: its
// prompt, if that was remembered.
Result<PreparedCall> prepare_choices(const CallScope& scope, const ChatRequest& chat,
                                     std::optional<PreparedPrompt> known) {
  const Tier& tier = scope.service.tier();
  if (!known) {
    ZH_ASSIGN_OR_RETURN(known, tier.prepare_prompt(chat.conversation));
  }
  const PreparedPrompt& prompt = *known;
  ZH_RETURN_IF_ERROR(check_room(tier, profile_of(scope), prompt, chat.generation.max_tokens));
  ZH_ASSIGN_OR_RETURN(
      ReadyConstraint ready,
      constrain_answer(scope, {prompt.output, chat.conversation, chat.generation.max_tokens}));
  LiveValues values = live_values(chat.conversation);
  ChoiceOptions shared{0, kToolIdPrefix, profile_stops(scope, chat), ready.constraint,
                       soft_rules_of(values)};
  shared.limits = &scope.live->config.limits;
  PreparedCall call;
  call.choices = tier.make_generations(prompt, chat.generation, chat.choices, shared);
  call.choices_per_prompt = call.choices.size();
  call.relaxed = std::move(ready.relaxed);
  return call;
}

class ChatCompletionsCall final : public DialectCall {
 public:
  explicit ChatCompletionsCall(CallScope scope) : scope_(std::move(scope)) {}

  Result<void> parse(std::string_view body) override {
    ZH_ASSIGN_OR_RETURN(request_,
                        parse_chat_completions_request(body, parse_options_of(profile_of(scope_))));
    apply_server_habits(scope_, profile_of(scope_), request_.chat);
    return {};
  }

  Conversation* conversation() override { return &request_.chat.conversation; }
  const std::string& model() const override { return request_.chat.model; }
  const RequestLabels* labels() const override { return &request_.chat.labels; }

  bool recall() override {
    known_ = scope_.service.tier().recall_prompt(request_.chat.conversation);
    return known_.has_value();
  }

  Result<PreparedCall> prepare() override {
    const ChatRequest& chat = request_.chat;
    ZH_ASSIGN_OR_RETURN(OpenAiReplyHead head,
                        make_head(scope_, {"chatcmpl-", chat.model, request_.reply.service_tier,
                                           chat.generation.priority}));
    ZH_ASSIGN_OR_RETURN(PreparedCall call, prepare_choices(scope_, chat, std::move(known_)));
    if (chat.stream) {
      call.stream = std::make_unique<OpenAiChatStream>(head, request_.reply, chat.choices);
    } else {
      call.whole = std::make_unique<OpenAiChatReply>(std::move(head), request_.reply, chat.choices);
    }
    return call;
  }

 private:
  const CallScope scope_;
  OpenAiChatRequest request_;
  std::optional<PreparedPrompt> known_;
};

class CompletionsCall final : public DialectCall {
 public:
  explicit CompletionsCall(CallScope scope) : scope_(std::move(scope)) {}

  Result<void> parse(std::string_view body) override {
    ZH_ASSIGN_OR_RETURN(request_,
                        parse_completions_request(body, parse_options_of(profile_of(scope_))));
    if (request_.generation.stop_sequences.empty()) {
      request_.generation.stop_sequences = profile_of(scope_).default_stop_sequences;
    }
    return {};
  }

  Conversation* conversation() override { return nullptr; }
  const std::string& model() const override { return request_.model; }
  const RequestLabels* labels() const override { return &request_.labels; }

  Result<PreparedCall> prepare() override {
    OpenAiCompletionsReplyOptions options;
    ZH_ASSIGN_OR_RETURN(options.head,
                        make_head(scope_, {"cmpl-", request_.model, request_.reply.service_tier,
                                           request_.generation.priority}));
    options.reply = request_.reply;
    options.choices_per_prompt = request_.choices_per_prompt;
    PreparedCall call;
    call.choices_per_prompt = request_.choices_per_prompt;
    ChoiceOptions shared{0, "toolu_",
                         compile_stops(request_.generation, scope_.live->config.limits)};
    shared.limits = &scope_.live->config.limits;
    for (const OpenAiPrompt& source : request_.prompts) {
      ZH_ASSIGN_OR_RETURN(PreparedPrompt prompt, prompt_of(source));
      ZH_RETURN_IF_ERROR(check_room(scope_.service.tier(), profile_of(scope_), prompt,
                                    request_.generation.max_tokens));
      prompt.output.rules = request_.output;
      ZH_ASSIGN_OR_RETURN(ReadyConstraint ready,
                          constrain_answer(scope_, {prompt.output, Conversation{},
                                                    request_.generation.max_tokens}));
      shared.constraint = std::move(ready.constraint);
      call.relaxed = std::move(ready.relaxed);
      auto answers = scope_.service.tier().make_generations(prompt, request_.generation,
                                                            request_.choices_per_prompt, shared);
      std::ranges::move(answers, std::back_inserter(call.choices));
      options.echoes.push_back(request_.echo ? text_of(source) : std::string());
    }
    if (request_.stream) {
      call.stream = std::make_unique<OpenAiCompletionsStream>(std::move(options));
    } else {
      call.whole = std::make_unique<OpenAiCompletionsReply>(std::move(options));
    }
    return call;
  }

 private:
  Result<PreparedPrompt> prompt_of(const OpenAiPrompt& source) const {
    if (const auto* text = std::get_if<std::string>(&source)) {
      return scope_.service.tier().prepare_text(*text);
    }
    return scope_.service.tier().prepare_tokens(std::get<std::vector<Token>>(source));
  }

  std::string text_of(const OpenAiPrompt& source) const {
    if (const auto* text = std::get_if<std::string>(&source)) return *text;
    return utf8_replace_invalid(
        scope_.service.tier().model().tokenizer().detokenize(std::get<std::vector<Token>>(source)));
  }

  const CallScope scope_;
  OpenAiCompletionsRequest request_;
};

class ResponsesCall final : public DialectCall {
 public:
  explicit ResponsesCall(CallScope scope) : scope_(std::move(scope)) {}

  Result<void> parse(std::string_view body) override {
    ZH_ASSIGN_OR_RETURN(request_,
                        parse_responses_request(body, parse_options_of(profile_of(scope_))));
    apply_server_habits(scope_, profile_of(scope_), request_.chat);
    return {};
  }

  Conversation* conversation() override { return &request_.chat.conversation; }
  const std::string& model() const override { return request_.chat.model; }
  const RequestLabels* labels() const override { return &request_.chat.labels; }

  bool recall() override {
    known_ = scope_.service.tier().recall_prompt(request_.chat.conversation);
    return known_.has_value();
  }

  Result<PreparedCall> prepare() override {
    const ChatRequest& chat = request_.chat;
    OpenAiResponsesReplyOptions options;
    ZH_ASSIGN_OR_RETURN(options.head, make_head(scope_, {"resp_", chat.model, request_.service_tier,
                                                         chat.generation.priority}));
    options.echo = request_.echo;
    ZH_ASSIGN_OR_RETURN(PreparedCall call, prepare_choices(scope_, chat, std::move(known_)));
    if (chat.stream) {
      call.stream = std::make_unique<OpenAiResponsesStream>(std::move(options));
    } else {
      call.whole = std::make_unique<OpenAiResponsesReply>(std::move(options));
    }
    return call;
  }

 private:
  const CallScope scope_;
  OpenAiResponsesRequest request_;
  std::optional<PreparedPrompt> known_;
};

}  // namespace

std::unique_ptr<DialectCall> make_chat_completions_call(CallScope scope) {
  return std::make_unique<ChatCompletionsCall>(std::move(scope));
}

std::unique_ptr<DialectCall> make_completions_call(CallScope scope) {
  return std::make_unique<CompletionsCall>(std::move(scope));
}

std::unique_ptr<DialectCall> make_responses_call(CallScope scope) {
  return std::make_unique<ResponsesCall>(std::move(scope));
}

}  // namespace zerohop
