#include "api/openai_chat_request.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "api/json_place.h"
#include "api/openai_fields.h"
#include "api/openai_generation.h"
#include "api/openai_messages.h"
#include "api/openai_output.h"
#include "api/openai_tools.h"
#include "api/output_rules.h"
#include "api/request_labels.h"
#include "api/service_fields.h"
#include "api/shared_fields.h"
#include "core/limits.h"

namespace zerohop {
namespace {

Result<std::optional<std::uint32_t>> parse_logprobs(const JsonPlace& body) {
  using Count = std::optional<std::uint32_t>;
  ZH_ASSIGN_OR_RETURN(const auto wanted, parse_openai_flag(body, "logprobs"));
  std::int64_t count = 0;
  if (const auto top = body.find("top_logprobs")) {
    ZH_ASSIGN_OR_RETURN(count, top->integer({0, limits::kTopLogprobsMax}));
    if (count > 0 && !wanted.value_or(false)) return top->error("needs `logprobs` to be true");
  }
  if (!wanted.value_or(false)) return Count();
  return Count(static_cast<std::uint32_t>(count));
}

// An answer in text to somebody who waits for sound would be wrong.
Result<void> check_modalities(const JsonPlace& body) {
  const auto place = body.find("modalities");
  if (!place) return {};
  constexpr std::size_t kModalitiesMax = 16;
  ZH_ASSIGN_OR_RETURN(const std::size_t count, place->array_size(kModalitiesMax));
  for (std::size_t i = 0; i < count; ++i) {
    const JsonPlace entry = place->element(i);
    ZH_ASSIGN_OR_RETURN(const std::string_view modality, entry.string());
    if (modality != "text") return openai_unsupported(entry, "output other than text is");
  }
  return {};
}

Result<Conversation> parse_conversation(const JsonPlace& body, const ParseOptions& options) {
  Conversation conversation;
  ZH_ASSIGN_OR_RETURN(const JsonPlace messages, body.require("messages"));
  ZH_ASSIGN_OR_RETURN(conversation.messages, parse_openai_messages(messages, options));
  ZH_ASSIGN_OR_RETURN(conversation.thinking, parse_openai_thinking(body, options));
  ZH_ASSIGN_OR_RETURN(conversation.output, parse_openai_output_rules(body));
  return conversation;
}

Result<GenerationParameters> parse_generation(const JsonPlace& body, const ParseOptions& options) {
  GenerationParameters generation;
  ZH_ASSIGN_OR_RETURN(
      generation.max_tokens,
      parse_openai_max_tokens(body, {"max_completion_tokens", "max_tokens", "n_predict"}, options));
  ZH_ASSIGN_OR_RETURN(generation.sampling, parse_openai_sampling(body, options));
  ZH_ASSIGN_OR_RETURN(generation.stop_sequences, parse_openai_stop(body, options));
  ZH_ASSIGN_OR_RETURN(generation.top_logprobs, parse_logprobs(body));
  ZH_RETURN_IF_ERROR(parse_answer_limits(body, generation));
  return generation;
}

}  // namespace

Result<OpenAiChatRequest> parse_chat_completions_request(std::string_view body,
                                                         const ParseOptions& options) {
  ZH_ASSIGN_OR_RETURN(const JsonDocument document, parse_json(body));
  const JsonPlace root(document.root());
  ZH_RETURN_IF_ERROR(root.expect_object());
  OpenAiChatRequest request;
  ZH_ASSIGN_OR_RETURN(request.chat.model, parse_model_name(root, options));
  ZH_ASSIGN_OR_RETURN(request.chat.conversation, parse_conversation(root, options));
  ZH_ASSIGN_OR_RETURN(OpenAiTools tools, parse_openai_tools(root, options));
  request.chat.conversation.tools = std::move(tools.tools);
  request.chat.conversation.tool_choice = std::move(tools.choice);
  ZH_ASSIGN_OR_RETURN(const auto constrain, parse_openai_flag(root, "constrain_tools"));
  request.chat.conversation.constrain_tools = constrain.value_or(true);
  ZH_ASSIGN_OR_RETURN(request.chat.generation, parse_generation(root, options));
  ZH_RETURN_IF_ERROR(refuse_cuts(root, request.chat.conversation.output, request.chat.generation));
  ZH_ASSIGN_OR_RETURN(const ServiceTier tier, parse_openai_service_tier(root, options));
  request.chat.generation.priority = tier.priority;
  request.chat.labels = request_labels(root);
  request.reply.service_tier = tier.answer;
  ZH_ASSIGN_OR_RETURN(request.chat.choices, parse_openai_choices(root));
  ZH_RETURN_IF_ERROR(check_modalities(root));
  ZH_ASSIGN_OR_RETURN(const auto stream, parse_openai_flag(root, "stream"));
  request.chat.stream = stream.value_or(false);
  ZH_ASSIGN_OR_RETURN(request.reply.include_usage, parse_openai_include_usage(root));
  request.reply.logprobs = request.chat.generation.top_logprobs.has_value();
  request.reply.legacy_functions = tools.legacy_functions;
  return request;
}

}  // namespace zerohop
