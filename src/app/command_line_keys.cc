#include "app/command_line_keys.h"

#include <algorithm>
#include <string>

#include "app/command_line_parts.h"

namespace zerohop {
namespace {

Result<std::uint32_t> days(const std::string& flag, const std::string& text) {
  constexpr std::uint32_t kDaysMax = 36'500;
  ZH_ASSIGN_OR_RETURN(const auto value, flag_number<std::uint32_t>(flag, text));
  if (value <= kDaysMax) return value;
  return usage_error(flag + ": " + text + " is out of range (at most " + std::to_string(kDaysMax) +
                     ")");
}

// "requests_per_minute" is --requests-per-minute.
std::string flag_of(const LimitField& field) {
  std::string flag = "--" + std::string(field.name);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

Result<PriorityClass> priority_named(const std::string& name) {
  if (const auto priority = priority_class_named(name)) return *priority;
  return usage_error("--priority: '" + name + "' is none of priority, standard, batch");
}

}  // namespace

KeysCommandLine::KeysCommandLine(CLI::App& keys)
    : create_(command(keys, "create")),
      list_(command(keys, "list")),
      revoke_(command(keys, "revoke")),
      limits_(command(keys, "limits")),
      tenants_(command(keys, "tenants")),
      tenants_set_(command(*tenants_, "set")),
      tenants_delete_(command(*tenants_, "erase")),
      backup_(command(keys, "backup")),
      prune_(command(keys, "prune")) {
  command(*tenants_, "list");
  tenants_delete_->alias("delete");
  keys.require_subcommand(0, 1);
  tenants_->require_subcommand(0, 1);
  for (CLI::App* app : commands_) app->add_flag("--json", json_);
  for (CLI::App* app : {create_, list_}) app->add_option("--tenant", tenant_)->take_last();
  create_->add_option("--name", name_)->take_last();
  create_->add_option("--expires-days", expires_days_)->take_last();
  for (CLI::App* app : {create_, limits_, tenants_set_}) bind_limits(*app);
  revoke_->add_option("key", words_)->expected(1, 1'000);
  limits_->add_option("key", words_)->expected(1, 1'000);
  for (CLI::App* app : {tenants_set_, tenants_delete_}) {
    app->add_option("tenant", words_)->expected(1, 1'000);
  }
  backup_->add_option("file", words_)->expected(1, 1'000);
  tenants_set_->add_option("--weight", weight_)->take_last();
  tenants_set_->add_option("--priority", priority_)->take_last();
  tenants_set_->add_option("--overload-status", overload_status_)->take_last();
  pool_given_ = tenants_set_->add_option("--pool", pool_)->take_last();
  models_given_ = tenants_set_->add_option("--models", models_)->take_last();
  prune_->add_option("--ended-days", ended_days_)->take_last();
}

CLI::App* KeysCommandLine::command(CLI::App& parent, const std::string& name) {
  commands_.push_back(parent.add_subcommand(name));
  return commands_.back();
}

void KeysCommandLine::bind_limits(CLI::App& app) {
  for (const LimitField& field : limit_fields()) {
    LimitFlag& flag = limit_flags_.emplace_back(LimitFlag{&app, &field, {}, nullptr});
    flag.option = app.add_option(flag_of(field), flag.text)->take_last();
  }
}

Result<void> KeysCommandLine::read_limits(KeysOptions& options) const {
  for (const LimitFlag& flag : limit_flags_) {
    if (!*flag.app || flag.option->count() == 0) continue;
    LimitNumber value;
    if (flag.text != "none") {
      ZH_ASSIGN_OR_RETURN(value, flag_number<std::uint64_t>(flag_of(*flag.field), flag.text));
      if (*value > flag.field->max) {
        return usage_error(flag_of(*flag.field) + ": " + flag.text + " is out of range (at most " +
                           std::to_string(flag.field->max) + ")");
      }
    }
    options.limits.emplace_back(flag.field, value);
  }
  return {};
}

Result<void> KeysCommandLine::read_tenant(KeysOptions& options) const {
  if (!weight_.empty()) {
    ZH_ASSIGN_OR_RETURN(options.weight, flag_number<double>("--weight", weight_));
  }
  if (!priority_.empty()) {
    ZH_ASSIGN_OR_RETURN(options.priority, priority_named(priority_));
  }
  if (!overload_status_.empty()) {
    constexpr const char* kFlag = "--overload-status";
    options.overload_status = 0;
    if (overload_status_ != "none") {
      ZH_ASSIGN_OR_RETURN(options.overload_status,
                          flag_number<std::uint16_t>(kFlag, overload_status_));
    }
  }
  if (pool_given_->count() > 0) options.pool = pool_;
  if (models_given_->count() > 0) options.models = split_commas(models_);
  return {};
}

Result<KeysOptions> KeysCommandLine::options() const {
  KeysOptions options;
  const std::pair<const CLI::App*, KeysAction> actions[] = {
      {create_, KeysAction::kCreate},
      {list_, KeysAction::kList},
      {revoke_, KeysAction::kRevoke},
      {limits_, KeysAction::kLimits},
      {tenants_set_, KeysAction::kSetTenant},
      {tenants_delete_, KeysAction::kDeleteTenant},
      {tenants_, KeysAction::kListTenants},
      {backup_, KeysAction::kBackup},
      {prune_, KeysAction::kPrune}};
  const auto chosen =
      std::ranges::find_if(actions, [](const auto& one) { return bool(*one.first); });
  if (chosen == std::end(actions)) {
    return usage_error(
        "keys: needs a command: create, list, revoke, limits, tenants, backup or prune");
  }
  options.action = chosen->second;
  options.words = words_;
  options.json = json_;
  const bool wants_words = chosen->first != create_ && chosen->first != list_ &&
                           chosen->first != tenants_ && chosen->first != prune_;
  if (wants_words && words_.empty()) {
    const std::string what = chosen->first == backup_ ? "a file"
                             : chosen->first == tenants_set_ || chosen->first == tenants_delete_
                                 ? "the name of a tenant"
                                 : "the id of a key";
    return usage_error(command_name(*chosen->first) + ": needs " + what);
  }
  // Not left to the parser, which would count the value of a misspelled flag as a second word
  // before it finds the flag.
  if (chosen->first != revoke_ && words_.size() > 1) {
    return usage_error(command_name(*chosen->first) + ": unexpected argument '" + words_[1] + "'");
  }
  if (!tenant_.empty()) options.tenant = tenant_;
  if (!name_.empty()) options.name = name_;
  if (!expires_days_.empty()) {
    ZH_ASSIGN_OR_RETURN(options.expires_days, days("--expires-days", expires_days_));
  }
  if (!ended_days_.empty()) {
    ZH_ASSIGN_OR_RETURN(options.ended_days, days("--ended-days", ended_days_));
  }
  ZH_RETURN_IF_ERROR(read_limits(options));
  ZH_RETURN_IF_ERROR(read_tenant(options));
  return options;
}

}  // namespace zerohop
