// As whom a request takes its turn and whose cached prefixes it finds.
//
// With a key it is its tenant's. Where no keys are asked for, all requests belong to one tenant;
// the configuration may still tell the holders of different credentials apart, for fair turns
// (scheduler.tenant_by) and for cached prefixes (cache.share). Pure; any thread.
#pragma once

#include <optional>
#include <string_view>

#include "admission/caller.h"
#include "app/config.h"
#include "core/tenant.h"
#include "http/headers.h"

namespace zerohop {

struct RequestTenant {
  TenantId tenant;  ///< 0: the one that all share
  ScopeId scope = kPublicScope;
  double weight = 1;  ///< QueuedWork::weight
  /// The class of all its requests but those that ask for the lowest; nothing: as each asks.
  std::optional<PriorityClass> priority = {};
  /// It belongs to the pool of this instance, for which sequences may be kept free.
  bool own_pool = false;
};

/// As read_credential() (key_gate.h) finds it; empty: none, or one that it refuses.
std::string_view credential_of(const Headers& headers);

/// The class that the operator gave; nothing: as each request asks.
std::optional<PriorityClass> class_of(const Caller& caller);

/// In which a request that asks for `wanted` is served where the operator gave `given`: nobody gets
/// a better one than was given, and everybody may step back.
constexpr PriorityClass served_class(std::optional<PriorityClass> given, PriorityClass wanted) {
  return wanted == PriorityClass::kBatch ? wanted : given.value_or(wanted);
}

RequestTenant tenant_of(const Config& config, const Caller& caller, const Headers& headers);

/// Of a message batch. Where no key was asked for: one tenant for all batches, whose prefixes
/// nobody else sees where credentials are kept apart.
RequestTenant batch_tenant(const Config& config, const TenantRecord& owner = open_tenant());

}  // namespace zerohop
