#include "app/instance_identity.h"

#include <algorithm>
#include <array>

#include "app/config_error.h"
#include "app/model_names.h"

namespace zerohop {
namespace {

// Those that frame a message or that the server itself says something with.
bool is_taken_header(std::string_view name) {
  constexpr std::array<std::string_view, 12> kTaken{
      "content-length", "content-type",   "transfer-encoding", "connection",
      "date",           "host",           "request-id",        "retry-after",
      "retry-after-ms", "x-should-retry", "cache-control",     "upgrade"};
  const auto same = [name](std::string_view taken) { return equals_ignoring_case(name, taken); };
  constexpr std::string_view kOurs = "anthropic-";
  return std::ranges::any_of(kTaken, same) ||
         equals_ignoring_case(name.substr(0, kOurs.size()), kOurs) ||
         equals_ignoring_case(name.substr(0, 2 + kOurs.size()), "x-anthropic-");
}

Error wrong_instance(std::string message) {
  return Error{ErrorCode::kWrongInstance, std::move(message), "", {}};
}

}  // namespace

InstanceIdentity::InstanceIdentity(const InstanceConfig& config) : config_(config) {
  reply_headers_.push_back(HeaderField{std::string(kInstanceHeader), config.id});
  for (const auto& [label, header] : config.label_headers) {
    reply_headers_.push_back(HeaderField{header, config.labels.at(label)});
  }
}

Result<void> InstanceIdentity::check(const Headers& request, std::string_view tenant_pool) const {
  const auto pin = request.find(kInstanceHeader);
  if (pin && !matches_pattern(*pin, config_.id)) {
    const std::optional<std::string> address = address_of(*pin);
    return wrong_instance("this is instance " + config_.id + ", not the requested one" +
                          (address ? ", which is at " + *address : ""));
  }
  const bool of_pool = pin.has_value() || tenant_pool == config_.pool;
  if (!config_.exclusive || of_pool) return {};
  return wrong_instance("this instance serves only its pool '" + config_.pool +
                        "': keys of that pool, and requests that name the instance in " +
                        std::string(kInstanceHeader));
}

std::optional<std::string> InstanceIdentity::address_of(std::string_view pin) const {
  for (const auto& [id, address] : config_.peers) {
    if (matches_pattern(pin, id)) return address;
  }
  return std::nullopt;
}

Result<void> check_identity_rules(const InstanceConfig& config) {
  for (const auto& [label, header] : config.label_headers) {
    if (!config.labels.contains(label)) {
      return configuration_error("instance.label_headers: there is no label '" + label +
                                 "' in instance.labels");
    }
    if (!is_http_token(header) || is_taken_header(header)) {
      return configuration_error(
          "instance.label_headers: '" + header +
          "' is no name for a header of an answer, or one that the server uses");
    }
  }
  return {};
}

}  // namespace zerohop
