// Bodies of the admin API as values. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/keys_options.h"
#include "core/error.h"

namespace zerohop {

/// Members of a body, read and of the right type; absent ones are nothing. Which of them a call
/// takes is its own matter.
struct AdminBody {
  std::optional<std::string> tenant;
  std::optional<std::string> name;
  std::optional<std::uint32_t> expires_days;
  LimitChanges limits;
  std::optional<double> weight;
  std::optional<PriorityClass> priority;
  std::optional<std::string> pool;
  std::optional<std::vector<std::string>> models;
};

/// An object with members among `known` only; an empty body is an empty object. Errors:
/// kInvalidRequest, with the path of the member.
Result<AdminBody> parse_admin_body(std::string_view body, const std::vector<std::string>& known);

}  // namespace zerohop
