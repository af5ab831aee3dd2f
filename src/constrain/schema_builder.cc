#include "constrain/schema_builder.h"

#include <map>
#include <unordered_set>
#include <utility>

namespace zerohop {
namespace {

using Type = JsonNode::Type;

// 2^predicates goals at each place; real schemas have one or two.
constexpr std::size_t kSplitPredicatesMax = 5;

}  // namespace

SchemaBuilder::SchemaBuilder(SchemaSet& set, SchemaWork& work, const SchemaOptions& options)
    : set_(set),
      work_(work),
      options_(options),
      goals_(set, work),
      tableau_(set, goals_, work, {.strict_objects = options.strict_objects}),
      texts_(set, work),
      numbers_(set, work, options.numbers) {}

void SchemaBuilder::refuse(SchemaRefusal::Kind kind, const SchemaBlame& blame, std::string reason) {
  work_.refuse(set_.refusal(kind, blame, std::move(reason)));
}

SchemaNodeId SchemaBuilder::node(GoalId goal) {
  const auto [found, added] = nodes_.emplace(goal, static_cast<SchemaNodeId>(queue_.size()));
  if (added) queue_.push_back(goal);
  return found->second;
}

std::vector<std::vector<SchemaAlternative>> SchemaBuilder::build() {
  std::vector<std::vector<SchemaAlternative>> nodes;
  const GoalId root = goals_.goal({goals_.literal(set_.root, 0, Sign::kHolds)});
  if (root == kNoGoal) return {{}};
  node(root);
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    if (!within_limits()) break;
    nodes.push_back(alternatives(queue_[i]));
  }
  return nodes;
}

bool SchemaBuilder::within_limits() {
  const SchemaLimits& limits = options_.limits;
  if (queue_.size() > limits.nodes_max || memory_bytes() + form_bytes_ > limits.memory_max) {
    refuse(SchemaRefusal::Kind::kTooLarge, {}, "the schema amounts to too many different values");
  }
  return !work_.stopped();
}

// One value may have thousands, so the limits count here and not only between nodes.
bool SchemaBuilder::append(SchemaAlternative alternative, std::vector<SchemaAlternative>& to) {
  form_bytes_ += memory_of(alternative);
  to.push_back(std::move(alternative));
  return within_limits();
}

std::vector<SchemaAlternative> SchemaBuilder::alternatives(GoalId goal) {
  std::vector<SchemaAlternative> made;
  append_literals(goal, made);
  append_numbers(goal, made);
  append_strings(goal, made);
  for (const SchemaFacts& facts : tableau_.expand(goal, Type::kArray)) {
    if (!work_.stopped()) merge_array(*this, facts, made);
  }
  for (const SchemaFacts& facts : tableau_.expand(goal, Type::kObject)) {
    if (!work_.stopped()) merge_object(*this, facts, made);
  }
  return made;
}

void SchemaBuilder::append_literals(GoalId goal, std::vector<SchemaAlternative>& to) {
  if (!tableau_.expand(goal, Type::kNull).empty()) to.emplace_back(NullForm{});
  BooleanForm booleans;
  booleans.allows_false = !tableau_.expand(goal, Type::kFalse).empty();
  booleans.allows_true = !tableau_.expand(goal, Type::kTrue).empty();
  if (booleans.allows_false || booleans.allows_true) to.emplace_back(booleans);
}

void SchemaBuilder::append_numbers(GoalId goal, std::vector<SchemaAlternative>& to) {
  std::unordered_set<const NumberLanguage*> seen;
  for (const SchemaFacts& facts : tableau_.expand(goal, Type::kNumber)) {
    for (const NumberRule& rule : numbers_.rules(facts)) {
      // An enum is one language per value, so the limits count here and not only between nodes.
      if (!within_limits()) return;
      auto language = numbers_.language(rule, facts);
      if (language == nullptr || !seen.insert(language.get()).second) continue;
      to.emplace_back(NumberForm{std::move(language)});
    }
  }
}

SchemaBlame SchemaBuilder::blame_of(const SchemaFacts& facts, Type type) const {
  for (const SchemaFact& fact : facts) {
    const SchemaRule& rule = set_.rules[fact.rule];
    if (types_of(rule.kind) == type_bit(type)) return {rule.owner, rule.keyword};
  }
  if (facts.empty()) return {};
  return {set_.rules[facts[0].rule].owner, set_.rules[facts[0].rule].keyword};
}

// Strings are closed under union, so all branches of one length become one automaton.
void SchemaBuilder::append_strings(GoalId goal, std::vector<SchemaAlternative>& to) {
  struct Group {
    std::vector<RegexTerm> terms;
    SchemaBlame blame;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Group> groups;
  for (const SchemaFacts& facts : tableau_.expand(goal, Type::kString)) {
    const StringLanguage language = texts_.language(facts);
    Group& group = groups[{language.length.min, language.length.max}];
    group.terms.push_back(language.term);
    group.blame = blame_of(facts, Type::kString);
  }
  for (auto& [length, group] : groups) {
    const RegexTerm term = texts_.pool().either_of(std::move(group.terms));
    auto automaton = texts_.automaton({term, {length.first, length.second}}, group.blame);
    if (automaton != nullptr) to.emplace_back(StringForm{std::move(automaton)});
  }
}

RegexTerm SchemaBuilder::string_term(SchemaLiteral literal) {
  if (const auto known = string_terms_.find(literal); known != string_terms_.end()) {
    return known->second;
  }
  const GoalId goal = goals_.goal({literal});
  std::vector<RegexTerm> terms;
  if (goal != kNoGoal) {
    for (const SchemaFacts& facts : tableau_.expand(goal, Type::kString)) {
      terms.push_back(texts_.whole_term(texts_.language(facts)));
    }
  }
  const RegexTerm term = texts_.pool().either_of(std::move(terms));
  string_terms_.emplace(literal, term);
  return term;
}

std::vector<ValueChoice> SchemaBuilder::choices(const std::vector<SchemaLiteral>& literals,
                                                const std::vector<SchemaWitness>& witnesses,
                                                const SchemaBlame& blame) {
  std::uint32_t always = 0;
  std::vector<SchemaWitness> split;
  for (const SchemaWitness& witness : witnesses) {
    if (witness.predicate == kTrueLiteral) always |= 1U << witness.counter;
    if (witness.predicate > kFalseLiteral) split.push_back(witness);
  }
  if (split.size() > kSplitPredicatesMax) {
    refuse(SchemaRefusal::Kind::kTooLarge, blame, "too many conditions count the same values");
    return {};
  }
  std::vector<ValueChoice> made;
  for (std::uint32_t subset = 0; subset < (1U << split.size()); ++subset) {
    if (!work_.charge(1 + literals.size())) return {};
    std::vector<SchemaLiteral> all = literals;
    std::uint32_t hits = always;
    for (std::size_t i = 0; i < split.size(); ++i) {
      const bool hit = (subset >> i & 1U) != 0;
      all.push_back(split[i].predicate ^ (hit ? 0U : 1U));
      if (hit) hits |= 1U << split[i].counter;
    }
    const GoalId goal = goals_.goal(std::move(all));
    if (goal != kNoGoal) made.push_back({node(goal), hits});
  }
  return made;
}

}  // namespace zerohop
