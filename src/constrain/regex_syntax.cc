// From the tree of a pattern to a term.
//
// A pattern without assertions is a term node by node. With them the meaning of a node depends on
// what stands around it, so it is translated backwards, each node with what may follow it:
//
//   language(node, rest) = the texts from here to the end in which node matches a beginning and
//                          `rest` is what is behind that
//
//   abc          language(a, language(b, language(c, rest)))
//   $            rest & ε
//   (?=x)        rest & language(x, any)           (?!x)  rest & ¬language(x, any)
//   ((?!x)c)*    until: see regex_algebra.h; other repetitions of assertions are written out when
//                they are short, else refused
//
// What looks back (^, \b, (?<=x)) looks at one character: then `rest` has one term for each kind of
// character that may stand in front, or for the start of the text ("contexts"). For `a\bc` the
// kinds are: start, \w, \W.
//
// (^|,)a$  searched:  contexts start, other (',' is nothing special for what looks back)
//   from `start`: a | ,a      from `other`: ,a      all: (a | ,a) | any·char·(,a)
#include "constrain/regex_syntax.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/check.h"
#include "base/utf8.h"
#include "constrain/pattern_class.h"
#include "constrain/pattern_tree.h"

namespace zerohop {

namespace {

using Kind = PatternNode::Kind;

constexpr std::size_t kContextsMax = 16;
// Repetitions with assertions inside are written out up to so many times.
constexpr std::uint32_t kWrittenOutMax = 32;
// Nodes translated, those written out counted each time.
constexpr std::size_t kStepsMax = 300'000;

class PatternCompiler {
 public:
  explicit PatternCompiler(RegexPool& pool) : pool_(pool) {}

  enum class Mode : std::uint8_t { kSearch, kWhole };

  Result<RegexTerm> compile(const PatternNode& tree, Mode mode) {
    if (tree.plain) {
      const RegexTerm term = plain(tree);
      if (mode == Mode::kWhole) return checked(term);
      return checked(pool_.concat(pool_.any(), pool_.concat(term, pool_.any())));
    }
    looks_back_.assign(1, CodePointSet::all());
    if (!find_contexts(tree)) return *error_;
    const Rest behind = same(mode == Mode::kWhole ? pool_.empty() : pool_.any());
    const Rest found = translate(tree, behind);
    if (error_) return *error_;
    if (mode == Mode::kWhole) return checked(found[0]);
    if (uniform(found)) return checked(pool_.concat(pool_.any(), found[0]));
    std::vector<RegexTerm> ways{found[0]};
    for (std::size_t i = 1; i < found.size(); ++i) {
      const RegexTerm before = pool_.concat(pool_.any(), pool_.one_of(looks_back_[i - 1]));
      ways.push_back(pool_.concat(before, found[i]));
    }
    return checked(pool_.either_of(std::move(ways)));
  }

 private:
  // [0]: at the start of the text; [i]: behind a character of looks_back_[i - 1].
  using Rest = std::vector<RegexTerm>;

  Result<RegexTerm> checked(RegexTerm term) const {
    if (pool_.exhausted()) return invalid_request("", "the pattern is too complex");
    return term;
  }

  bool fail(const PatternNode& node, std::string what) {
    if (!error_) error_ = pattern_error(node.position, std::move(what));
    return false;
  }

  Rest same(RegexTerm term) const { return Rest(looks_back_.size() + 1, term); }
  static bool uniform(const Rest& rest) {
    return std::ranges::all_of(rest, [&](RegexTerm term) { return term == rest[0]; });
  }

  RegexTerm plain(const PatternNode& node) {
    switch (node.kind) {
      case Kind::kSet: return pool_.one_of(node.set);
      case Kind::kSequence: {
        std::vector<RegexTerm> parts;
        for (const PatternNode& part : node.children) parts.push_back(plain(part));
        return pool_.concat_of(parts);
      }
      case Kind::kChoice: {
        std::vector<RegexTerm> ways;
        for (const PatternNode& part : node.children) ways.push_back(plain(part));
        return pool_.either_of(std::move(ways));
      }
      case Kind::kRepeat: return pool_.repeat(plain(node.children.front()), node.min, node.max);
      default: ZH_CHECK(false); return pool_.nothing();
    }
  }

  /// What of a look-behind's body is one character, and whether it may be the start of the text.
  struct OneBehind {
    CodePointSet set;
    bool start = false;
  };

  static std::optional<OneBehind> one_behind(const PatternNode& body) {
    if (body.kind == Kind::kSet) return OneBehind{.set = body.set};
    if (body.kind == Kind::kStart) return OneBehind{.start = true};
    if (body.kind == Kind::kSequence && body.children.size() == 1) {
      return one_behind(body.children.front());
    }
    if (body.kind != Kind::kChoice) return std::nullopt;
    OneBehind all;
    for (const PatternNode& part : body.children) {
      const auto one = one_behind(part);
      if (!one) return std::nullopt;
      all.set = all.set | one->set;
      all.start = all.start || one->start;
    }
    return all;
  }

  /// Splits the characters by all that looks back.
  bool find_contexts(const PatternNode& node) {
    if (node.plain) return true;
    if (node.kind == Kind::kBorder || node.kind == Kind::kNoBorder) {
      return split_contexts(node, word_characters());
    }
    if (node.kind == Kind::kBehind || node.kind == Kind::kNotBehind) {
      const auto one = one_behind(node.children.front());
      if (!one) return fail(node, "a look-behind of other than one character");
      return split_contexts(node, one->set);
    }
    return std::ranges::all_of(node.children,
                               [&](const PatternNode& part) { return find_contexts(part); });
  }

  bool split_contexts(const PatternNode& node, const CodePointSet& set) {
    std::vector<CodePointSet> finer;
    for (const CodePointSet& old : looks_back_) {
      for (const CodePointSet& part : {old & set, old & set.complement()}) {
        if (!part.empty()) finer.push_back(part);
      }
    }
    looks_back_ = std::move(finer);
    if (looks_back_.size() <= kContextsMax) return true;
    return fail(node, "too many different look-behinds");
  }

  /// Whether what `one` says stands in front, in context `i`.
  bool holds(const OneBehind& one, std::size_t i) const {
    if (i == 0) return one.start;
    return !(looks_back_[i - 1] & one.set).empty();
  }

  Rest translate(const PatternNode& node, const Rest& rest) {
    if (error_ || pool_.exhausted()) return rest;
    if (++steps_ > kStepsMax) {
      fail(node, "the pattern is too complex");
      return rest;
    }
    if (node.plain) return in_front(plain(node), rest);
    switch (node.kind) {
      case Kind::kSequence: {
        Rest behind = rest;
        for (auto part = node.children.rbegin(); part != node.children.rend(); ++part) {
          behind = translate(*part, behind);
        }
        return behind;
      }
      case Kind::kChoice: return choice(node, rest);
      case Kind::kRepeat: return repeat(node, rest);
      case Kind::kAhead:
      case Kind::kNotAhead: return ahead(node, rest);
      default: return assertion(node, rest);
    }
  }

  /// `term` looks at nothing around it; which context it leads to its last character says.
  Rest in_front(RegexTerm term, const Rest& rest) {
    if (uniform(rest)) return same(pool_.concat(term, rest[0]));
    std::vector<RegexTerm> after_some;
    for (std::size_t i = 1; i < rest.size(); ++i) {
      const RegexTerm ending = pool_.concat(pool_.any(), pool_.one_of(looks_back_[i - 1]));
      after_some.push_back(pool_.concat(pool_.both(term, ending), rest[i]));
    }
    const RegexTerm some = pool_.either_of(std::move(after_some));
    if (!pool_.nullable(term)) return same(some);
    Rest found;
    for (const RegexTerm behind : rest) found.push_back(pool_.either(some, behind));
    return found;
  }

  Rest choice(const PatternNode& node, const Rest& rest) {
    std::vector<std::vector<RegexTerm>> ways(rest.size());
    for (const PatternNode& part : node.children) {
      const Rest way = translate(part, rest);
      for (std::size_t i = 0; i < rest.size(); ++i) ways[i].push_back(way[i]);
    }
    Rest found;
    for (auto& list : ways) found.push_back(pool_.either_of(std::move(list)));
    return found;
  }

  Rest ahead(const PatternNode& node, const Rest& rest) {
    Rest seen = translate(node.children.front(), same(pool_.any()));
    for (std::size_t i = 0; i < rest.size(); ++i) {
      if (node.kind == Kind::kNotAhead) seen[i] = pool_.complement(seen[i]);
      seen[i] = pool_.both(seen[i], rest[i]);
    }
    return seen;
  }

  Rest assertion(const PatternNode& node, const Rest& rest) {
    OneBehind one{.set = word_characters()};
    const bool behind = node.kind == Kind::kBehind || node.kind == Kind::kNotBehind;
    if (behind) one = *one_behind(node.children.front());
    const RegexTerm word_next = pool_.concat(pool_.one_of(word_characters()), pool_.any());
    Rest found;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const bool held = holds(one, i);
      RegexTerm allowed = pool_.nothing();
      switch (node.kind) {
        case Kind::kStart:
          if (i == 0) allowed = pool_.any();
          break;
        case Kind::kEnd: allowed = pool_.empty(); break;
        case Kind::kBorder: allowed = held ? pool_.complement(word_next) : word_next; break;
        case Kind::kNoBorder: allowed = held ? word_next : pool_.complement(word_next); break;
        default:
          if (held == (node.kind == Kind::kBehind)) allowed = pool_.any();
      }
      found.push_back(pool_.both(allowed, rest[i]));
    }
    return found;
  }

  /// Of a body that has assertions.
  Rest repeat(const PatternNode& node, const Rest& rest) {
    const PatternNode& body = node.children.front();
    const bool bounded = node.max != RegexPool::kNoBound;
    if (node.min > kWrittenOutMax || (bounded && node.max > kWrittenOutMax)) {
      fail(node, "an assertion inside a long repetition");
      return rest;
    }
    Rest found = rest;
    if (bounded) {
      for (std::uint32_t i = node.min; i < node.max; ++i) {
        found = or_else(translate(body, found), rest);
      }
    } else {
      const auto endless = any_times(body, rest);
      if (!endless) {
        fail(node, "an assertion inside an unbounded repetition");
        return rest;
      }
      found = *endless;
    }
    for (std::uint32_t i = 0; i < node.min; ++i) found = translate(body, found);
    return found;
  }

  Rest or_else(const Rest& a, const Rest& b) {
    Rest found;
    for (std::size_t i = 0; i < a.size(); ++i) found.push_back(pool_.either(a[i], b[i]));
    return found;
  }

  /// ((?!x)c)*: look-aheads and then one character.
  std::optional<Rest> any_times(const PatternNode& body, const Rest& rest) {
    if (body.kind != Kind::kSequence || body.children.empty() || !uniform(rest)) {
      return std::nullopt;
    }
    const PatternNode& last = body.children.back();
    if (last.kind != Kind::kSet) return std::nullopt;
    Rest allowed = same(pool_.concat(pool_.one_of(last.set), pool_.any()));
    for (std::size_t i = 0; i + 1 < body.children.size(); ++i) {
      const PatternNode& part = body.children[i];
      if (part.kind != Kind::kAhead && part.kind != Kind::kNotAhead) return std::nullopt;
      allowed = ahead(part, allowed);
    }
    if (!uniform(allowed)) return std::nullopt;
    return same(pool_.until(allowed[0], rest[0]));
  }

  RegexPool& pool_;
  std::vector<CodePointSet> looks_back_;
  std::optional<Error> error_;
  std::size_t steps_ = 0;
};

Result<RegexTerm> parse(RegexPool& pool, std::string_view pattern, PatternCompiler::Mode mode) {
  if (pattern.size() > kPatternBytesMax) {
    return invalid_request(
        "", "the pattern is longer than " + std::to_string(kPatternBytesMax) + " bytes");
  }
  if (!utf8_is_valid(pattern)) return invalid_request("", "the pattern is not UTF-8");
  ZH_ASSIGN_OR_RETURN(const PatternNode tree, parse_pattern_tree(utf8_decode(pattern)));
  return PatternCompiler(pool).compile(tree, mode);
}

}  // namespace

Result<RegexTerm> parse_ecma_pattern(RegexPool& pool, std::string_view pattern) {
  return parse(pool, pattern, PatternCompiler::Mode::kSearch);
}

Result<RegexTerm> parse_whole_pattern(RegexPool& pool, std::string_view pattern) {
  return parse(pool, pattern, PatternCompiler::Mode::kWhole);
}

}  // namespace zerohop
