// `zerohop keys`: makes, lists and revokes keys, and keeps tenants. It works on the store itself; a
// running server notices (key_watch.h).
//
// Results go to standard output, and what people should know beside them to standard error: `KEY=$(
// zerohop keys create)` is the key.

#include <boost/json/serialize.hpp>
#include <chrono>
#include <iostream>
#include <map>

#include "admission/key_store.h"
#include "app/commands.h"
#include "app/exit_code.h"
#include "app/key_watch.h"
#include "app/keys_report.h"

namespace zerohop {
namespace {

namespace json = boost::json;

class KeysCommand {
 public:
  KeysCommand(KeyStore& store, const KeysOptions& options, WallTime now)
      : store_(store), options_(options), now_(now) {}

  Result<void> run() {
    switch (options_.action) {
      case KeysAction::kCreate: return create();
      case KeysAction::kList: return list();
      case KeysAction::kRevoke: return revoke();
      case KeysAction::kLimits: return limits();
      case KeysAction::kListTenants: return list_tenants();
      case KeysAction::kSetTenant: return set_tenant();
      case KeysAction::kDeleteTenant: return delete_tenant();
      case KeysAction::kBackup: return store_.backup_to(options_.words[0]);
      case KeysAction::kPrune: return prune();
    }
    return {};
  }

 private:
  void print(const json::value& value) { std::cout << json::serialize(value) << "\n"; }

  Result<void> create() {
    const NewKey wanted = new_key_of(options_, now_);
    Result<MadeKey> made = store_.create_key(wanted, now_);
    if (!made.ok() && made.error().code == ErrorCode::kNotFound) {
      made.error().message += "; `zerohop keys tenants set NAME` makes one";
    }
    ZH_RETURN_IF_ERROR(made);
    if (options_.json) {
      json::object object = key_json(made->record, wanted.tenant, now_);
      object["key"] = made->text;
      print(object);
      return {};
    }
    std::cout << made->text << std::endl;
    std::cerr << made->record.id << " of tenant " << wanted.tenant
              << "; the key is not shown again\n";
    return {};
  }

  Result<void> list() {
    ZH_ASSIGN_OR_RETURN(const KeyStoreContents contents, store_.read());
    std::map<TenantId, std::string> names = tenant_names(contents);
    json::array all;
    std::vector<std::vector<std::string>> rows{
        {"ID", "KEY", "TENANT", "STATE", "CREATED", "EXPIRES", "LIMITS", "NAME"}};
    for (const KeyRecord& key : contents.keys) {
      const std::string& tenant = names[key.tenant];
      if (options_.tenant && tenant != *options_.tenant) continue;
      if (options_.json) all.push_back(key_json(key, tenant, now_));
      rows.push_back({key.id, key.shown + "…", tenant, std::string(key_state(key, now_)),
                      time_text(key.created_at),
                      key.expires_at ? time_text(*key.expires_at) : "never",
                      limits_text(key.limits), key.name});
    }
    if (options_.json) {
      print(all);
    } else {
      std::cout << table_text(rows);
    }
    return {};
  }

  Result<void> show(const KeyRecord& key) {
    ZH_ASSIGN_OR_RETURN(const KeyStoreContents contents, store_.read());
    const auto names = tenant_names(contents);
    const auto tenant = names.find(key.tenant);
    const std::string name = tenant == names.end() ? "" : tenant->second;
    if (options_.json) {
      print(key_json(key, name, now_));
    } else {
      std::cout << key.id << " of tenant " << name << ": " << key_state(key, now_) << ", limits "
                << limits_text(key.limits) << "\n";
    }
    return {};
  }

  Result<void> revoke() {
    for (const std::string& word : options_.words) {
      ZH_ASSIGN_OR_RETURN(const KeyRecord key, store_.revoke_key(word, now_));
      ZH_RETURN_IF_ERROR(show(key));
    }
    return {};
  }

  Result<void> limits() {
    const auto apply = [this](Limits& limits) { change_limits(options_, limits); };
    ZH_ASSIGN_OR_RETURN(const KeyRecord key, store_.change_key_limits(options_.words[0], apply));
    return show(key);
  }

  void show_tenants(const std::vector<TenantRecord>& tenants) {
    std::vector<std::vector<std::string>> rows{
        {"TENANT", "WEIGHT", "PRIORITY", "POOL", "MODELS", "LIMITS"}};
    for (const TenantRecord& tenant : tenants) {
      std::string models;
      for (const std::string& model : tenant.models) models += (models.empty() ? "" : ",") + model;
      std::string weight = json::serialize(json::value(tenant.weight));
      rows.push_back({tenant.name, std::move(weight),
                      std::string(priority_class_name(tenant.priority)),
                      tenant.pool.empty() ? "any" : tenant.pool, models.empty() ? "all" : models,
                      limits_text(tenant.limits)});
    }
    std::cout << table_text(rows);
  }

  Result<void> list_tenants() {
    ZH_ASSIGN_OR_RETURN(const KeyStoreContents contents, store_.read());
    if (!options_.json) {
      show_tenants(contents.tenants);
      return {};
    }
    json::array all;
    for (const TenantRecord& tenant : contents.tenants) all.push_back(tenant_json(tenant));
    print(all);
    return {};
  }

  Result<void> set_tenant() {
    const auto apply = [this](TenantRecord& tenant) { change_tenant(options_, tenant); };
    ZH_ASSIGN_OR_RETURN(TenantRecord tenant, store_.change_tenant(options_.words[0], apply));
    if (options_.json) {
      print(tenant_json(tenant));
    } else {
      show_tenants({std::move(tenant)});
    }
    return {};
  }

  Result<void> delete_tenant() {
    ZH_ASSIGN_OR_RETURN(const std::size_t keys, store_.erase_tenant(options_.words[0]));
    if (options_.json) {
      print(json::object{{"deleted", options_.words[0]}, {"keys", keys}});
    } else {
      std::cout << "tenant " << options_.words[0] << " is gone, with " << keys << " keys\n";
      std::cerr << "its usage and its batches go within two seconds where a server runs, else when "
                   "the next one starts\n";
    }
    return {};
  }

  Result<void> prune() {
    const WallTime before = now_ - std::chrono::hours(24) * options_.ended_days;
    ZH_ASSIGN_OR_RETURN(const std::size_t keys, store_.drop_ended(before));
    if (options_.json) {
      print(json::object{{"dropped", keys}});
    } else {
      std::cout << keys << " keys dropped that had ended before " << time_text(before) << "\n";
    }
    return {};
  }

  KeyStore& store_;
  const KeysOptions& options_;
  const WallTime now_;
};

// Only what makes something makes the file.
bool makes_file(KeysAction action) {
  return action == KeysAction::kCreate || action == KeysAction::kSetTenant;
}

Result<void> run(const Config& config, const KeysOptions& options) {
  ZH_ASSIGN_OR_RETURN(const std::string path, key_store_path(config.auth));
  ZH_ASSIGN_OR_RETURN(
      const std::unique_ptr<KeyStore> store,
      KeyStore::open(path, makes_file(options.action) ? OpenRule::kMake : OpenRule::kMustExist));
  return KeysCommand(*store, options, SteadyClock().wall()).run();
}

}  // namespace

int run_keys(const Config& config, const KeysOptions& options) {
  const Result<void> done = run(config, options);
  std::cout << std::flush;
  if (!done.ok()) return report_failure(done.error());
  return std::cout ? kExitOk : kExitOther;
}

}  // namespace zerohop
