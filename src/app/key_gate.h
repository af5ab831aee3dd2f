// The door's look at a key, before the body of a request is read.
//
// With `tls.client_identity: key` a certificate that the client has shown stands for the key of its
// name, where the request shows none.
//
//   head ─ credential ─ ring ─→ caller: key and tenant        no keys asked for: tenant `default`
//              │         └────→ 401 unknown, revoked, expired  ┐
//              └──────────────→ 401 missing, repeated, no text ┴─ too often from one address: 429
//                        tenant of another pool ──────────────→ 403
//
// Whether keys are asked for: `auth.required` says so, or as soon as the store has ever held one.
// From then on for as long as the process runs, whatever becomes of the store.
//
// A key is never logged, counted or repeated, not even a wrong one: it may be a good one of
// somewhere else. I/O thread, but for the ring, which another thread may swap.
#pragma once

#include <optional>
#include <string_view>

#include "admission/auth_attempts.h"
#include "admission/caller.h"
#include "admission/key_ring.h"
#include "app/config.h"
#include "base/clock.h"
#include "core/error.h"
#include "http/message.h"
#include "telemetry/metrics.h"

namespace zerohop {

/// What the head of a request shows. Which of the two headers it was decides on some words only.
struct Credential {
  std::string_view text;  ///< empty: none
  bool bearer = false;
};

/// `x-api-key: KEY`, or `Authorization: Bearer KEY`; both when they are the same. Errors:
/// kAuthentication: repeated, two different ones, another scheme, too long, not printable ASCII.
Result<Credential> read_credential(const Headers& headers);

/// Whether a path answers everybody: probes, and what clients ask to see who is there.
bool is_open_path(std::string_view path);

struct KeyGateParts {
  const Config* config = nullptr;
  const Clock* clock = nullptr;
  Metrics* metrics = nullptr;
  std::uint64_t seed = 0;  ///< unknown to peers
};

class KeyGate {
 public:
  /// With an empty ring. What `parts` points to outlives the gate.
  explicit KeyGate(const KeyGateParts& parts);

  bool asks_for_keys() const;

  /// Whose request this is. Errors: kAuthentication, kPermission, kRateLimited with advice.
  Result<Caller> check(const RequestHead& head);

  KeyRingSlot& ring() { return ring_; }
  const KeyRingSlot& ring() const { return ring_; }

 private:
  Result<Caller> identify(const RequestHead& head, const std::shared_ptr<const KeyRing>& ring);
  Result<Caller> identify_certificate(const RequestHead& head,
                                      const std::shared_ptr<const KeyRing>& ring);
  Error refused(const RequestHead& head, Error error, std::string_view reason);

  const KeyGateParts parts_;
  KeyRingSlot ring_;
  AuthAttempts attempts_;
};

/// Without keys, on purpose: no store is even looked at.
bool never_asks_for_keys(const AuthConfig& auth);
bool asks_for_keys(const AuthConfig& auth, const KeyRing& ring);

/// Errors: kPermission where another pool than this instance's serves the tenant.
Result<void> check_pool(const InstanceConfig& instance, const TenantRecord& tenant);

/// Whether the tenant may use the model that answers to `model`: its own name or the one that was
/// asked for must match a pattern of the tenant.
bool may_use_model(const TenantRecord& tenant, std::string_view model);

}  // namespace zerohop
