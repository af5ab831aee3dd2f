#include "app/key_gate.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "app/model_names.h"
#include "base/log.h"

namespace zerohop {
namespace {

// Longer than any key of ours, and than those of other services that a client may send by mistake.
constexpr std::size_t kCredentialBytesMax = 512;

Error authentication(std::string message) {
  return Error{ErrorCode::kAuthentication, std::move(message), "", {}};
}

// The words of the hosted API, by which agents know that it is the key.
std::string invalid(const Credential& credential) {
  return credential.bearer ? "invalid bearer token (x-api-key)" : "invalid x-api-key";
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

Result<std::string_view> only_value(const Headers& headers, std::string_view name) {
  if (headers.count(name) > 1) {
    return authentication("more than one API key: the header " + std::string(name) +
                          " is repeated (x-api-key)");
  }
  return headers.find(name).value_or("");
}

// The token behind the scheme; nothing where there is no header.
Result<std::string_view> bearer_token(const Headers& headers) {
  constexpr std::string_view kBearer = "bearer ";
  ZH_ASSIGN_OR_RETURN(const std::string_view value, only_value(headers, "authorization"));
  if (value.empty() || equals_ignoring_case(value, "bearer")) return std::string_view();
  if (!equals_ignoring_case(value.substr(0, kBearer.size()), kBearer)) {
    return authentication("Authorization must be 'Bearer KEY', or send the key as x-api-key");
  }
  const std::size_t token = value.find_first_not_of(' ', kBearer.size());
  return token == value.npos ? std::string_view() : value.substr(token);
}

std::string_view verdict_name(KeyVerdict verdict) {
  switch (verdict) {
    case KeyVerdict::kGood: return "good";
    case KeyVerdict::kUnknown: return "unknown";
    case KeyVerdict::kRevoked: return "revoked";
    case KeyVerdict::kExpired: return "expired";
  }
  return "unknown";
}

std::string verdict_text(KeyVerdict verdict, const Credential& credential) {
  switch (verdict) {
    case KeyVerdict::kRevoked: return invalid(credential) + ": this key was revoked";
    case KeyVerdict::kExpired: return invalid(credential) + ": this key has expired";
    case KeyVerdict::kGood:
    case KeyVerdict::kUnknown: break;
  }
  return invalid(credential);
}

}  // namespace

Result<Credential> read_credential(const Headers& headers) {
  ZH_ASSIGN_OR_RETURN(const std::string_view key, only_value(headers, "x-api-key"));
  ZH_ASSIGN_OR_RETURN(const std::string_view token, bearer_token(headers));
  if (!key.empty() && !token.empty() && key != token) {
    return authentication("two different API keys: one as x-api-key, one as bearer token");
  }
  const Credential credential{key.empty() ? token : key, key.empty()};
  if (credential.text.size() > kCredentialBytesMax || !is_printable(credential.text)) {
    return authentication(invalid(credential) + ": it is no key at all");
  }
  return credential;
}

bool is_open_path(std::string_view path) {
  constexpr std::array<std::string_view, 8> kOpen{"/healthz",      "/health", "/v1/health",
                                                  "/livez",        "/",       "/api/hello",
                                                  "/v1/api/hello", "/console"};
  return std::ranges::find(kOpen, path) != kOpen.end();
}

KeyGate::KeyGate(const KeyGateParts& parts)
    : parts_(parts),
      ring_(std::make_shared<const KeyRing>(KeyStoreContents{})),
      attempts_(parts.seed) {}

bool never_asks_for_keys(const AuthConfig& auth) {
  return auth.no_auth || auth.required == AuthRequired::kNever;
}

bool asks_for_keys(const AuthConfig& auth, const KeyRing& ring) {
  if (never_asks_for_keys(auth)) return false;
  return auth.required == AuthRequired::kAlways || ring.had_keys();
}

bool KeyGate::asks_for_keys() const {
  return zerohop::asks_for_keys(parts_.config->auth, *ring_.get());
}

// Failures are counted; beyond the bucket of the address all of them look alike.
Error KeyGate::refused(const RequestHead& head, Error error, std::string_view reason) {
  parts_.metrics->count_auth_failure(reason);
  const AuthAttempts::Verdict verdict = attempts_.failed(head.peer, parts_.clock->now());
  if (verdict.within) return error;
  if (verdict.first) {
    log_warning("too many requests without a good key",
                {{"address", head.remote_address}, {"reason", std::string(reason)}});
  }
  return Error{ErrorCode::kRateLimited, "too many requests without a valid API key (x-api-key)", "",
               std::chrono::ceil<std::chrono::milliseconds>(verdict.retry_in)};
}

Result<Caller> KeyGate::identify(const RequestHead& head,
                                 const std::shared_ptr<const KeyRing>& ring) {
  const Result<Credential> credential = read_credential(head.headers);
  if (!credential.ok()) return refused(head, credential.error(), "malformed");
  if (credential->text.empty() && parts_.config->tls.client_identity == ClientIdentity::kKey &&
      !head.client_name.empty()) {
    return identify_certificate(head, ring);
  }
  if (credential->text.empty()) {
    Error missing =
        authentication("no API key: send it as 'x-api-key: KEY' or as 'Authorization: Bearer KEY'");
    return refused(head, std::move(missing), "missing");
  }
  const KeyLookup found = ring->find(credential->text, parts_.clock->wall());
  if (found.verdict != KeyVerdict::kGood) {
    Error bad = authentication(verdict_text(found.verdict, *credential));
    return refused(head, std::move(bad), verdict_name(found.verdict));
  }
  return Caller{found.key, found.tenant, ring};
}

Result<Caller> KeyGate::identify_certificate(const RequestHead& head,
                                             const std::shared_ptr<const KeyRing>& ring) {
  const KeyLookup found = ring->find_named(head.client_name, parts_.clock->wall());
  if (found.verdict == KeyVerdict::kGood) return Caller{found.key, found.tenant, ring};
  Error none = authentication("no API key (x-api-key), and the client certificate is named '" +
                              head.client_name + "' as no good key is, or as several are");
  return refused(head, std::move(none), verdict_name(found.verdict));
}

Result<Caller> KeyGate::check(const RequestHead& head) {
  if (is_open_path(head.path)) return Caller{};
  // Decided and looked up in one ring, whatever comes into force meanwhile.
  const std::shared_ptr<const KeyRing> ring = ring_.get();
  if (!zerohop::asks_for_keys(parts_.config->auth, *ring)) return Caller{};
  ZH_ASSIGN_OR_RETURN(Caller caller, identify(head, ring));
  ZH_RETURN_IF_ERROR(check_pool(parts_.config->instance, *caller.tenant));
  return caller;
}

Result<void> check_pool(const InstanceConfig& instance, const TenantRecord& tenant) {
  if (tenant.pool.empty() || tenant.pool == instance.pool) return {};
  return Error{ErrorCode::kPermission,
               "tenant '" + tenant.name + "' is served by pool '" + tenant.pool +
                   "', and this is pool '" + instance.pool + "'",
               "",
               {}};
}

bool may_use_model(const TenantRecord& tenant, std::string_view model) {
  return tenant.models.empty() ||
         std::ranges::any_of(tenant.models, [model](const std::string& pattern) {
           return matches_pattern(pattern, model);
         });
}

}  // namespace zerohop
