#include "door_keys.h"

#include <algorithm>
#include <cstdio>

#include "admission/key_store.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"
#include "http_wire.h"
#include "paced_load.h"

namespace zerohop::bench {
namespace {

constexpr std::size_t kKeys = 1'000;
// Enough for those of requests by status and of tokens by kind.
constexpr std::size_t kSeriesOfTenant = 6;
constexpr std::uint64_t kPlenty = 1'000'000'000'000;

Limits plenty_of_everything() {
  Limits limits;
  for (const LimitField& field : limit_fields()) {
    if (field.kind) limits.*field.member = std::min(kPlenty, field.max);
  }
  limits.cached_input_weight_permille = 100;
  return limits;
}

std::string make_key(KeyStore& store, const Limits& limits,
                     const std::string& tenant = std::string(kDefaultTenantName)) {
  NewKey wanted;
  wanted.tenant = tenant;
  wanted.limits = limits;
  const Result<MadeKey> made = store.create_key(wanted, SteadyClock().wall());
  ZH_CHECK(made.ok());
  return made->text;
}

// A fresh one, in memory if there can be.
std::filesystem::path fast_folder() {
  const std::string name = "zerohop-" + os_random_text(12);
  std::error_code fault;
  if (std::filesystem::create_directories("/dev/shm/" + name, fault)) return "/dev/shm/" + name;
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / name;
  ZH_CHECK(std::filesystem::create_directories(folder));
  return folder;
}

}  // namespace

const std::vector<std::string>& DoorKeys::texts() {
  make();
  return texts_;
}

const std::string& DoorKeys::slow() {
  make();
  return slow_;
}

void DoorKeys::make() {
  if (!texts_.empty()) return;
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
  make();
  const std::string usage = "usage-" + std::to_string(++servers_);
  return {"ZEROHOP_AUTH_STORE=" + (folder_.path() / "keys.sqlite").string(),
          "ZEROHOP_AUTH_REQUIRED=always",
          "ZEROHOP_LIMITS_USAGE_FOLDER=" + (folder_.path() / usage).string()};
}

TenantKeys::TenantKeys() : folder_(fast_folder()) {
  const auto store = KeyStore::open((folder_ / "keys.sqlite").string());
  ZH_CHECK(store.ok());
  for (std::size_t i = 0; i < kKeys; ++i) {
    const std::string tenant = "tenant-" + std::to_string(i);
    ZH_CHECK((*store)->change_tenant(tenant, [](TenantRecord&) {}).ok());
    texts_.push_back(make_key(**store, {}, tenant));
  }
}

TenantKeys::~TenantKeys() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::vector<std::string> TenantKeys::environment() const {
  return {"ZEROHOP_AUTH_STORE=" + (folder_ / "keys.sqlite").string(),
          "ZEROHOP_AUTH_REQUIRED=always", "ZEROHOP_LIMITS_USAGE_FOLDER=",
          "ZEROHOP_METRICS_SERIES_MAX=" + std::to_string(kSeriesOfTenant * kKeys)};
}

void TenantKeys::use_all(std::uint16_t port) const {
  std::vector<std::string> requests;
  for (const std::string& key : texts_) {
    requests.push_back(post_bytes("/v1/messages",
                                  R"({"model":"smollm2-135m","max_tokens":1,"temperature":0,)"
                                  R"("messages":[{"role":"user","content":"Hi"}]})",
                                  key_header(key)));
  }
  const LoadFigures figures =
      run_closed({.port = port, .requests = requests, .connections = 8}, {600, requests.size()});
  if (figures.latencies(200).size() == requests.size()) return;
  std::printf("  not every tenant got its answer: %s\n", figures.statuses().c_str());
}

std::string key_header(const std::string& key) { return "x-api-key: " + key + "\r\n"; }

}  // namespace zerohop::bench
