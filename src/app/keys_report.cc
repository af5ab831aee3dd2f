#include "app/keys_report.h"

#include <algorithm>
#include <chrono>

#include "api/rfc3339.h"
#include "base/utf8.h"

namespace zerohop {

namespace json = boost::json;

namespace {

json::value time_json(const std::optional<WallTime>& time) {
  if (!time) return nullptr;
  return json::string(time_text(*time));
}

json::object limits_json(const Limits& limits) {
  json::object object;
  for (const LimitField& field : limit_fields()) {
    const LimitNumber& value = limits.*field.member;
    if (value) object[field.name] = *value;
  }
  return object;
}

}  // namespace

std::string_view key_state(const KeyRecord& key, WallTime now) {
  if (key.revoked_at) return "revoked";
  return key.expires_at && now >= *key.expires_at ? "expired" : "active";
}

std::string time_text(WallTime time) {
  return rfc3339(std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count());
}

json::object key_json(const KeyRecord& key, const std::string& tenant, WallTime now) {
  json::object object;
  object["id"] = key.id;
  object["tenant"] = tenant;
  object["name"] = key.name;
  object["shown"] = key.shown;
  object["state"] = key_state(key, now);
  object["created_at"] = time_text(key.created_at);
  object["expires_at"] = time_json(key.expires_at);
  object["revoked_at"] = time_json(key.revoked_at);
  object["limits"] = limits_json(key.limits);
  return object;
}

json::object tenant_json(const TenantRecord& tenant) {
  json::object object;
  object["name"] = tenant.name;
  object["weight"] = tenant.weight;
  object["priority"] = priority_class_name(tenant.priority);
  object["pool"] = tenant.pool;
  object["models"] = json::array(tenant.models.begin(), tenant.models.end());
  if (tenant.overload_status) object["overload_status"] = *tenant.overload_status;
  object["limits"] = limits_json(tenant.limits);
  return object;
}

std::string limits_text(const Limits& limits) {
  std::string text;
  for (const LimitField& field : limit_fields()) {
    const LimitNumber& value = limits.*field.member;
    if (!value) continue;
    text += (text.empty() ? "" : " ") + std::string(field.name) + "=" + std::to_string(*value);
  }
  return text.empty() ? "-" : text;
}

std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], utf8_characters(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) text.append(widths[i] - utf8_characters(row[i]) + 2, ' ');
    }
    text += "\n";
  }
  return text;
}

}  // namespace zerohop
