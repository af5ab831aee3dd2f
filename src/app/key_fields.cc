#include "app/key_fields.h"

#include <chrono>

namespace zerohop {

NewKey new_key_of(const KeyFields& fields, WallTime now) {
  NewKey wanted;
  if (fields.tenant) wanted.tenant = *fields.tenant;
  if (fields.name) wanted.name = *fields.name;
  if (fields.expires_days) wanted.expires_at = now + std::chrono::hours(24) * *fields.expires_days;
  change_limits(fields, wanted.limits);
  return wanted;
}

void change_limits(const KeyFields& fields, Limits& limits) {
  for (const auto& [field, value] : fields.limits) limits.*field->member = value;
}

void change_tenant(const KeyFields& fields, TenantRecord& tenant) {
  if (fields.weight) tenant.weight = *fields.weight;
  if (fields.priority) tenant.priority = *fields.priority;
  if (fields.pool) tenant.pool = *fields.pool;
  if (fields.models) tenant.models = *fields.models;
  if (fields.overload_status) {
    tenant.overload_status.reset();
    if (*fields.overload_status != 0) tenant.overload_status = fields.overload_status;
  }
  change_limits(fields, tenant.limits);
}

std::map<TenantId, std::string> tenant_names(const KeyStoreContents& contents) {
  std::map<TenantId, std::string> names;
  for (const TenantRecord& tenant : contents.tenants) names[tenant.number] = tenant.name;
  return names;
}

}  // namespace zerohop
