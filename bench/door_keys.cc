#include "door_keys.h"

#include <algorithm>

#include "admission/key_store.h"
#include "base/check.h"
#include "base/clock.h"

namespace zerohop::bench {
namespace {

constexpr std::size_t kKeys = 1'000;
constexpr std::uint64_t kPlenty = 1'000'000'000'000;

Limits plenty_of_everything() {
  Limits limits;
  for (const LimitField& field : limit_fields()) {
    if (field.kind) limits.*field.member = std::min(kPlenty, field.max);
  }
  limits.cached_input_weight_permille = 100;
  return limits;
}

std::string make_key(KeyStore& store, const Limits& limits) {
  NewKey wanted;
  wanted.limits = limits;
  const Result<MadeKey> made = store.create_key(wanted, SteadyClock().wall());
  ZH_CHECK(made.ok());
  return made->text;
}

}  // namespace

DoorKeys::DoorKeys() {
  const auto store = KeyStore::open((folder_.path() / "keys.sqlite").string());
  ZH_CHECK(store.ok());
  const Limits plenty = plenty_of_everything();
  for (std::size_t i = 0; i < kKeys; ++i) texts_.push_back(make_key(**store, plenty));
  Limits slow = plenty;
  slow.requests_per_minute = 1;
  slow_ = make_key(**store, slow);
  const auto change = [&plenty](TenantRecord& tenant) { tenant.limits = plenty; };
  ZH_CHECK((*store)->change_tenant(kDefaultTenantName, change).ok());
}

std::vector<std::string> DoorKeys::environment() {
  const std::string usage = "usage-" + std::to_string(++servers_);
  return {"ZEROHOP_AUTH_STORE=" + (folder_.path() / "keys.sqlite").string(),
          "ZEROHOP_AUTH_REQUIRED=always",
          "ZEROHOP_LIMITS_USAGE_FOLDER=" + (folder_.path() / usage).string()};
}

std::string key_header(const std::string& key) { return "x-api-key: " + key + "\r\n"; }

}  // namespace zerohop::bench
