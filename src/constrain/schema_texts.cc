#include "constrain/schema_texts.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/utf8.h"
#include "constrain/content_coding.h"
#include "constrain/regex_syntax.h"
#include "constrain/schema_values.h"
#include "constrain/string_formats.h"

namespace zerohop {
namespace {

constexpr std::uint32_t kUnbounded = ContentAutomaton::kUnbounded;
// A document that must hold a longer string is never written.
constexpr std::uint32_t kMinLengthMax = 1U << 20U;
// A new word as a term costs more than an elementary step.
constexpr std::size_t kStepsPerWord = 20;

// The one automaton that most strings of most schemas have. Immutable, so all threads share it.
std::shared_ptr<ContentAutomaton> any_string() {
  static const std::shared_ptr<ContentAutomaton> all = [] {
    RegexPool pool;
    auto made = ContentAutomaton::make(pool, pool.any(), {}, {});
    return made.ok() ? made.value() : nullptr;
  }();
  return all;
}

// The formats of the drafts. One of these that is not enforced would be a promise broken.
bool is_registered_format(std::string_view name) {
  static constexpr std::string_view kNames[] = {"date-time",
                                                "date",
                                                "time",
                                                "duration",
                                                "email",
                                                "idn-email",
                                                "hostname",
                                                "idn-hostname",
                                                "ipv4",
                                                "ipv6",
                                                "uri",
                                                "uri-reference",
                                                "iri",
                                                "iri-reference",
                                                "uuid",
                                                "regex",
                                                "uri-template",
                                                "json-pointer",
                                                "relative-json-pointer"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace

std::size_t json_string_bytes(std::u32string_view text) {
  return 2 + encode_content(text, TextCoding::kJsonCanonical).size();
}

SchemaTexts::SchemaTexts(SchemaSet& set, SchemaWork& work) : set_(set), work_(work) {}

RegexTerm SchemaTexts::pattern(const std::string& text, const SchemaBlame& blame) {
  if (const auto known = patterns_.find(text); known != patterns_.end()) return known->second;
  if (!work_.charge(1 + text.size())) return pool_.any();
  const Result<RegexTerm> made = parse_ecma_pattern(pool_, text);
  if (!made.ok()) {
    work_.refuse(set_.refusal(SchemaRefusal::Kind::kUnsupported, blame, made.error().message));
    return pool_.any();
  }
  patterns_.emplace(text, made.value());
  return made.value();
}

RegexTerm SchemaTexts::format(const std::string& name, const SchemaBlame& blame) {
  if (const auto made = formats_.find(name); made != formats_.end()) return made->second;
  const std::optional<RegexTerm> known = format_language(pool_, name);
  if (!known && is_registered_format(name)) {
    work_.refuse(set_.refusal(SchemaRefusal::Kind::kUnsupported, blame,
                              "the format " + name + " cannot be enforced"));
  }
  // A format that JSON Schema does not know is an annotation, as int32 and color are.
  const RegexTerm term = known.value_or(pool_.any());
  formats_.emplace(name, term);
  return term;
}

std::optional<std::vector<std::string>> SchemaTexts::listed(const SchemaFacts& facts) const {
  std::vector<const std::vector<std::string>*> enums;
  for (const SchemaFact& fact : facts) {
    const SchemaRule& rule = set_.rules[fact.rule];
    if (rule.kind != RuleKind::kValues || fact.part != SchemaFact::kHolds) continue;
    enums.push_back(&rule.values->strings);
  }
  if (enums.empty()) return std::nullopt;
  return common_values(work_, enums);
}

RegexTerm SchemaTexts::word(const std::string& text) {
  const auto [found, added] = words_.emplace(text, 0);
  if (added) {
    work_.charge(kStepsPerWord);
    found->second = pool_.text(utf8_decode(text));
  }
  return found->second;
}

RegexTerm SchemaTexts::fact_term(const SchemaFact& fact) {
  const SchemaRule& rule = set_.rules[fact.rule];
  RegexTerm term = pool_.any();
  if (rule.kind == RuleKind::kPattern) {
    term = pattern(rule.text, {rule.owner, rule.keyword});
  } else if (rule.kind == RuleKind::kFormat) {
    term = format(rule.text, {rule.owner, rule.keyword});
    const bool negated = fact.part != SchemaFact::kHolds && is_registered_format(rule.text);
    if (negated && !format_is_exact(rule.text)) {
      work_.refuse(set_.refusal(SchemaRefusal::Kind::kUnsupported, {rule.owner, "format"},
                                "the opposite of the format " + rule.text + " cannot be enforced"));
    }
  } else if (rule.kind == RuleKind::kValues && fact.part != SchemaFact::kHolds) {
    std::vector<RegexTerm> words;
    for (const std::string& text : rule.values->strings) {
      words.push_back(word(text));
    }
    term = pool_.either_of(std::move(words));
  } else {
    return term;
  }
  return fact.part == SchemaFact::kHolds ? term : pool_.complement(term);
}

StringLanguage SchemaTexts::language(const SchemaFacts& facts) {
  CountRange length;
  SchemaBlame longest;  // who asks for the most characters
  std::vector<RegexTerm> terms;
  for (const SchemaFact& fact : facts) {
    const SchemaRule& rule = set_.rules[fact.rule];
    const std::uint64_t least = length.least;
    const bool counts = length.apply(rule, fact.part == SchemaFact::kHolds);
    if (!counts) terms.push_back(fact_term(fact));
    if (length.least > least) longest = {rule.owner, rule.keyword};
  }
  if (length.empty()) return {pool_.nothing(), {}};
  if (const auto strings = listed(facts)) {
    std::vector<RegexTerm> words;
    for (const std::string& text : *strings) {
      if (!work_.charge()) break;
      const std::size_t characters = utf8_characters(text);
      if (characters < length.least || characters > length.most) continue;
      words.push_back(word(text));
    }
    terms.push_back(pool_.either_of(std::move(words)));
    length = {};
  }
  if (length.least > kMinLengthMax) {
    work_.refuse(set_.refusal(SchemaRefusal::Kind::kTooLarge, longest, "is too large"));
    return {pool_.nothing(), {}};
  }
  return {pool_.both_of(std::move(terms)),
          {static_cast<std::uint32_t>(length.least), static_cast<std::uint32_t>(length.most)}};
}

RegexTerm SchemaTexts::whole_term(const StringLanguage& language) {
  if (language.length.min == 0 && language.length.max == kUnbounded) return language.term;
  const RegexTerm any = pool_.one_of(CodePointSet::all());
  return pool_.both(language.term, pool_.repeat(any, language.length.min, language.length.max));
}

RegexTerm SchemaTexts::none_of(const std::vector<std::u32string>& names) {
  std::vector<RegexTerm> words;
  for (const std::u32string& name : names) words.push_back(pool_.text(name));
  return pool_.complement(pool_.either_of(std::move(words)));
}

bool SchemaTexts::contains(RegexTerm term, std::u32string_view word) {
  if (term == pool_.any()) return true;
  for (const char32_t point : word) {
    if (!work_.charge(4)) return false;
    std::optional<RegexTerm> next;
    for (const auto& [set, derivative] : pool_.live_derivatives(term)) {
      if (!pool_.set(set).contains(point)) continue;
      next = derivative;
      break;
    }
    if (!next) return false;
    term = *next;
  }
  return pool_.nullable(term);
}

std::shared_ptr<ContentAutomaton> SchemaTexts::automaton(const StringLanguage& language,
                                                         const SchemaBlame& blame) {
  if (pool_.exhausted()) {
    work_.refuse(set_.refusal(SchemaRefusal::Kind::kTooLarge, blame,
                              "the strings of this schema are too many"));
  }
  // An automaton costs far more than an elementary step.
  constexpr std::size_t kStepsEach = 100;
  if (!work_.charge(kStepsEach) || language.term == pool_.nothing()) return nullptr;
  const RegexPool::Counted split = pool_.split_length(language.term);
  const ContentAutomaton::Length length{std::max(split.min, language.length.min),
                                        std::min(split.max, language.length.max)};
  if (length.min > length.max) return nullptr;
  if (split.rest == pool_.any() && length.min == 0 && length.max == kUnbounded) {
    return any_string();
  }
  const Key key{split.rest, length.min, length.max};
  if (const auto known = automata_.find(key); known != automata_.end()) return known->second;
  auto made = ContentAutomaton::make(pool_, split.rest, length, {});
  if (!made.ok() || pool_.exhausted()) {
    work_.refuse(set_.refusal(SchemaRefusal::Kind::kTooLarge, blame,
                              made.ok() ? "needs too many states" : made.error().message));
    return nullptr;
  }
  std::shared_ptr<ContentAutomaton> automaton = std::move(made.value());
  memory_bytes_ += automaton->memory_bytes();
  constexpr std::size_t kStepsPerState = 10;
  work_.charge(kStepsPerState * automaton->states());
  if (automaton->empty()) automaton = nullptr;
  automata_.emplace(key, automaton);
  return automaton;
}

}  // namespace zerohop
