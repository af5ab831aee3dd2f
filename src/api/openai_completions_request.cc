#include "api/openai_completions_request.h"

#include <optional>
#include <utility>

#include "api/json_place.h"
#include "api/openai_fields.h"
#include "api/openai_generation.h"
#include "api/openai_output.h"
#include "api/output_rules.h"
#include "api/request_labels.h"
#include "api/service_fields.h"
#include "api/shared_fields.h"
#include "core/limits.h"

namespace zerohop {
namespace {

Result<void> refuse_unsupported(const JsonPlace& body, std::uint32_t choices) {
  ZH_ASSIGN_OR_RETURN(const auto suffix, parse_openai_text(body, "suffix"));
  if (suffix) return openai_unsupported(*body.find("suffix"), "filling in before a suffix is");
  const auto best_of = body.find("best_of");
  if (!best_of) return {};
  ZH_ASSIGN_OR_RETURN(const std::int64_t candidates, best_of->integer({1, kOpenAiChoicesMax}));
  if (candidates != choices) {
    return best_of->error("must equal `n`; ranking answers is not supported by this server");
  }
  return {};
}

Result<std::optional<std::uint32_t>> parse_logprobs(const JsonPlace& body, bool echo) {
  using Count = std::optional<std::uint32_t>;
  const auto place = body.find("logprobs");
  if (!place) return Count();
  ZH_ASSIGN_OR_RETURN(const std::int64_t count, place->integer({0, limits::kTopLogprobsMax}));
  if (echo) return openai_unsupported(*place, "log-probabilities of the prompt (`echo`) are");
  return Count(static_cast<std::uint32_t>(count));
}

Result<GenerationParameters> parse_generation(const JsonPlace& body, const ParseOptions& options) {
  GenerationParameters generation;
  ZH_ASSIGN_OR_RETURN(
      generation.max_tokens,
      parse_openai_max_tokens(body, {"max_tokens", "max_completion_tokens", "n_predict"}, options));
  ZH_ASSIGN_OR_RETURN(generation.sampling, parse_openai_sampling(body, options));
  ZH_ASSIGN_OR_RETURN(generation.stop_sequences, parse_openai_stop(body, options));
  ZH_RETURN_IF_ERROR(parse_answer_limits(body, generation));
  return generation;
}

}  // namespace

Result<OpenAiCompletionsRequest> parse_completions_request(std::string_view body,
                                                           const ParseOptions& options) {
  ZH_ASSIGN_OR_RETURN(const JsonDocument document, parse_json(body));
  const JsonPlace root(document.root());
  ZH_RETURN_IF_ERROR(root.expect_object());
  OpenAiCompletionsRequest request;
  ZH_ASSIGN_OR_RETURN(request.model, parse_model_name(root, options));
  ZH_ASSIGN_OR_RETURN(const JsonPlace prompt, root.require("prompt"));
  ZH_ASSIGN_OR_RETURN(request.prompts, parse_openai_prompts(prompt, kCompletionPromptsMax));
  ZH_ASSIGN_OR_RETURN(request.generation, parse_generation(root, options));
  ZH_ASSIGN_OR_RETURN(const ServiceTier tier, parse_openai_service_tier(root, options));
  request.generation.priority = tier.priority;
  request.reply.service_tier = tier.answer;
  ZH_ASSIGN_OR_RETURN(request.output, parse_openai_output_rules(root));
  ZH_RETURN_IF_ERROR(refuse_cuts(root, request.output, request.generation));
  ZH_ASSIGN_OR_RETURN(request.choices_per_prompt, parse_openai_choices(root));
  ZH_RETURN_IF_ERROR(refuse_unsupported(root, request.choices_per_prompt));
  ZH_ASSIGN_OR_RETURN(const auto echo, parse_openai_flag(root, "echo"));
  request.echo = echo.value_or(false);
  ZH_ASSIGN_OR_RETURN(request.generation.top_logprobs, parse_logprobs(root, request.echo));
  ZH_ASSIGN_OR_RETURN(const auto stream, parse_openai_flag(root, "stream"));
  request.stream = stream.value_or(false);
  ZH_ASSIGN_OR_RETURN(request.reply.include_usage, parse_openai_include_usage(root));
  request.reply.logprobs = request.generation.top_logprobs.has_value();
  request.labels = request_labels(root);
  return request;
}

}  // namespace zerohop
