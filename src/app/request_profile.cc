#include "app/request_profile.h"

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <string_view>
#include <utility>

#include "api/anthropic_request.h"
#include "api/error_body.h"

namespace zerohop {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 7> kMembers{
    "system", "temperature", "top_p", "top_k", "min_p", "max_tokens", "stop_sequences"};

Error wrong(const std::string& name, const std::string& what) {
  return Error{ErrorCode::kConfiguration, "prompt.profiles: '" + name + "': " + what, "", {}};
}

std::string text_of(const std::vector<TextBlock>& blocks) {
  std::string text;
  for (const TextBlock& block : blocks) text += block.text;
  return text;
}

// The profile as a request with a message, read as requests are.
Result<RequestProfile> parse_profile(const std::string& name, const std::string& text,
                                     const LimitsConfig& limits) {
  boost::system::error_code fault;
  json::value parsed = json::parse(text, fault);
  json::object* members = fault ? nullptr : parsed.if_object();
  if (members == nullptr) return wrong(name, "must be a map");
  for (const auto& member : *members) {
    const std::string_view key(member.key().data(), member.key().size());
    if (std::ranges::find(kMembers, key) == kMembers.end()) {
      return wrong(name, "unknown member '" + std::string(key) + "'");
    }
  }
  const bool limited = members->contains("max_tokens");
  (*members)["messages"] = json::array{json::object{{"role", "user"}, {"content", "."}}};
  const auto request = parse_messages_request(json::serialize(*members), {});
  if (!request.ok()) return wrong(name, error_text(request.error()));
  const GenerationParameters& generation = request->chat.generation;
  RequestProfile profile;
  profile.name = name;
  profile.system = text_of(request->chat.conversation.system);
  profile.sampling = generation.sampling;
  profile.stop_sequences = generation.stop_sequences;
  if (limited) profile.max_tokens = generation.max_tokens;
  profile.stops = compile_stops(generation, limits);
  return profile;
}

bool same_sampling(const SamplingParameters& a, const SamplingParameters& b) {
  return a.temperature == b.temperature && a.top_p == b.top_p && a.min_p == b.min_p &&
         a.top_k == b.top_k && a.presence_penalty == b.presence_penalty &&
         a.frequency_penalty == b.frequency_penalty &&
         a.repetition_penalty == b.repetition_penalty && b.logit_bias.empty();
}

bool same_text(std::string_view text, const std::vector<TextBlock>& blocks) {
  for (const TextBlock& block : blocks) {
    if (!text.starts_with(block.text)) return false;
    text.remove_prefix(block.text.size());
  }
  return text.empty();
}

}  // namespace

Result<RequestProfiles> RequestProfiles::from_config(const Config& config) {
  RequestProfiles profiles;
  for (const auto& [name, text] : config.prompt.profiles) {
    ZH_ASSIGN_OR_RETURN(RequestProfile profile, parse_profile(name, text, config.limits));
    profiles.profiles_.push_back(std::move(profile));
  }
  return profiles;
}

const RequestProfile* RequestProfiles::match(const ChatRequest& request) const {
  const GenerationParameters& generation = request.generation;
  const auto matches = [&](const RequestProfile& profile) {
    return same_sampling(profile.sampling, generation.sampling) && !generation.soft_cap &&
           (!profile.max_tokens || *profile.max_tokens == generation.max_tokens) &&
           profile.stop_sequences == generation.stop_sequences &&
           same_text(profile.system, request.conversation.system);
  };
  const auto found = std::ranges::find_if(profiles_, matches);
  return found == profiles_.end() ? nullptr : &*found;
}

}  // namespace zerohop
