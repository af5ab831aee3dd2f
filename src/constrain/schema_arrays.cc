// The facts about an array, merged: what may stand at each place, how many places there are, and
// what is counted.
#include <algorithm>
#include <limits>

#include "constrain/schema_builder.h"

namespace zerohop {
namespace {

constexpr std::size_t kCountersMax = 32;
// A document that must hold more items is never written; more are allowed, of course.
constexpr std::uint32_t kItemsMinMax = 1U << 20U;

// Values from place `from` on that satisfy `predicate` are counted.
struct Counted {
  SchemaLiteral predicate = kTrueLiteral;
  std::size_t from = 0;
  FormCounter counter;
};

class ArrayMerge {
 public:
  ArrayMerge(SchemaBuilder& builder, const SchemaFacts& facts)
      : builder_(builder), set_(builder.set()), facts_(facts) {}

  void run(std::vector<SchemaAlternative>& to) {
    for (const SchemaFact& fact : facts_) read(fact);
    if (dead_ || length_.empty()) return;
    if (length_.least > kItemsMinMax) {
      return builder_.refuse(SchemaRefusal::Kind::kTooLarge, blame_, "asks for too many items");
    }
    if (counted_.size() > kCountersMax) {
      return builder_.refuse(SchemaRefusal::Kind::kTooLarge, blame_, "too many conditions count");
    }
    for (const Counted& counted : counted_) {
      places_ = std::max(places_, counted.from);
      form_.counters.push_back(counted.counter);
    }
    fill();
    if (builder_.work().stopped()) return;
    form_.items_min = static_cast<std::uint32_t>(length_.least);
    form_.items_max = static_cast<std::uint32_t>(std::min<std::uint64_t>(length_.most, kNoBound));
    form_.unique = unique_ && form_.items_max > 1;
    builder_.append(std::move(form_), to);
  }

 private:
  SchemaLiteral literal(SchemaId schema, const SchemaFact& fact, Sign sign) {
    return builder_.goals().literal(schema, fact.scope, sign);
  }

  void read(const SchemaFact& fact) {
    const SchemaRule& rule = set_.rules[fact.rule];
    blame_ = {rule.owner, rule.keyword};
    const bool holds = fact.part == SchemaFact::kHolds;
    switch (rule.kind) {
      case RuleKind::kMinItems:
      case RuleKind::kMaxItems: length_.apply(rule, holds); return;
      case RuleKind::kUniqueItems:
        unique_ |= holds;
        form_.unique_rule = fact.rule;
        if (!holds) {
          builder_.refuse(SchemaRefusal::Kind::kUnsupported, blame_,
                          "that items repeat cannot be demanded");
        }
        return;
      case RuleKind::kContains: return read_contains(rule, fact);
      case RuleKind::kItems: return holds ? read_items(rule, fact) : read_failing_item(rule, fact);
      default: return;
    }
  }

  void read_contains(const SchemaRule& rule, const SchemaFact& fact) {
    Counted counted;
    counted.predicate = literal(rule.schemas[0], fact, Sign::kHolds);
    counted.counter = {rule.least, rule.most};
    if (fact.part == 0 && rule.least == 0) dead_ = true;
    if (fact.part == 0 && rule.least > 0) counted.counter = {0, rule.least - 1};
    if (fact.part == 1) counted.counter = {rule.most + 1, kNoBound};
    add_counted(counted);
  }

  void add_counted(const Counted& counted) {
    const FormCounter& counter = counted.counter;
    if (counter.min > counter.max) dead_ = true;
    if (counter.min == 0 && counter.max == kNoBound) return;
    if (counted.predicate == kFalseLiteral) {
      dead_ |= counter.min > 0;
    } else if (counter.max == 0 && counted.predicate != kTrueLiteral) {
      everywhere_.push_back({counted.predicate ^ 1U, counted.from});
    } else if (counted.predicate == kTrueLiteral) {
      if (counter.min > 0) length_.at_least(counter.min + counted.from);
      if (counter.max != kNoBound) length_.at_most(counter.max + counted.from);
    } else {
      length_.at_least(counter.min + (counter.min > 0 ? counted.from : 0));
      counted_.push_back(counted);
    }
  }

  void read_items(const SchemaRule& rule, const SchemaFact& fact) {
    places_ = std::max(places_, rule.schemas.size());
    if (prefix_.size() < rule.schemas.size()) prefix_.resize(rule.schemas.size());
    for (std::size_t i = 0; i < rule.schemas.size(); ++i) {
      prefix_[i].push_back(literal(rule.schemas[i], fact, Sign::kHolds));
    }
    if (rule.rest == kNoSchema) return;
    everywhere_.push_back({literal(rule.rest, fact, Sign::kHolds), rule.schemas.size()});
  }

  void read_failing_item(const SchemaRule& rule, const SchemaFact& fact) {
    const auto part = static_cast<std::size_t>(fact.part);
    if (part < rule.schemas.size()) {
      places_ = std::max(places_, part + 1);
      if (prefix_.size() <= part) prefix_.resize(part + 1);
      prefix_[part].push_back(literal(rule.schemas[part], fact, Sign::kFails));
      length_.at_least(part + 1);
      return;
    }
    add_counted({literal(rule.rest, fact, Sign::kFails), rule.schemas.size(), {1, kNoBound}});
  }

  std::vector<ValueChoice> place(std::size_t index) {
    std::vector<SchemaLiteral> literals;
    if (index < prefix_.size()) literals = prefix_[index];
    for (const auto& [each, from] : everywhere_) {
      if (index >= from) literals.push_back(each);
    }
    std::vector<SchemaWitness> witnesses;
    for (std::size_t i = 0; i < counted_.size(); ++i) {
      if (index < counted_[i].from) continue;
      witnesses.push_back({counted_[i].predicate, static_cast<std::uint32_t>(i)});
    }
    return builder_.choices(literals, witnesses, blame_);
  }

  void fill() {
    for (const auto& [each, from] : everywhere_) {
      if (each == kFalseLiteral) length_.at_most(from);
      places_ = std::max(places_, from);
    }
    places_ = static_cast<std::size_t>(std::min<std::uint64_t>(places_, length_.most));
    for (std::size_t i = 0; i < places_ && !builder_.work().stopped(); ++i) {
      form_.prefix.push_back(place(i));
    }
    if (length_.most > places_) form_.rest = place(std::numeric_limits<std::size_t>::max());
  }

  SchemaBuilder& builder_;
  SchemaSet& set_;
  const SchemaFacts& facts_;
  SchemaBlame blame_;
  bool dead_ = false;
  bool unique_ = false;
  CountRange length_;
  std::size_t places_ = 0;  // that differ from those behind them
  std::vector<std::vector<SchemaLiteral>> prefix_;
  std::vector<std::pair<SchemaLiteral, std::size_t>> everywhere_;  // from that place on
  std::vector<Counted> counted_;
  ArrayForm form_;
};

}  // namespace

void merge_array(SchemaBuilder& builder, const SchemaFacts& facts,
                 std::vector<SchemaAlternative>& to) {
  ArrayMerge(builder, facts).run(to);
}

}  // namespace zerohop
