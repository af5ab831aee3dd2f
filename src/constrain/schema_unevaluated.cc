// unevaluatedProperties and unevaluatedItems, once a branch knows what has been evaluated: they
// become additionalProperties and items of a rule made for the branch.
#include <algorithm>

#include "base/check.h"
#include "constrain/schema_tableau_run.h"

namespace zerohop {
namespace {

void append_key(std::string& key, const std::string& text) {
  key += std::to_string(text.size());
  key += ':';
  key += text;
}

template <class T>
void sort_unique(std::vector<T>& all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

}  // namespace

void TableauRun::contribute(SchemaBranch& branch, std::int32_t collector, const SchemaFact& fact) {
  const SchemaRule& rule = set_.rules[fact.rule];
  SchemaCollector& to = branch.collectors[static_cast<std::size_t>(collector)];
  if (rule.kind == RuleKind::kProperties) {
    to.names.insert(to.names.end(), rule.names.begin(), rule.names.end());
    to.patterns.insert(to.patterns.end(), rule.patterns.begin(), rule.patterns.end());
    to.all |= rule.rest != kNoSchema;
  } else if (rule.kind == RuleKind::kItems) {
    to.prefix = std::max(to.prefix, static_cast<std::uint32_t>(rule.schemas.size()));
    to.all |= rule.rest != kNoSchema;
  } else if (rule.kind == RuleKind::kContains) {
    const SchemaPart& owner = set_.schemas[rule.owner];
    if (set_.resources[owner.resource].draft >= SchemaDraft::k2020) to.contains.push_back(fact);
  }
}

// From the innermost outwards: what an inner one has seen, and leaves to its keyword, is evaluated
// for the outer one too.
void TableauRun::collect(SchemaBranch& branch) {
  for (std::size_t i = branch.collectors.size(); i-- > 0 && !branch.dead;) {
    SchemaCollector collector = branch.collectors[i];
    sort_unique(collector.names);
    sort_unique(collector.patterns);
    if (collector.all) {
      branch.dead |= collector.fails;
    } else if (type_ == JsonNode::Type::kObject) {
      collect_properties(branch, collector);
    } else {
      collect_items(branch, collector);
    }
    if (collector.outer >= 0 && !collector.strict) {
      branch.collectors[static_cast<std::size_t>(collector.outer)].all = true;
    }
  }
}

void TableauRun::collect_properties(SchemaBranch& branch, const SchemaCollector& collector) {
  if (collector.strict && collector.names.empty() && collector.patterns.empty()) return;
  SchemaRule rule;
  rule.kind = RuleKind::kProperties;
  rule.keyword = "unevaluatedProperties";
  rule.owner = kAlwaysSchema;
  rule.rest = kNeverSchema;
  if (!collector.strict) {
    rule.owner = set_.rules[collector.rule].owner;
    rule.rest = set_.rules[collector.rule].schemas[0];
  }
  rule.names = collector.names;
  rule.patterns = collector.patterns;
  rule.schemas.assign(rule.names.size() + rule.patterns.size(), kAlwaysSchema);
  std::string key = "p" + std::to_string(rule.owner) + "," + std::to_string(rule.rest) + ",";
  for (const std::string& name : rule.names) append_key(key, name);
  key += '/';
  for (const std::string& pattern : rule.patterns) append_key(key, pattern);
  const auto part = static_cast<std::int32_t>(rule.schemas.size());
  const auto [found, added] =
      tableau_.synthetic_.emplace(std::move(key), static_cast<RuleId>(set_.rules.size()));
  if (added) set_.rules.push_back(std::move(rule));
  branch.facts.push_back(
      {found->second, collector.scope, collector.fails ? part : SchemaFact::kHolds});
}

void TableauRun::collect_items(SchemaBranch& branch, const SchemaCollector& collector) {
  SchemaRule rule;
  rule.kind = RuleKind::kItems;
  rule.keyword = "unevaluatedItems";
  rule.owner = set_.rules[collector.rule].owner;
  rule.rest = set_.rules[collector.rule].schemas[0];
  rule.schemas.assign(collector.prefix, kAlwaysSchema);
  std::vector<SchemaId> matched;
  for (const SchemaFact& fact : collector.contains) {
    if (fact.scope != collector.scope) {
      tableau_.work_.refuse(set_.refusal(SchemaRefusal::Kind::kUnsupported,
                                         {rule.owner, rule.keyword},
                                         "stands together with contains in another dynamic scope"));
      return;
    }
    matched.push_back(set_.rules[fact.rule].schemas[0]);
  }
  sort_unique(matched);
  std::string key = "i" + std::to_string(rule.owner) + "," + std::to_string(collector.prefix);
  for (const SchemaId schema : matched) key += "," + std::to_string(schema);
  const auto found = tableau_.synthetic_.find(key);
  RuleId id = 0;
  if (found != tableau_.synthetic_.end()) {
    id = found->second;
  } else {
    if (!matched.empty()) {
      // An item that `contains` matches is evaluated.
      SchemaRule either;
      either.kind = RuleKind::kAnyOf;
      either.keyword = "unevaluatedItems";
      either.schemas = matched;
      either.schemas.push_back(rule.rest);
      rule.rest = set_.add(rule.owner, {std::move(either)});
    }
    id = static_cast<RuleId>(set_.rules.size());
    set_.rules.push_back(std::move(rule));
    tableau_.synthetic_.emplace(std::move(key), id);
  }
  const auto part = static_cast<std::int32_t>(collector.prefix);
  branch.facts.push_back({id, collector.scope, collector.fails ? part : SchemaFact::kHolds});
}

}  // namespace zerohop
