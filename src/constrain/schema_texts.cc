#include "constrain/schema_texts.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "constrain/content_coding.h"
#include "constrain/regex_syntax.h"
#include "constrain/string_formats.h"

namespace zerohop {
namespace {

constexpr std::uint32_t kUnbounded = ContentAutomaton::kUnbounded;
// A document that must hold a longer string is never written.
constexpr std::uint32_t kMinLengthMax = 1U << 20U;

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

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  }));
}

}  // namespace

std::size_t json_string_bytes(std::u32string_view text) {
  std::size_t bytes = 2;
  for (const char32_t point : text) {
    const bool short_escape = point == U'"' || point == U'\\' || point == U'\b' || point == U'\f' ||
                              point == U'\n' || point == U'\r' || point == U'\t';
    if (short_escape) {
      bytes += 2;
    } else if (point < 0x20) {
      bytes += 6;
    } else {
      bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    }
  }
  return bytes;
}

SchemaTexts::SchemaTexts(SchemaSet& set, SchemaWork& work) : set_(set), work_(work) {}

RegexTerm SchemaTexts::pattern(const std::string& text, const SchemaBlame& blame) {
  if (const auto known = patterns_.find(text); known != patterns_.end()) return known->second;
  if (!work_.charge(1 + text.size())) return pool_.any();
  const Result<RegexTerm> made = parse_ecma_pattern(pool_, text);
  if (!made.ok()) {
    work_.refuse({SchemaRefusal::Kind::kUnsupported, set_.pointer(blame.schema),
                  std::string(blame.keyword), made.error().message});
    return pool_.any();
  }
  patterns_.emplace(text, made.value());
  return made.value();
}

RegexTerm SchemaTexts::format(const std::string& name, const SchemaBlame& blame) {
  if (const auto made = formats_.find(name); made != formats_.end()) return made->second;
  const std::optional<RegexTerm> known = format_language(pool_, name);
  if (!known && is_registered_format(name)) {
    work_.refuse({SchemaRefusal::Kind::kUnsupported, set_.pointer(blame.schema),
                  std::string(blame.keyword), "the format " + name + " cannot be enforced"});
  }
  // A format that JSON Schema does not know is an annotation, as int32 and color are.
  const RegexTerm term = known.value_or(pool_.any());
  formats_.emplace(name, term);
  return term;
}

bool SchemaTexts::listed(const SchemaFacts& facts, std::vector<std::string>& strings) const {
  bool some = false;
  for (const SchemaFact& fact : facts) {
    const SchemaRule& rule = set_.rules[fact.rule];
    if (rule.kind != RuleKind::kValues || fact.part != SchemaFact::kHolds) continue;
    const std::vector<std::string>& allowed = rule.values->strings;
    if (!some) {
      strings = allowed;
    } else {
      std::vector<std::string> common;
      std::set_intersection(strings.begin(), strings.end(), allowed.begin(), allowed.end(),
                            std::back_inserter(common));
      strings = std::move(common);
    }
    some = true;
  }
  return some;
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
      work_.refuse({SchemaRefusal::Kind::kUnsupported, set_.pointer(rule.owner), "format",
                    "the opposite of the format " + rule.text + " cannot be enforced"});
    }
  } else if (rule.kind == RuleKind::kValues && fact.part != SchemaFact::kHolds) {
    std::vector<RegexTerm> words;
    for (const std::string& text : rule.values->strings) {
      words.push_back(pool_.text(decode_utf8(text)));
    }
    term = pool_.either_of(std::move(words));
  } else {
    return term;
  }
  return fact.part == SchemaFact::kHolds ? term : pool_.complement(term);
}

StringLanguage SchemaTexts::language(const SchemaFacts& facts) {
  StringLanguage made{pool_.any(), {}};
  std::uint64_t least = 0;
  std::uint64_t most = kUnbounded;
  std::vector<RegexTerm> terms;
  for (const SchemaFact& fact : facts) {
    const SchemaRule& rule = set_.rules[fact.rule];
    const bool holds = fact.part == SchemaFact::kHolds;
    if (rule.kind == RuleKind::kMinLength && holds) {
      least = std::max<std::uint64_t>(least, rule.least);
    } else if (rule.kind == RuleKind::kMinLength) {
      most = std::min<std::uint64_t>(most, rule.least - 1);
    } else if (rule.kind == RuleKind::kMaxLength && holds) {
      most = std::min<std::uint64_t>(most, rule.most);
    } else if (rule.kind == RuleKind::kMaxLength) {
      least = std::max<std::uint64_t>(least, std::uint64_t{rule.most} + 1);
    } else {
      terms.push_back(fact_term(fact));
    }
  }
  if (least > most) return {pool_.nothing(), {}};
  std::vector<std::string> strings;
  if (listed(facts, strings)) {
    std::vector<RegexTerm> words;
    for (const std::string& text : strings) {
      const std::size_t length = code_points(text);
      if (length >= least && length <= most) words.push_back(pool_.text(decode_utf8(text)));
    }
    work_.charge(words.size());
    terms.push_back(pool_.either_of(std::move(words)));
    least = 0;
    most = kUnbounded;
  }
  if (least > kMinLengthMax) {
    work_.refuse({SchemaRefusal::Kind::kTooLarge, "", "minLength", "is too large"});
    return {pool_.nothing(), {}};
  }
  made.term = pool_.both_of(std::move(terms));
  made.length = {static_cast<std::uint32_t>(least), static_cast<std::uint32_t>(most)};
  return made;
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
    work_.refuse({SchemaRefusal::Kind::kTooLarge, set_.pointer(blame.schema),
                  std::string(blame.keyword), "the strings of this schema are too many"});
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
    work_.refuse({SchemaRefusal::Kind::kTooLarge, set_.pointer(blame.schema),
                  std::string(blame.keyword),
                  made.ok() ? "needs too many states" : made.error().message});
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
