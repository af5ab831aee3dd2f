#include "app/request_tenant.h"

#include "app/key_gate.h"
#include "app/text_hash.h"

namespace zerohop {

// Where no keys are asked for, any credential is as good as none.
std::string_view credential_of(const Headers& headers) {
  const Result<Credential> credential = read_credential(headers);
  return credential.ok() ? credential->text : std::string_view();
}

namespace {

// Numbers of a store count from 1.
RequestTenant keyed_tenant(const Config& config, const TenantRecord& record) {
  RequestTenant tenant;
  tenant.tenant = record.number;
  if (config.cache.share != CacheShare::kAll) tenant.scope = ScopeId{record.number.value};
  tenant.weight = record.weight;
  tenant.priority = record.priority;
  tenant.own_pool = !record.pool.empty() && record.pool == config.instance.pool;
  return tenant;
}

RequestTenant tenant_named(const Config& config, std::string_view name) {
  const bool takes_turns = config.scheduler.tenant_by == TenantBy::kCredential;
  const bool keeps_apart = config.cache.share == CacheShare::kTenant;
  if (!takes_turns && !keeps_apart) return {};
  const std::uint64_t hash = text_hash(name);
  RequestTenant tenant;
  if (takes_turns) tenant.tenant = TenantId{hash};
  if (keeps_apart) tenant.scope = ScopeId{hash};
  return tenant;
}

}  // namespace

std::optional<PriorityClass> class_of(const Caller& caller) {
  if (caller.key == nullptr) return std::nullopt;
  return caller.tenant->priority;
}

RequestTenant tenant_of(const Config& config, const Caller& caller, const Headers& headers) {
  if (caller.key == nullptr) return tenant_named(config, credential_of(headers));
  return keyed_tenant(config, *caller.tenant);
}

// No header can hold a line break, so no credential is this one.
RequestTenant batch_tenant(const Config& config, const TenantRecord& owner) {
  const bool keyed = owner.number != TenantId{};
  return keyed ? keyed_tenant(config, owner) : tenant_named(config, "message\nbatches");
}

}  // namespace zerohop
