#include "app/admin_requests.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <map>

namespace zerohop {
namespace {

namespace json = boost::json;

constexpr std::uint64_t kDaysMax = 36'500;

using Read = std::function<Result<void>(const json::value& value)>;

Error wrong(const std::string& path, const std::string& what) {
  return invalid_request(path, path + ": must be " + what);
}

Result<std::uint64_t> whole_number(const json::value& value, const std::string& path,
                                   std::uint64_t max) {
  const bool fits = (value.is_int64() && value.get_int64() >= 0) || value.is_uint64();
  const std::uint64_t number = !fits               ? 0
                               : value.is_uint64() ? value.get_uint64()
                                                   : static_cast<std::uint64_t>(value.get_int64());
  if (fits && number <= max) return number;
  return wrong(path, "a whole number from 0 to " + std::to_string(max));
}

Read text_into(std::optional<std::string>& member, const std::string& path) {
  return [&member, path](const json::value& value) -> Result<void> {
    if (!value.is_string()) return wrong(path, "a string");
    member = std::string(value.get_string());
    return {};
  };
}

Result<void> read_limits(const json::value& value, LimitChanges& limits) {
  if (!value.is_object()) return wrong("limits", "an object");
  for (const auto& member : value.get_object()) {
    const std::string path = "limits." + std::string(member.key());
    const LimitField* field = find_limit(std::string_view(member.key()));
    if (field == nullptr) return invalid_request(path, path + ": there is no such limit");
    LimitNumber number;
    if (!member.value().is_null()) {
      ZH_ASSIGN_OR_RETURN(number, whole_number(member.value(), path, field->max));
    }
    limits.emplace_back(field, number);
  }
  return {};
}

Result<void> read_models(const json::value& value, AdminBody& body) {
  std::vector<std::string> models;
  const bool texts =
      value.is_array() &&
      std::ranges::all_of(value.get_array(), [](const auto& one) { return one.is_string(); });
  if (!texts) return wrong("models", "an array of strings");
  for (const json::value& one : value.get_array()) models.emplace_back(one.get_string());
  body.models = std::move(models);
  return {};
}

Result<void> read_overload_status(const json::value& value, AdminBody& body) {
  body.overload_status = 0;
  if (value.is_null()) return {};
  ZH_ASSIGN_OR_RETURN(const std::uint64_t status, whole_number(value, "overload_status", 599));
  body.overload_status = static_cast<std::uint16_t>(status);
  return {};
}

Result<void> read_priority(const json::value& value, AdminBody& body) {
  if (value.is_string()) body.priority = priority_class_named(value.get_string());
  if (body.priority) return {};
  return wrong("priority", "priority, standard or batch");
}

std::map<std::string, Read> readers_of(AdminBody& body) {
  return {{"tenant", text_into(body.tenant, "tenant")},
          {"name", text_into(body.name, "name")},
          {"pool", text_into(body.pool, "pool")},
          {"models", [&body](const json::value& value) { return read_models(value, body); }},
          {"priority", [&body](const json::value& value) { return read_priority(value, body); }},
          {"limits", [&body](const json::value& value) { return read_limits(value, body.limits); }},
          {"overload_status",
           [&body](const json::value& value) { return read_overload_status(value, body); }},
          {"weight",
           [&body](const json::value& value) -> Result<void> {
             if (!value.is_number()) return wrong("weight", "a number");
             body.weight = value.to_number<double>();
             return {};
           }},
          {"expires_days", [&body](const json::value& value) -> Result<void> {
             ZH_ASSIGN_OR_RETURN(const std::uint64_t days,
                                 whole_number(value, "expires_days", kDaysMax));
             body.expires_days = static_cast<std::uint32_t>(days);
             return {};
           }}};
}

}  // namespace

Result<AdminBody> parse_admin_body(std::string_view text, const std::vector<std::string>& known) {
  AdminBody body;
  if (text.empty()) return body;
  json::error_code fault;
  const json::value parsed = json::parse(json::string_view(text.data(), text.size()), fault);
  if (fault || !parsed.is_object()) return invalid_request("", "the body must be a JSON object");
  const std::map<std::string, Read> readers = readers_of(body);
  for (const auto& member : parsed.get_object()) {
    const std::string name(member.key());
    if (std::ranges::find(known, name) == known.end()) {
      return invalid_request(name, name + ": there is no such member");
    }
    ZH_RETURN_IF_ERROR(readers.at(name)(member.value()));
  }
  return body;
}

}  // namespace zerohop
