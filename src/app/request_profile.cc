#include "app/request_profile.h"

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <string_view>
#include <tuple>
#include <utility>

#include "api/anthropic_request.h"
#include "api/error_body.h"
#include "prompt/conversation_shape.h"
#include "prompt/prompt_habits.h"

namespace zerohop {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 12> kMembers{
    "system",         "tools", "tool_choice", "thinking", "output_config", "output_format",
    "stop_sequences", "top_p", "temperature", "top_k",    "min_p",         "max_tokens"};

Error wrong(const std::string& name, const std::string& what) {
  return Error{ErrorCode::kConfiguration, "prompt.profiles: '" + name + "': " + what, "", {}};
}

// The profile as a request with a message, read as requests are.
Result<RequestProfile> parse_profile(const std::string& name, const std::string& text,
                                     const Config& config) {
  boost::system::error_code fault;
  const json::value parsed = json::parse(text, fault);
  const json::object* members = fault ? nullptr : parsed.if_object();
  if (members == nullptr) return wrong(name, "must be a map");
  for (const auto& member : *members) {
    const std::string_view key(member.key().data(), member.key().size());
    if (std::ranges::find(kMembers, key) == kMembers.end()) {
      return wrong(name, "unknown member '" + std::string(key) + "'");
    }
  }
  const bool limited = members->contains("max_tokens");
  // As text, for a schema is what is written there.
  std::string body(R"({"messages":[{"role":"user","content":"."}])");
  body += members->empty() ? "}" : "," + text.substr(text.find('{') + 1);
  auto request = parse_messages_request(body, {});
  if (!request.ok()) return wrong(name, error_text(request.error()));
  GenerationParameters& generation = request->chat.generation;
  if (generation.stop_sequences.empty()) {
    generation.stop_sequences = config.wire.default_stop_sequences;
  }
  RequestProfile profile;
  profile.name = name;
  profile.conversation = std::move(request->chat.conversation);
  apply_prompt_habits(config.prompt.habits, profile.conversation);
  profile.system = system_prompt_of(profile.conversation).text;
  profile.sampling = generation.sampling;
  profile.stop_sequences = generation.stop_sequences;
  if (limited) profile.max_tokens = generation.max_tokens;
  profile.stops = compile_stops(generation, config.limits);
  return profile;
}

bool same_sampling(const SamplingParameters& a, const SamplingParameters& b) {
  return a.temperature == b.temperature && a.top_p == b.top_p && a.min_p == b.min_p &&
         a.top_k == b.top_k && a.presence_penalty == b.presence_penalty &&
         a.frequency_penalty == b.frequency_penalty &&
         a.repetition_penalty == b.repetition_penalty && b.logit_bias.empty();
}

// Where a client wrote something is no part of what it says.
bool same_tool(const ToolDefinition& a, const ToolDefinition& b) {
  const auto parts = [](const ToolDefinition& tool) {
    return std::tie(tool.name, tool.description, tool.input_schema, tool.strict, tool.deferred,
                    tool.live_arguments, tool.live_bias);
  };
  return parts(a) == parts(b);
}

bool same_output(const OutputRules& a, const OutputRules& b) {
  const auto parts = [](const OutputRules& rules) {
    return std::tie(rules.format, rules.schema, rules.pattern, rules.choices, rules.strict);
  };
  return parts(a) == parts(b);
}

// All that the model reads but system prompt and turns, and what it may write.
bool same_rules(const Conversation& a, const Conversation& b) {
  const auto thinks = [](const Conversation& c) { return c.thinking == ThinkingMode::kEnabled; };
  return std::ranges::equal(a.tools, b.tools, same_tool) &&
         (a.tools.empty() || a.tool_choice == b.tool_choice) && thinks(a) == thinks(b) &&
         same_output(a.output, b.output);
}

}  // namespace

bool RequestProfile::has_prefix() const {
  return !system.empty() || offers_tools(conversation) ||
         conversation.output.format != OutputFormat::kText;
}

Result<RequestProfiles> RequestProfiles::from_config(const Config& config) {
  RequestProfiles profiles;
  for (const auto& [name, text] : config.prompt.profiles) {
    ZH_ASSIGN_OR_RETURN(RequestProfile profile, parse_profile(name, text, config));
    profiles.profiles_.push_back(std::move(profile));
  }
  return profiles;
}

const RequestProfile* RequestProfiles::match(const ChatRequest& request) const {
  if (profiles_.empty()) return nullptr;
  const GenerationParameters& generation = request.generation;
  const std::string system = system_prompt_of(request.conversation).text;
  const auto matches = [&](const RequestProfile& profile) {
    return same_sampling(profile.sampling, generation.sampling) && !generation.soft_cap &&
           (!profile.max_tokens || *profile.max_tokens == generation.max_tokens) &&
           profile.stop_sequences == generation.stop_sequences && profile.system == system &&
           same_rules(profile.conversation, request.conversation);
  };
  const auto found = std::ranges::find_if(profiles_, matches);
  return found == profiles_.end() ? nullptr : &*found;
}

}  // namespace zerohop
