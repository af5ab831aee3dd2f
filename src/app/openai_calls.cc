#include "app/openai_calls.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "api/openai_chat_reply.h"
#include "api/openai_chat_request.h"
#include "api/openai_chat_stream.h"
#include "api/openai_completions_reply.h"
#include "api/openai_completions_request.h"
#include "api/openai_responses_reply.h"
#include "api/openai_responses_request.h"
#include "api/openai_responses_stream.h"
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
  std::string_view service_tier;
};

Result<OpenAiReplyHead> make_head(const Service& service, const HeadFacts& facts) {
  OpenAiReplyHead head;
  ZH_ASSIGN_OR_RETURN(head.model, resolve_model_name(service.config.model, service.tier().name(),
                                                     facts.requested_model));
  head.id = make_id(facts.id_prefix);
  head.service_tier = facts.service_tier;
  head.created =
      std::chrono::duration_cast<std::chrono::seconds>(service.clock.wall().time_since_epoch())
          .count();
  head.system_fingerprint = "fp_" + std::string(kVersion);
  return head;
}

// Clients of this dialect name no version.
const WireProfile& profile_of(const Service& service) { return service.wire_profiles.find(""); }

// What the engine is to compute for a conversation, without who writes the answer.
Result<PreparedCall> prepare_choices(Service& service, const ChatRequest& chat) {
  const Tier& tier = service.tier();
  ZH_ASSIGN_OR_RETURN(const PreparedPrompt prompt, tier.prepare_prompt(chat.conversation));
  ZH_RETURN_IF_ERROR(check_room(tier, profile_of(service), prompt, chat.generation.max_tokens));
  ZH_ASSIGN_OR_RETURN(
      ReadyConstraint ready,
      constrain_answer(service, {prompt.output, chat.conversation, chat.generation.max_tokens}));
  LiveValues values = live_values(chat.conversation);
  const ChoiceOptions shared{0, kToolIdPrefix, profile_stops(service, chat), ready.constraint,
                             soft_rules_of(values)};
  PreparedCall call;
  call.choices = tier.make_generations(prompt, chat.generation, chat.choices, shared);
  call.choices_per_prompt = call.choices.size();
  call.relaxed = std::move(ready.relaxed);
  return call;
}

class ChatCompletionsCall final : public DialectCall {
 public:
  explicit ChatCompletionsCall(Service& service) : service_(service) {}

  Result<void> parse(std::string_view body) override {
    ZH_ASSIGN_OR_RETURN(
        request_, parse_chat_completions_request(body, parse_options_of(profile_of(service_))));
    apply_server_habits(service_, profile_of(service_), request_.chat);
    return {};
  }

  Conversation* conversation() override { return &request_.chat.conversation; }
  const std::string& model() const override { return request_.chat.model; }

  Result<PreparedCall> prepare() override {
    const ChatRequest& chat = request_.chat;
    ZH_ASSIGN_OR_RETURN(OpenAiReplyHead head, make_head(service_, {"chatcmpl-", chat.model,
                                                                   request_.reply.service_tier}));
    ZH_ASSIGN_OR_RETURN(PreparedCall call, prepare_choices(service_, chat));
    if (chat.stream) {
      call.stream = std::make_unique<OpenAiChatStream>(head, request_.reply, chat.choices);
    } else {
      call.whole = std::make_unique<OpenAiChatReply>(std::move(head), request_.reply, chat.choices);
    }
    return call;
  }

 private:
  Service& service_;
  OpenAiChatRequest request_;
};

class CompletionsCall final : public DialectCall {
 public:
  explicit CompletionsCall(Service& service) : service_(service) {}

  Result<void> parse(std::string_view body) override {
    ZH_ASSIGN_OR_RETURN(request_,
                        parse_completions_request(body, parse_options_of(profile_of(service_))));
    if (request_.generation.stop_sequences.empty()) {
      request_.generation.stop_sequences = profile_of(service_).default_stop_sequences;
    }
    return {};
  }

  Conversation* conversation() override { return nullptr; }
  const std::string& model() const override { return request_.model; }

  Result<PreparedCall> prepare() override {
    OpenAiCompletionsReplyOptions options;
    ZH_ASSIGN_OR_RETURN(
        options.head, make_head(service_, {"cmpl-", request_.model, request_.reply.service_tier}));
    options.reply = request_.reply;
    options.choices_per_prompt = request_.choices_per_prompt;
    PreparedCall call;
    call.choices_per_prompt = request_.choices_per_prompt;
    ChoiceOptions shared{0, "toolu_", compile_stops(request_.generation, service_.config.limits)};
    for (const OpenAiPrompt& source : request_.prompts) {
      ZH_ASSIGN_OR_RETURN(PreparedPrompt prompt, prompt_of(source));
      ZH_RETURN_IF_ERROR(check_room(service_.tier(), profile_of(service_), prompt,
                                    request_.generation.max_tokens));
      prompt.output.rules = request_.output;
      ZH_ASSIGN_OR_RETURN(ReadyConstraint ready,
                          constrain_answer(service_, {prompt.output, Conversation{},
                                                      request_.generation.max_tokens}));
      shared.constraint = std::move(ready.constraint);
      call.relaxed = std::move(ready.relaxed);
      auto answers = service_.tier().make_generations(prompt, request_.generation,
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
      return service_.tier().prepare_text(*text);
    }
    return service_.tier().prepare_tokens(std::get<std::vector<Token>>(source));
  }

  std::string text_of(const OpenAiPrompt& source) const {
    if (const auto* text = std::get_if<std::string>(&source)) return *text;
    return utf8_replace_invalid(
        service_.tier().model().tokenizer().detokenize(std::get<std::vector<Token>>(source)));
  }

  Service& service_;
  OpenAiCompletionsRequest request_;
};

class ResponsesCall final : public DialectCall {
 public:
  explicit ResponsesCall(Service& service) : service_(service) {}

  Result<void> parse(std::string_view body) override {
    ZH_ASSIGN_OR_RETURN(request_,
                        parse_responses_request(body, parse_options_of(profile_of(service_))));
    apply_server_habits(service_, profile_of(service_), request_.chat);
    return {};
  }

  Conversation* conversation() override { return &request_.chat.conversation; }
  const std::string& model() const override { return request_.chat.model; }

  Result<PreparedCall> prepare() override {
    const ChatRequest& chat = request_.chat;
    OpenAiResponsesReplyOptions options;
    ZH_ASSIGN_OR_RETURN(options.head,
                        make_head(service_, {"resp_", chat.model, request_.service_tier}));
    options.echo = request_.echo;
    ZH_ASSIGN_OR_RETURN(PreparedCall call, prepare_choices(service_, chat));
    if (chat.stream) {
      call.stream = std::make_unique<OpenAiResponsesStream>(std::move(options));
    } else {
      call.whole = std::make_unique<OpenAiResponsesReply>(std::move(options));
    }
    return call;
  }

 private:
  Service& service_;
  OpenAiResponsesRequest request_;
};

}  // namespace

std::unique_ptr<DialectCall> make_chat_completions_call(Service& service) {
  return std::make_unique<ChatCompletionsCall>(service);
}

std::unique_ptr<DialectCall> make_completions_call(Service& service) {
  return std::make_unique<CompletionsCall>(service);
}

std::unique_ptr<DialectCall> make_responses_call(Service& service) {
  return std::make_unique<ResponsesCall>(service);
}

}  // namespace zerohop
