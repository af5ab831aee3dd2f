#include "constrain/schema_objects.h"

#include <algorithm>

#include "base/utf8.h"

namespace zerohop {
namespace {

constexpr std::size_t kCountersMax = 8;
constexpr std::size_t kTermsMax = 24;
constexpr std::size_t kSplitsMax = 256;
constexpr std::size_t kStepsPerName = 8;

}  // namespace

std::uint32_t ObjectMerge::declare(const std::string& name) {
  const auto [found, added] = name_index_.emplace(name, static_cast<std::uint32_t>(names_.size()));
  if (added) {
    names_.push_back(Name{name, utf8_decode(name), {}, {}, {}});
    presence_.push_back(Presence::kFree);
  }
  return found->second;
}

std::size_t ObjectMerge::add_term(RegexTerm term) {
  const auto known = std::find(terms_.begin(), terms_.end(), term);
  if (known != terms_.end()) return static_cast<std::size_t>(known - terms_.begin());
  terms_.push_back(term);
  return terms_.size() - 1;
}

std::size_t ObjectMerge::term_of(const std::string& pattern, const SchemaRule& rule) {
  const bool ordinary = rule.keyword == "properties";
  const std::string_view keyword = ordinary ? "patternProperties" : rule.keyword;
  return add_term(builder_.texts().pattern(pattern, {rule.owner, keyword}));
}

void ObjectMerge::demand(std::uint32_t name, Presence presence) {
  Presence& now = presence_[name];
  if (now == Presence::kFree) now = presence;
  dead_ |= now != presence;
}

// Declared names come in the order of `properties`, whatever else mentions them.
void ObjectMerge::declare_properties() {
  for (const SchemaFact& fact : facts_) {
    const SchemaRule& rule = set_.rules[fact.rule];
    if (rule.kind != RuleKind::kProperties) continue;
    const auto part = static_cast<std::size_t>(std::max(fact.part, 0));
    if (fact.part != SchemaFact::kHolds && part < rule.names.size()) {
      declare(rule.names[part]);
      continue;
    }
    if (!builder_.work().charge(kStepsPerName * rule.names.size())) return;
    for (const std::string& name : rule.names) declare(name);
  }
}

void ObjectMerge::read(const SchemaFact& fact) {
  const SchemaRule& rule = set_.rules[fact.rule];
  const bool holds = fact.part == SchemaFact::kHolds;
  const auto part = static_cast<std::size_t>(std::max(fact.part, 0));
  blame_ = {rule.owner, rule.keyword};
  switch (rule.kind) {
    case RuleKind::kMinProperties:
    case RuleKind::kMaxProperties: count_.apply(rule, holds); return;
    case RuleKind::kRequired:
      if (!holds) return demand(declare(rule.names[part]), Presence::kForbidden);
      for (const std::string& name : rule.names) demand(declare(name), Presence::kRequired);
      return;
    case RuleKind::kNeeds: {
      const std::uint32_t name = declare(rule.text);
      if (!holds) {
        demand(name, Presence::kRequired);
        return demand(declare(rule.names[part]), Presence::kForbidden);
      }
      for (const std::string& needed : rule.names) needs_.push_back({name, declare(needed)});
      return;
    }
    case RuleKind::kDependentSchema:
      return demand(declare(rule.text),
                    fact.part == SchemaFact::kAbsent ? Presence::kForbidden : Presence::kRequired);
    case RuleKind::kProperties: {
      if (!holds) return read_failing_property(rule, fact);
      Properties& properties = properties_.emplace_back();
      properties.rule = &rule;
      properties.scope = fact.scope;
      for (std::size_t i = 0; i < rule.names.size(); ++i) {
        properties.index.emplace(rule.names[i], i);
      }
      for (const std::string& pattern : rule.patterns) {
        properties.terms.push_back(term_of(pattern, rule));
      }
      return;
    }
    case RuleKind::kPropertyNames: {
      const RegexTerm term =
          builder_.string_term(literal(rule.schemas[0], fact.scope, Sign::kHolds));
      if (holds) {
        name_terms_.push_back(term);
      } else {
        add_exists({kTrueLiteral, {add_term(term)}, {}, nullptr});
      }
      return;
    }
    default: return;
  }
}

void ObjectMerge::read_failing_property(const SchemaRule& rule, const SchemaFact& fact) {
  const auto part = static_cast<std::size_t>(fact.part);
  if (part < rule.names.size()) {
    const std::uint32_t name = declare(rule.names[part]);
    demand(name, Presence::kRequired);
    names_[name].literals.push_back(literal(rule.schemas[part], fact.scope, Sign::kFails));
  } else if (part < rule.schemas.size()) {
    const std::string& pattern = rule.patterns[part - rule.names.size()];
    add_exists({literal(rule.schemas[part], fact.scope, Sign::kFails),
                {},
                {term_of(pattern, rule)},
                nullptr});
  } else {
    Exists exists{literal(rule.rest, fact.scope, Sign::kFails), {}, {}, &rule};
    for (const std::string& pattern : rule.patterns) {
      exists.outside.push_back(term_of(pattern, rule));
    }
    add_exists(std::move(exists));
  }
}

void ObjectMerge::add_exists(Exists exists) {
  dead_ |= exists.predicate == kFalseLiteral;
  exists_.push_back(std::move(exists));
}

bool ObjectMerge::in_domain(const Exists& exists, const std::vector<bool>& matches,
                            const std::string* name) const {
  const bool out = std::any_of(exists.outside.begin(), exists.outside.end(),
                               [&](std::size_t term) { return matches[term]; });
  const bool in = std::all_of(exists.inside.begin(), exists.inside.end(),
                              [&](std::size_t term) { return matches[term]; });
  if (out || !in) return false;
  if (exists.except == nullptr || name == nullptr) return true;
  const auto& names = exists.except->names;
  return std::find(names.begin(), names.end(), *name) == names.end();
}

std::vector<SchemaWitness> ObjectMerge::witnesses(const std::vector<bool>& matches,
                                                  const std::string* name) const {
  std::vector<SchemaWitness> found;
  for (std::size_t i = 0; i < exists_.size(); ++i) {
    if (!in_domain(exists_[i], matches, name)) continue;
    found.push_back({exists_[i].predicate, static_cast<std::uint32_t>(i)});
  }
  return found;
}

void ObjectMerge::append_literals(const std::vector<bool>& matches, const std::string* name,
                                  std::vector<SchemaLiteral>& to) {
  for (const Properties& properties : properties_) {
    const SchemaRule& rule = *properties.rule;
    bool evaluated = false;
    if (name != nullptr) {
      const auto found = properties.index.find(*name);
      evaluated = found != properties.index.end();
      if (evaluated) {
        to.push_back(literal(rule.schemas[found->second], properties.scope, Sign::kHolds));
      }
    }
    for (std::size_t i = 0; i < properties.terms.size(); ++i) {
      if (!matches[properties.terms[i]]) continue;
      evaluated = true;
      to.push_back(literal(rule.schemas[rule.names.size() + i], properties.scope, Sign::kHolds));
    }
    if (!evaluated && rule.rest != kNoSchema) {
      to.push_back(literal(rule.rest, properties.scope, Sign::kHolds));
    }
  }
}

void ObjectMerge::fill_declared() {
  SchemaTexts& texts = builder_.texts();
  for (std::uint32_t i = 0; i < names_.size() && !builder_.work().stopped(); ++i) {
    Name& name = names_[i];
    builder_.work().charge(1 + properties_.size());
    for (const RegexTerm term : terms_) name.matches.push_back(texts.contains(term, name.word));
    const bool named = std::all_of(name_terms_.begin(), name_terms_.end(),
                                   [&](RegexTerm term) { return texts.contains(term, name.word); });
    if (!named) demand(i, Presence::kForbidden);
    if (presence_[i] == Presence::kForbidden) continue;
    append_literals(name.matches, &name.text, name.literals);
    name.value = builder_.choices(name.literals, witnesses(name.matches, &name.text), blame_);
    if (name.value.empty()) demand(i, Presence::kForbidden);
  }
}

// Names by the patterns that they match; `matches` of the terms in front of `term` are decided.
void ObjectMerge::split_class(std::size_t term, std::vector<bool>& matches,
                              std::vector<RegexTerm>& terms) {
  if (!builder_.work().charge(8)) return;
  if (term == terms_.size()) return finish_class(matches, terms);
  constexpr std::size_t kUnchecked = 2;
  RegexPool& pool = builder_.texts().pool();
  if (term >= kUnchecked) {
    const RegexTerm so_far = pool.both_of(terms);
    if (builder_.texts().automaton({so_far, {}}, blame_) == nullptr) return;
  }
  for (const bool match : {true, false}) {
    matches[term] = match;
    terms.push_back(match ? terms_[term] : pool.complement(terms_[term]));
    split_class(term + 1, matches, terms);
    terms.pop_back();
  }
}

void ObjectMerge::finish_class(const std::vector<bool>& matches, std::vector<RegexTerm> terms) {
  std::vector<SchemaLiteral> literals;
  append_literals(matches, nullptr, literals);
  if (builder_.goals().goal(literals) == kNoGoal) return;
  // Only names of the same class need be taken out of it.
  std::vector<std::u32string> taken;
  for (const Name& name : names_) {
    if (name.matches == matches || name.matches.empty()) taken.push_back(name.word);
  }
  if (!taken.empty()) terms.push_back(builder_.texts().none_of(taken));
  const RegexTerm term = builder_.texts().pool().both_of(std::move(terms));
  auto automaton = builder_.texts().automaton({term, {}}, blame_);
  if (automaton == nullptr) return;
  auto value = builder_.choices(literals, witnesses(matches, nullptr), blame_);
  if (value.empty()) return;
  others_.push_back({std::move(automaton), std::move(value)});
  if (others_.size() > kSplitsMax) {
    builder_.refuse(SchemaRefusal::Kind::kTooLarge, blame_, "too many kinds of property names");
  }
}

void ObjectMerge::fill_others() {
  std::vector<bool> matches(terms_.size(), false);
  std::vector<RegexTerm> terms = name_terms_;
  split_class(0, matches, terms);
}

bool ObjectMerge::settle(std::vector<Presence>& presence) const {
  for (bool changed = true; changed;) {
    changed = false;
    if (!builder_.work().charge(1 + needs_.size())) return false;
    for (const Need& need : needs_) {
      Presence& name = presence[need.name];
      Presence& needed = presence[need.needed];
      if (name == Presence::kRequired && needed != Presence::kRequired) {
        if (needed == Presence::kForbidden) return false;
        needed = Presence::kRequired;
        changed = true;
      }
      if (needed == Presence::kForbidden && name == Presence::kFree) {
        name = Presence::kForbidden;
        changed = true;
      }
    }
  }
  return true;
}

// Counting and `needs` together are hard to follow from left to right, so there every property that
// needs another one is decided: it is there, or it is not.
void ObjectMerge::emit(std::vector<Presence> presence, std::vector<SchemaAlternative>& to) {
  if (!settle(presence)) return;
  const auto required =
      static_cast<std::uint64_t>(std::count(presence.begin(), presence.end(), Presence::kRequired));
  if (required > count_.most) return;
  const bool counts = !exists_.empty() || count_.least > required || count_.most != kNoBound;
  for (const Need& need : needs_) {
    if (!counts || presence[need.name] != Presence::kFree) continue;
    if (!builder_.work().charge(kStepsPerName * presence.size())) return;
    std::vector<Presence> with = presence;
    with[need.name] = Presence::kRequired;
    emit(std::move(with), to);
    presence[need.name] = Presence::kForbidden;
    return emit(std::move(presence), to);
  }
  if (!builder_.work().charge(kStepsPerName * presence.size())) return;
  builder_.append(assemble(presence), to);
}

ObjectForm ObjectMerge::assemble(const std::vector<Presence>& presence) const {
  ObjectForm form;
  std::vector<std::uint32_t> place(names_.size(), kNoBound);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (presence[i] == Presence::kForbidden) continue;
    place[i] = static_cast<std::uint32_t>(form.declared.size());
    form.declared.push_back(
        {names_[i].text, names_[i].value, presence[i] == Presence::kRequired, {}});
  }
  for (const Need& need : needs_) {
    if (presence[need.name] != Presence::kFree) continue;
    auto& needs = form.declared[place[need.name]].needs;
    const bool known = std::find(needs.begin(), needs.end(), place[need.needed]) != needs.end();
    if (!known && need.name != need.needed) needs.push_back(place[need.needed]);
  }
  form.others = others_;
  form.properties_min = static_cast<std::uint32_t>(count_.least);
  form.properties_max = static_cast<std::uint32_t>(std::min<std::uint64_t>(count_.most, kNoBound));
  form.counters.assign(exists_.size(), FormCounter{1, kNoBound});
  return form;
}

void ObjectMerge::run(std::vector<SchemaAlternative>& to) {
  declare_properties();
  for (const SchemaFact& fact : facts_) read(fact);
  // A way to the end names all that are missing, anew at each of them.
  constexpr std::uint64_t kPropertiesMinMax = 32;
  if (exists_.size() > kCountersMax || terms_.size() > kTermsMax ||
      count_.least > kPropertiesMinMax) {
    return builder_.refuse(SchemaRefusal::Kind::kTooLarge, blame_,
                           "too many conditions on the properties");
  }
  if (dead_ || count_.empty() || builder_.work().stopped()) return;
  fill_declared();
  if (dead_ || builder_.work().stopped()) return;
  if (count_.most > 0) fill_others();
  if (!builder_.work().stopped()) emit(presence_, to);
}

void merge_object(SchemaBuilder& builder, const SchemaFacts& facts,
                  std::vector<SchemaAlternative>& to) {
  ObjectMerge(builder, facts).run(to);
}

}  // namespace zerohop
