#include "admission/key_rows.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"

namespace zerohop {
namespace {

constexpr double kWeightUnit = 1'000;
constexpr double kWeightLargest = 1'000;
constexpr std::size_t kNameBytesMax = 64;
constexpr std::size_t kKeyNameBytesMax = 128;
constexpr std::size_t kModelPatternsMax = 64;
constexpr std::size_t kModelPatternBytesMax = 256;

StoreError damaged(std::string_view what) {
  return StoreError{StoreFault::kCorrupt, "the key store holds " + std::string(what)};
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool is_name(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return !text.empty() && text.size() <= kNameBytesMax && std::ranges::all_of(text, plain);
}

bool is_pattern(std::string_view text) {
  const auto printable = [](char c) { return c >= 0x20 && c < 0x7f; };
  return !text.empty() && text.size() <= kModelPatternBytesMax &&
         std::ranges::all_of(text, printable);
}

StoreResult<void> set_limit(std::string_view name, std::int64_t value, Limits& limits) {
  const LimitField* field = find_limit(name);
  if (field == nullptr) {
    return StoreError{StoreFault::kNewer, "the key store holds the limit '" + std::string(name) +
                                              "', which this program does not know"};
  }
  if (value < 0 || static_cast<std::uint64_t>(value) > field->max) {
    return damaged("a limit out of its range");
  }
  limits.*field->member = static_cast<std::uint64_t>(value);
  return {};
}

}  // namespace

StoreResult<TenantRecord> read_tenant(const Statement& row) {
  TenantRecord tenant;
  tenant.number = TenantId{static_cast<std::uint64_t>(row.integer(0))};
  tenant.name = std::string(row.text(1));
  tenant.weight = static_cast<double>(row.integer(2)) / kWeightUnit;
  const std::int64_t priority = row.integer(3);
  tenant.pool = std::string(row.text(4));
  tenant.models = split_lines(row.text(5));
  if (priority < 0 || priority >= static_cast<std::int64_t>(kPriorityClasses)) {
    return damaged("a tenant of an unknown priority class");
  }
  tenant.priority = static_cast<PriorityClass>(priority);
  if (const auto status = row.integer_or_null(6)) {
    tenant.overload_status = static_cast<std::uint16_t>(std::clamp<std::int64_t>(*status, 0, 999));
  }
  // Whatever was written into the file by other means must not reach the queue.
  if (!check_tenant(tenant).ok()) return damaged("a tenant that cannot be");
  return tenant;
}

StoreResult<KeyRecord> read_key(const Statement& row) {
  KeyRecord key;
  key.number = KeyId{static_cast<std::uint64_t>(row.integer(0))};
  key.id = std::string(row.text(1));
  key.tenant = TenantId{static_cast<std::uint64_t>(row.integer(2))};
  key.name = std::string(row.text(3));
  key.shown = std::string(row.text(4));
  if (!read_hash(row.text(5), key.hash)) return damaged("a key whose hash is none");
  key.created_at = time_at(row, 6);
  key.expires_at = time_or_null_at(row, 7);
  key.revoked_at = time_or_null_at(row, 8);
  return key;
}

StoreResult<Limits> read_limits(Database& database, LimitPlace place) {
  Limits limits;
  ZH_ASSIGN_OR_RETURN(
      Statement row,
      database.prepare("SELECT name, value FROM limits WHERE owner = ? AND number = ?"));
  row.bind(static_cast<std::int64_t>(place.owner), place.number);
  while (true) {
    ZH_ASSIGN_OR_RETURN(const bool more, row.step());
    if (!more) return limits;
    ZH_RETURN_IF_ERROR(set_limit(row.text(0), row.integer(1), limits));
  }
}

StoreResult<AllLimits> read_all_limits(Database& database) {
  AllLimits all;
  ZH_ASSIGN_OR_RETURN(Statement row,
                      database.prepare("SELECT name, value, owner, number FROM limits"));
  while (true) {
    ZH_ASSIGN_OR_RETURN(const bool more, row.step());
    if (!more) return all;
    const LimitPlace place{static_cast<LimitRowOwner>(row.integer(2)), row.integer(3)};
    ZH_RETURN_IF_ERROR(set_limit(row.text(0), row.integer(1), all[place]));
  }
}

StoreResult<void> write_limits(Database& database, LimitPlace place, const Limits& limits) {
  const auto owner = static_cast<std::int64_t>(place.owner);
  ZH_ASSIGN_OR_RETURN(Statement old,
                      database.prepare("DELETE FROM limits WHERE owner = ? AND number = ?"));
  ZH_RETURN_IF_ERROR(old.bind(owner, place.number).run());
  ZH_ASSIGN_OR_RETURN(Statement row, database.prepare("INSERT INTO limits (owner, number, name, "
                                                      "value) VALUES (?, ?, ?, ?)"));
  for (const LimitField& field : limit_fields()) {
    const LimitNumber& value = limits.*field.member;
    if (!value) continue;
    row.bind(owner, place.number, field.name, static_cast<std::int64_t>(*value));
    ZH_RETURN_IF_ERROR(row.run());
  }
  return {};
}

std::int64_t permille_of(double weight) { return std::llround(weight * kWeightUnit); }

std::string joined(const std::vector<std::string>& models) {
  std::string text;
  for (const std::string& model : models) text += (text.empty() ? "" : "\n") + model;
  return text;
}

Result<void> check_tenant(const TenantRecord& tenant) {
  constexpr std::string_view kNameRule = "must be 1 to 64 letters, digits, '-', '_' or '.'";
  if (!is_name(tenant.name)) return invalid_request("tenant", "tenant: " + std::string(kNameRule));
  if (!tenant.pool.empty() && !is_name(tenant.pool)) {
    return invalid_request("pool", "pool: " + std::string(kNameRule));
  }
  // A comparison that is false for what is no number.
  const bool fits = tenant.weight >= 1 / kWeightUnit && tenant.weight <= kWeightLargest;
  if (!fits) return invalid_request("weight", "weight: must be 0.001 to 1000");
  if (tenant.models.size() > kModelPatternsMax || !std::ranges::all_of(tenant.models, is_pattern)) {
    return invalid_request("models",
                           "models: must be at most 64 names or patterns of at most 256 printable "
                           "ASCII characters");
  }
  if (tenant.overload_status && *tenant.overload_status != 503 && *tenant.overload_status != 529) {
    return invalid_request("overload_status", "overload_status: must be 503 or 529");
  }
  return check_limits(tenant.limits, "limits");
}

Result<void> check_key_name(std::string_view name) {
  const auto control = [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; };
  const bool plain = utf8_is_valid(name) && std::ranges::none_of(name, control);
  if (plain && name.size() <= kKeyNameBytesMax) return {};
  return invalid_request("name", "name: must be at most 128 bytes of printable text");
}

}  // namespace zerohop
