// Recursive descent over both dialects. Names are rules from their first use on; whether all were
// defined is asked at the end.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/utf8.h"
#include "constrain/grammar_common.h"
#include "constrain/grammar_draft.h"
#include "constrain/grammar_scanner.h"
#include "constrain/regex_syntax.h"

namespace zerohop {
namespace {

using Expression = GrammarExpression;
using Kind = GrammarExpression::Kind;

constexpr std::size_t kDepthMax = 100;

Expression of_term(RegexTerm term) { return {.kind = Kind::kTerm, .term = term}; }

Expression repeated(Expression part, std::uint32_t min, std::uint32_t max) {
  Expression result{.kind = Kind::kRepeat, .min = min, .max = max};
  result.parts.push_back(std::move(part));
  return result;
}

std::string quoted_name(std::string_view name, std::string_view rest) {
  std::string text = "'";
  text.append(name).append("'").append(rest);
  return text;
}

class Parser {
 public:
  Parser(RegexPool& pool, std::string_view text) : pool_(pool), scanner_(text), text_(text) {}

  Result<GrammarDraft> run() {
    choose_dialect();
    scanner_.skip_spaces();
    if (scanner_.at_end()) scanner_.fail("the grammar has no rules");
    while (!scanner_.at_end() && !scanner_.failed()) {
      if (lark_ && scanner_.peek() == '%') {
        directive();
      } else {
        definition();
      }
      scanner_.skip_spaces();
    }
    if (!scanner_.failed()) finish();
    if (scanner_.failed()) {
      return invalid_request({}, grammar_place(text_, scanner_.fault_at()) + scanner_.fault());
    }
    return std::move(draft_);
  }

 private:
  // By the first definition; a directive is Lark's.
  void choose_dialect() {
    GrammarScanner ahead(text_);
    ahead.skip_spaces();
    lark_ = !ahead.definition_ahead();
    scanner_.set_dialect(lark_ ? GrammarDialect::kLark : GrammarDialect::kGbnf);
  }

  void finish() {
    for (const GrammarDraft::Rule& rule : draft_.rules) {
      if (!rule.defined) scanner_.fail_at(rule.at, quoted_name(rule.name, " is not defined"));
    }
    if (scanner_.failed()) return;
    if (!first_) {
      scanner_.fail("the grammar has no rules");
      return;
    }
    const auto start = names_.find(lark_ ? "start" : "root");
    draft_.start = start == names_.end() ? *first_ : start->second;
  }

  std::uint32_t rule_named(std::string_view name, std::size_t at) {
    const auto next = static_cast<std::uint32_t>(draft_.rules.size());
    const auto [place, added] = names_.try_emplace(std::string(name), next);
    if (added) {
      if (next >= kGrammarRulesMax) scanner_.fail_at(at, "more rules than are allowed");
      draft_.rules.push_back({.name = std::string(name), .at = at});
      draft_.rules.back().terminal = lark_ && is_terminal(name);
    }
    return place->second;
  }

  // Lark's rule: the first letter is a capital one.
  static bool is_terminal(std::string_view name) {
    const std::size_t letter = name.find_first_not_of('_');
    return letter != std::string_view::npos && name[letter] >= 'A' && name[letter] <= 'Z';
  }

  void define(std::string_view name, std::size_t at, Expression body) {
    const std::uint32_t rule = rule_named(name, at);
    if (draft_.rules[rule].defined) {
      scanner_.fail_at(at, quoted_name(name, " is defined twice"));
    }
    draft_.rules[rule].defined = true;
    draft_.rules[rule].at = at;
    draft_.rules[rule].body = std::move(body);
  }

  void definition() {
    if (!scanner_.definition_ahead()) {
      scanner_.fail(lark_ ? "expected a definition, 'name: …'" : "expected 'name ::= …'");
      return;
    }
    while (lark_ && (scanner_.take("?") || scanner_.take("!"))) continue;
    const std::size_t at = scanner_.at();
    const std::string_view name = scanner_.name();
    const std::uint32_t rule = rule_named(name, at);
    if (!first_ && !(lark_ && is_terminal(name))) first_ = rule;
    if (lark_ && scanner_.take(".")) {
      scanner_.take("-");
      scanner_.count();
    }
    scanner_.skip_spaces();
    if (scanner_.peek() == '{') {
      scanner_.fail("templates are not supported");
      return;
    }
    scanner_.skip(lark_ ? 1 : 3);
    Expression body = choice(0);
    if (scanner_.failed()) return;
    scanner_.skip_spaces();
    define(name, at, std::move(body));
  }

  void directive() {
    if (scanner_.take("%ignore")) {
      Expression ignored = choice(0);
      if (!scanner_.failed()) draft_.ignored.push_back(std::move(ignored));
    } else if (scanner_.take("%import")) {
      import();
    } else {
      scanner_.fail("only %ignore and %import are supported");
    }
  }

  // common.NAME, common.NAME -> OTHER, or common (A, B).
  void import() {
    scanner_.skip_spaces();
    if (!scanner_.take("common")) {
      scanner_.fail("only the library 'common' can be imported from");
      return;
    }
    if (scanner_.take(".")) {
      const std::size_t at = scanner_.at();
      const std::string_view name = scanner_.name();
      std::string_view alias = name;
      skip_blanks();
      if (scanner_.take("->")) {
        skip_blanks();
        alias = scanner_.name();
      }
      import_one(name, alias, at);
      return;
    }
    skip_blanks();
    if (!scanner_.take("(")) scanner_.fail("expected '.' or '('");
    while (!scanner_.failed()) {
      scanner_.skip_spaces();
      const std::size_t at = scanner_.at();
      const std::string_view name = scanner_.name();
      import_one(name, name, at);
      scanner_.skip_spaces();
      if (scanner_.take(")")) return;
      if (!scanner_.take(",")) scanner_.fail("expected ',' or ')'");
    }
  }

  void skip_blanks() {
    while (scanner_.peek() == ' ' || scanner_.peek() == '\t') scanner_.skip(1);
  }

  void import_one(std::string_view name, std::string_view alias, std::size_t at) {
    const std::string_view pattern = lark_common_pattern(name);
    if (pattern.empty() || alias.empty()) {
      scanner_.fail_at(at, quoted_name(name, " is not in the library 'common'"));
      return;
    }
    const auto term = parse_whole_pattern(pool_, pattern);
    if (!term.ok()) {
      scanner_.fail_at(at, term.error().message);
      return;
    }
    define(alias, at, of_term(*term));
  }

  // Alternatives up to a closing bracket or the next definition.
  Expression choice(std::size_t depth) {
    Expression result{.kind = Kind::kChoice};
    if (depth > kDepthMax) {
      scanner_.fail("nested too deep");
      return result;
    }
    do {
      result.parts.push_back(sequence(depth));
      scanner_.skip_spaces();
    } while (!scanner_.failed() && scanner_.take("|"));
    if (result.parts.size() == 1) return std::move(result.parts.front());
    return result;
  }

  bool sequence_ends() const {
    constexpr std::string_view kEnds = "|)%";
    if (scanner_.at_end() || kEnds.find(scanner_.peek()) != std::string_view::npos) return true;
    return scanner_.peek() == ']' || scanner_.definition_ahead();
  }

  Expression sequence(std::size_t depth) {
    Expression result;
    while (!scanner_.failed()) {
      scanner_.skip_spaces();
      if (lark_ && scanner_.take("->")) {  // an alias names a node of Lark's tree
        scanner_.skip_spaces();
        if (scanner_.name().empty()) scanner_.fail("a name is missing");
        continue;
      }
      if (sequence_ends()) break;
      std::optional<Expression> next = element(depth);
      if (!next) break;
      result.parts.push_back(repetitions(std::move(*next)));
    }
    if (result.parts.size() == 1) return std::move(result.parts.front());
    return result;
  }

  std::optional<Expression> element(std::size_t depth) {
    const std::size_t at = scanner_.at();
    if (scanner_.take("\"")) return text_or_range(at);
    if (scanner_.take("/")) return regex(at);
    if (scanner_.take("(")) return bracket(depth, ")");
    if (lark_ && scanner_.take("[")) {
      std::optional<Expression> inside = bracket(depth, "]");
      if (!inside) return std::nullopt;
      return repeated(std::move(*inside), 0, 1);
    }
    if (!lark_ && scanner_.take("[")) {
      const std::optional<CodePointSet> set = scanner_.character_class();
      if (!set) return std::nullopt;
      return of_term(pool_.one_of(*set));
    }
    if (!lark_ && scanner_.take(".")) return of_term(pool_.one_of(CodePointSet::all()));
    const std::string_view name = scanner_.name();
    if (name.empty()) return scanner_.fail("expected a text, a name or a group");
    if (lark_ && scanner_.peek() == '{') return scanner_.fail("templates are not supported");
    return Expression{.kind = Kind::kName, .rule = rule_named(name, at)};
  }

  std::optional<Expression> bracket(std::size_t depth, std::string_view closing) {
    const std::size_t at = scanner_.at() - 1;
    Expression inside = choice(depth + 1);
    if (scanner_.failed()) return std::nullopt;
    if (!scanner_.take(closing)) return scanner_.fail_at(at, "the bracket is not closed");
    return inside;
  }

  // Behind the opening quote: "text", "text"i, "a".."z".
  std::optional<Expression> text_or_range(std::size_t at) {
    const std::optional<std::u32string> word = scanner_.quoted();
    if (!word) return std::nullopt;
    if (lark_ && scanner_.take("..")) {
      if (!scanner_.take("\"")) return scanner_.fail("a text is missing");
      const std::optional<std::u32string> last = scanner_.quoted();
      if (!last) return std::nullopt;
      if (word->size() != 1 || last->size() != 1 || last->front() < word->front()) {
        return scanner_.fail_at(at, "a range goes from one character to a later one");
      }
      return of_term(pool_.one_of(CodePointSet{{word->front(), last->front()}}));
    }
    if (lark_ && scanner_.peek() == 'i' && !scanner_.definition_ahead()) {
      scanner_.skip(1);
      return in_any_case(*word, at);
    }
    return of_term(pool_.text(*word));
  }

  std::optional<Expression> in_any_case(const std::u32string& word, std::size_t at) {
    std::vector<RegexTerm> letters;
    for (const char32_t letter : word) {
      if (letter >= 0x80) {
        return scanner_.fail_at(at, "only ASCII texts can be taken in capitals as well");
      }
      const char32_t lower = letter | 0x20;
      const bool both = lower >= U'a' && lower <= U'z';
      const CodePointSet set = both ? CodePointSet{{lower, lower}, {lower - 0x20, lower - 0x20}}
                                    : CodePointSet{{letter, letter}};
      letters.push_back(pool_.one_of(set));
    }
    return of_term(pool_.concat_of(letters));
  }

  std::optional<Expression> regex(std::size_t at) {
    const std::optional<std::string_view> pattern = scanner_.regex();
    if (!pattern) return std::nullopt;
    constexpr std::string_view kFlags = "imslux";
    if (kFlags.find(scanner_.peek()) != std::string_view::npos && scanner_.peek() != '\0' &&
        !scanner_.definition_ahead()) {
      return scanner_.fail("flags of a regex are not supported");
    }
    const auto term = parse_whole_pattern(pool_, *pattern);
    if (!term.ok()) return scanner_.fail_at(at, "in this regex: " + term.error().message);
    return of_term(*term);
  }

  Expression repetitions(Expression part) {
    while (!scanner_.failed()) {
      if (!lark_) skip_blanks();
      constexpr std::uint32_t kUnbounded = Expression::kUnbounded;
      if (scanner_.peek() == '?' && !question_begins_definition()) {
        scanner_.skip(1);
        part = repeated(std::move(part), 0, 1);
      } else if (scanner_.take("*")) {
        part = repeated(std::move(part), 0, kUnbounded);
      } else if (scanner_.take("+")) {
        part = repeated(std::move(part), 1, kUnbounded);
      } else if (!lark_ && scanner_.take("{")) {
        part = braces(std::move(part));
      } else if (lark_ && tilde_ahead()) {
        part = tilde(std::move(part));
      } else {
        break;
      }
    }
    return part;
  }

  bool question_begins_definition() const { return lark_ && scanner_.definition_ahead(); }

  bool tilde_ahead() {
    std::size_t blanks = 0;
    while (scanner_.peek(blanks) == ' ') ++blanks;
    if (scanner_.peek(blanks) != '~') return false;
    scanner_.skip(blanks + 1);
    return true;
  }

  Expression bounded(Expression part, std::uint32_t min, std::uint32_t max) {
    if (max < min) scanner_.fail("the second number is smaller than the first");
    return repeated(std::move(part), min, max);
  }

  // Behind '{'.
  Expression braces(Expression part) {
    skip_blanks();
    std::uint32_t min = 0;
    if (scanner_.peek() != ',') min = scanner_.count().value_or(0);
    std::uint32_t max = min;
    skip_blanks();
    if (scanner_.take(",")) {
      skip_blanks();
      max = scanner_.peek() == '}' ? Expression::kUnbounded : scanner_.count().value_or(0);
      skip_blanks();
    }
    if (!scanner_.take("}")) scanner_.fail("expected '}'");
    return bounded(std::move(part), min, max);
  }

  // Behind '~'.
  Expression tilde(Expression part) {
    skip_blanks();
    const std::uint32_t min = scanner_.count().value_or(0);
    std::uint32_t max = min;
    skip_blanks();
    if (scanner_.take("..")) {
      skip_blanks();
      max = scanner_.count().value_or(0);
    }
    return bounded(std::move(part), min, max);
  }

  RegexPool& pool_;
  GrammarScanner scanner_;
  std::string_view text_;
  bool lark_ = false;
  GrammarDraft draft_;
  std::unordered_map<std::string, std::uint32_t> names_;
  std::optional<std::uint32_t> first_;
};

}  // namespace

std::string grammar_place(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t begin = before.find_last_of('\n') + 1;  // npos + 1 = 0
  return "line " + std::to_string(line) + ", column " + std::to_string(at - begin + 1) + ": ";
}

Result<GrammarDraft> parse_grammar_draft(RegexPool& pool, std::string_view text) {
  return Parser(pool, text).run();
}

Result<GrammarText> parse_grammar(std::string_view text) {
  constexpr std::size_t kBytesMax = 1 << 20;
  if (text.size() > kBytesMax) return invalid_request({}, "the grammar has more than 1 MiB");
  if (const std::size_t valid = utf8_valid_prefix(text); valid != text.size()) {
    return invalid_request({}, grammar_place(text, valid) + "not UTF-8");
  }
  RegexPool pool;
  ZH_ASSIGN_OR_RETURN(GrammarDraft draft, parse_grammar_draft(pool, text));
  return lower_grammar(pool, std::move(draft), text);
}

}  // namespace zerohop
