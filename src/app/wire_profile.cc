#include "app/wire_profile.h"

#include <algorithm>
#include <utility>

#include "base/whole_number.h"

namespace zerohop {
namespace {

Error wrong(const std::string& profile, const std::string& what) {
  return Error{ErrorCode::kConfiguration, "wire.profiles: '" + profile + "': " + what, "", {}};
}

Result<void> apply_setting(const std::string& profile, std::string_view name,
                           std::string_view value, WireProfile& out) {
  const std::string shown = std::string(name) + "=" + std::string(value);
  if (name == "stream" && (value == "full" || value == "folded")) {
    out.stream = value == "full" ? StreamProfile::kFull : StreamProfile::kFolded;
  } else if (name == "heartbeat" && (value == "ping" || value == "empty_delta")) {
    out.heartbeat = value == "ping" ? Heartbeat::kPing : Heartbeat::kEmptyDelta;
  } else if (name == "strict" && (value == "true" || value == "false")) {
    out.strict = value == "true";
  } else if (name == "overload" && (value == "529" || value == "503")) {
    out.overload_status = value == "529" ? OverloadStatus::k529 : OverloadStatus::k503;
  } else if (name == "default_max_tokens") {
    const auto tokens = whole_number<decltype(out.default_max_tokens)>(value);
    if (tokens.value_or(0) == 0) {
      return wrong(profile, "'" + shown + "' needs a count of tokens");
    }
    out.default_max_tokens = *tokens;
  } else {
    return wrong(profile, "'" + shown +
                              "' is none of stream=full|folded, heartbeat=ping|empty_delta, "
                              "strict=true|false, default_max_tokens=N, overload=529|503");
  }
  return {};
}

Result<WireProfile> parse_profile(const std::string& name, std::string_view text,
                                  WireProfile profile) {
  profile.name = name;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const std::size_t split = word.find('=');
    if (split == word.npos) return wrong(name, "'" + std::string(word) + "' lacks its '='");
    ZH_RETURN_IF_ERROR(apply_setting(name, word.substr(0, split), word.substr(split + 1), profile));
  }
  return profile;
}

}  // namespace

Result<WireProfiles> WireProfiles::from_config(const Config& config) {
  WireProfiles profiles;
  profiles.own_.stream = config.wire.stream_profile;
  profiles.own_.heartbeat = config.wire.heartbeat;
  profiles.own_.strict = config.wire.strict;
  profiles.own_.overload_status = config.queue.overload_status;
  profiles.own_.default_max_tokens = config.limits.default_max_tokens;
  profiles.own_.default_stop_sequences = config.wire.default_stop_sequences;
  std::map<std::string, WireProfile> by_name;
  for (const auto& [name, text] : config.wire.profiles) {
    ZH_ASSIGN_OR_RETURN(by_name[name], parse_profile(name, text, profiles.own_));
  }
  for (const auto& [version, name] : config.wire.version_profiles) {
    const auto found = by_name.find(name);
    if (found == by_name.end()) {
      return Error{ErrorCode::kConfiguration,
                   "wire.version_profiles: '" + version + "' names the profile '" + name +
                       "', which wire.profiles does not have",
                   "",
                   {}};
    }
    profiles.by_version_.emplace(version, found->second);
  }
  return profiles;
}

const WireProfile& WireProfiles::find(std::string_view version) const {
  const auto found = by_version_.find(version);
  return found == by_version_.end() ? own_ : found->second;
}

}  // namespace zerohop
