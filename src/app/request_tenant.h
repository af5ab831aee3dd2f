// Whose request it is. There are no keys yet: any credential is accepted, and all requests belong
// to one tenant. The configuration may still tell the holders of different credentials apart, for
// fair turns (scheduler.tenant_by) and for cached prefixes (cache.share). Pure; any thread.
#pragma once

#include <string_view>

#include "app/config.h"
#include "core/tenant.h"
#include "http/headers.h"

namespace zerohop {

struct RequestTenant {
  TenantId tenant;  ///< 0: the one that all share
  ScopeId scope = kPublicScope;
};

/// `x-api-key`, else the token of `Authorization: Bearer`; empty: none.
std::string_view credential_of(const Headers& headers);

RequestTenant tenant_of(const Config& config, const Headers& headers);

/// Of message batches, whose store does not know who sent them: one tenant for all of them, whose
/// prefixes nobody else sees where tenants are kept apart.
RequestTenant batch_tenant(const Config& config);

}  // namespace zerohop
