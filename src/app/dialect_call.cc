#include "app/dialect_call.h"

#include <utility>

#include "app/model_names.h"

namespace zerohop {

ParseOptions parse_options_of(const WireProfile& profile) {
  ParseOptions options;
  options.strictness = profile.strict ? Strictness::kStrict : Strictness::kLenient;
  options.default_max_tokens = profile.default_max_tokens;
  return options;
}

Result<void> check_model(const CallScope& scope, const TenantRecord& tenant,
                         std::string_view requested) {
  if (tenant.models.empty()) return {};
  const std::string& tier = scope.service.tier().name();
  ZH_ASSIGN_OR_RETURN(const std::string name,
                      resolve_model_name(scope.live->config.model, tier, requested));
  return check_resolved_model(scope.service, tenant, name);
}

Result<void> check_resolved_model(const Service& service, const TenantRecord& tenant,
                                  std::string_view name) {
  if (may_use_model(tenant, name) || may_use_model(tenant, service.tier().name())) return {};
  return Error{
      ErrorCode::kPermission,
      "model: tenant '" + tenant.name + "' may not use the model '" + std::string(name) + "'",
      "model",
      {}};
}

void apply_server_habits(const CallScope& scope, const WireProfile& profile, ChatRequest& request) {
  if (request.generation.stop_sequences.empty()) {
    request.generation.stop_sequences = profile.default_stop_sequences;
  }
  apply_configured_habits(scope, request.conversation);
}

void apply_configured_habits(const CallScope& scope, Conversation& conversation) {
  Metrics& metrics = scope.service.metrics;
  if (!scope.live->config.constraints.tools) conversation.constrain_tools = false;
  const PromptHabits& habits = scope.live->config.prompt.habits;
  const HabitCounts counts = apply_prompt_habits(habits, conversation);
  if (counts.billing_headers > 0) {
    metrics.count_prompt_rewrites("billing_header", counts.billing_headers);
  }
  for (std::size_t i = 0; i < counts.moved.size(); ++i) {
    if (counts.moved[i] == 0) continue;
    metrics.count_prompt_rewrites(habits.volatile_patterns[i], counts.moved[i]);
  }
}

std::optional<CompiledStops> profile_stops(const CallScope& scope, const ChatRequest& request) {
  if (scope.live->profiles.all().empty()) return std::nullopt;
  const RequestProfile* profile = scope.live->profiles.match(request);
  scope.service.metrics.count_profile_request(profile == nullptr ? "none" : profile->name);
  if (profile == nullptr) return std::nullopt;
  return profile->stops;
}

Result<ReadyConstraint> constrain_answer(const CallScope& scope, const AnswerForm& form) {
  Service& service = scope.service;
  ReadyConstraint ready;
  const bool asked =
      form.plan.tool_syntax != nullptr || form.plan.rules.format != OutputFormat::kText;
  if (!asked) return ready;
  if (!scope.live->config.constraints.enabled) {
    ready.relaxed = "all constraints.enabled=false";
    return ready;
  }
  ZH_ASSIGN_OR_RETURN(ready, service.constraints.constraint_for(form.plan, form.conversation));
  if (ready.constraint == nullptr) return ready;
  Tier& tier = service.tier();
  ZH_RETURN_IF_ERROR(tier.loop().prepare_constraints());
  const std::string& shortest = ready.constraint->shortest;
  if (form.max_tokens == 0 || shortest.size() <= form.max_tokens) return ready;
  const std::size_t tokens =
      tier.model().tokenizer().tokenize(shortest, SpecialTokens::kParse).size();
  if (tokens <= form.max_tokens) return ready;
  service.metrics.count_constrained_answer_refused();
  return invalid_request("max_tokens", std::to_string(form.max_tokens) +
                                           " is not enough: the shortest answer of the form that "
                                           "is asked for takes " +
                                           std::to_string(tokens) + " tokens");
}

std::shared_ptr<const std::vector<SoftRule>> soft_rules_of(LiveValues& values) {
  if (values.rules.empty()) return nullptr;
  return std::make_shared<const std::vector<SoftRule>>(std::move(values.rules));
}

Result<void> check_room(const Tier& tier, const WireProfile& profile, const PreparedPrompt& prompt,
                        std::uint32_t max_tokens) {
  const std::size_t tokens = prompt.tokens.size();
  const bool fits = tokens + max_tokens <= tier.window();
  // Without room for a single token there is nothing to cut to.
  const bool no_room = tokens == tier.window() && max_tokens > 0;
  if (fits || (!profile.strict && !no_room)) return {};
  return prompt_and_output_too_long({tokens, max_tokens, tier.window()});
}

}  // namespace zerohop
