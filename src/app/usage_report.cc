#include "app/usage_report.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <utility>

#include "base/whole_number.h"

namespace zerohop {
namespace {

namespace json = boost::json;

constexpr std::string_view kLabelPrefix = "label:";
constexpr std::string_view kTenantNumber = "tenant_number";

std::optional<int> digits(std::string_view text) {
  return text.starts_with('-') ? std::nullopt : whole_number<int>(text);
}

Result<std::chrono::sys_days> day_of(const std::string& field, std::string_view text) {
  const Error bad =
      invalid_request(field, "'" + std::string(text) + "' is no day such as 2026-01-31");
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return bad;
  const auto year = digits(text.substr(0, 4));
  const auto month = digits(text.substr(5, 2));
  const auto day = digits(text.substr(8, 2));
  if (!year || !month || !day) return bad;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  // What a WallTime holds; nobody's usage is older or newer.
  if (!date.ok() || *year < 1970 || *year > 2200) return bad;
  return std::chrono::sys_days(date);
}

Result<LedgerGrouping> grouping_of(std::string_view text) {
  LedgerGrouping by;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word == "day") {
      by.day = true;
    } else if (word == "tenant") {
      by.tenant = true;
    } else if (word == "key") {
      by.key = true;
    } else if (word == "model") {
      by.model = true;
    } else if (word.starts_with(kLabelPrefix) && word.size() > kLabelPrefix.size()) {
      by.labels.emplace_back(word.substr(kLabelPrefix.size()));
    } else {
      return invalid_request(
          "by", "'" + std::string(word) + "' is none of day, tenant, key, model, label:NAME");
    }
  }
  return by;
}

// The columns by which sums are kept apart.
struct TextColumn {
  std::string_view name;
  bool LedgerGrouping::*wanted;
  std::string LedgerSum::*text;
};
constexpr std::array<TextColumn, 4> kTextColumns{{
    {"day", &LedgerGrouping::day, &LedgerSum::day},
    {"tenant", &LedgerGrouping::tenant, &LedgerSum::tenant},
    {"key", &LedgerGrouping::key, &LedgerSum::key},
    {"model", &LedgerGrouping::model, &LedgerSum::model},
}};

struct NumberColumn {
  std::string_view name;
  std::uint64_t (*number)(const LedgerSum& sum);
};
constexpr std::array<NumberColumn, 5> kNumberColumns{{
    {"requests", [](const LedgerSum& sum) { return sum.requests; }},
    {"uncached_input_tokens", [](const LedgerSum& sum) { return sum.tokens.uncached_input; }},
    {"cached_input_tokens", [](const LedgerSum& sum) { return sum.tokens.cached_input; }},
    {"output_tokens", [](const LedgerSum& sum) { return sum.tokens.output; }},
    {"money_micros", [](const LedgerSum& sum) { return sum.money_micros; }},
}};

void append_field(std::string_view field, std::string& line) {
  if (field.find_first_of(",\"\r\n") == field.npos) {
    line.append(field);
    return;
  }
  line += '"';
  for (const char c : field) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

}  // namespace

Result<LedgerQuery> usage_query(const UsageOptions& options) {
  LedgerQuery query;
  ZH_ASSIGN_OR_RETURN(query.by, grouping_of(options.by));
  if (!options.key.empty()) query.key = options.key;
  if (!options.tenant.empty()) query.tenant = options.tenant;
  if (!options.from.empty()) {
    ZH_ASSIGN_OR_RETURN(query.from, day_of("from", options.from));
  }
  if (!options.until.empty()) {
    ZH_ASSIGN_OR_RETURN(const std::chrono::sys_days last, day_of("until", options.until));
    query.until = last + std::chrono::days(1);
  }
  return query;
}

std::string usage_csv(const LedgerGrouping& by, const std::vector<LedgerSum>& sums) {
  std::string text;
  std::string line;
  const auto add = [&line](std::string_view field) {
    append_field(field, line);
    line += ',';
  };
  const auto end_line = [&text, &line] {
    line.pop_back();  // the comma behind the last field
    text += line + "\r\n";
    line.clear();
  };
  for (const TextColumn& column : kTextColumns) {
    if (by.*column.wanted) add(column.name);
  }
  if (by.tenant) add(kTenantNumber);
  for (const std::string& name : by.labels) add(name);
  for (const NumberColumn& column : kNumberColumns) add(column.name);
  end_line();
  for (const LedgerSum& sum : sums) {
    for (const TextColumn& column : kTextColumns) {
      if (by.*column.wanted) add(sum.*column.text);
    }
    if (by.tenant) add(std::to_string(sum.tenant_number.value));
    for (const std::string& value : sum.labels) add(value);
    for (const NumberColumn& column : kNumberColumns) add(std::to_string(column.number(sum)));
    end_line();
  }
  return text;
}

std::string usage_json(const LedgerGrouping& by, const std::vector<LedgerSum>& sums) {
  json::array rows;
  for (const LedgerSum& sum : sums) {
    json::object row;
    for (const TextColumn& column : kTextColumns) {
      if (by.*column.wanted) row[column.name] = sum.*column.text;
    }
    if (by.tenant) row[kTenantNumber] = sum.tenant_number.value;
    if (!by.labels.empty()) {
      json::object labels;
      for (std::size_t i = 0; i < by.labels.size(); ++i) labels[by.labels[i]] = sum.labels[i];
      row["labels"] = std::move(labels);
    }
    for (const NumberColumn& column : kNumberColumns) row[column.name] = column.number(sum);
    rows.push_back(std::move(row));
  }
  json::object all;
  all["usage"] = std::move(rows);
  return json::serialize(all) + "\n";
}

}  // namespace zerohop
