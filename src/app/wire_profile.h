// Wire profiles: how one client's requests are read and answered, by configuration and by the
// version that its requests name.
//
// `wire.version_profiles` maps values of the `anthropic-version` header to names, `wire.profiles`
// says what a name means:
//
//   wire:
//     version_profiles: {"2023-06-01": classic}
//     profiles: {classic: "stream=full strict=true"}
//
// so a fleet moves its clients one version at a time. Versions that nobody mapped, unknown ones and
// a missing header get the server's own settings.
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/config.h"
#include "core/error.h"

namespace zerohop {

struct WireProfile {
  std::string name;  ///< empty: the server's own settings
  StreamProfile stream = StreamProfile::kFull;
  Heartbeat heartbeat = Heartbeat::kPing;
  bool strict = false;
  OverloadStatus overload_status = OverloadStatus::k529;
  std::uint32_t default_max_tokens = 0;
  std::vector<std::string> default_stop_sequences;
};

/// Every profile of a configuration, read and checked once.
class WireProfiles {
 public:
  /// Errors: kConfiguration (an unknown setting, a version mapped to a profile that is not there).
  static Result<WireProfiles> from_config(const Config& config);

  /// `version`: the header's value, or empty.
  const WireProfile& find(std::string_view version) const;

  /// Whether some version is mapped at all.
  bool any_version() const { return !by_version_.empty(); }

 private:
  WireProfile own_;
  std::map<std::string, WireProfile, std::less<>> by_version_;
};

}  // namespace zerohop
