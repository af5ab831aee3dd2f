#include "constrain/regex_syntax.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/utf8.h"
#include "constrain/content_automaton.h"

namespace zerohop {
namespace {

std::shared_ptr<ContentAutomaton> automaton_of(std::string_view pattern) {
  RegexPool pool;
  const auto term = parse_ecma_pattern(pool, pattern);
  EXPECT_TRUE(term.ok()) << pattern << ": " << (term.ok() ? "" : term.error().message);
  if (!term.ok()) return nullptr;
  const auto made = ContentAutomaton::make(pool, *term, {}, {});
  EXPECT_TRUE(made.ok()) << pattern;
  return made.ok() ? *made : nullptr;
}

bool finds(std::string_view pattern, std::string_view text) {
  const auto automaton = automaton_of(pattern);
  return automaton != nullptr && automaton->contains(utf8_decode(text));
}

std::string refusal(std::string_view pattern) {
  RegexPool pool;
  const auto term = parse_ecma_pattern(pool, pattern);
  return term.ok() ? "" : term.error().message;
}

struct Case {
  std::string_view pattern;
  std::vector<std::string_view> found;
  std::vector<std::string_view> not_found;
};

void check(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    for (const std::string_view text : one.found) {
      EXPECT_TRUE(finds(one.pattern, text)) << one.pattern << " in " << text;
    }
    for (const std::string_view text : one.not_found) {
      EXPECT_FALSE(finds(one.pattern, text)) << one.pattern << " in " << text;
    }
  }
}

TEST(RegexSyntax, SearchesUnlessAnchored) {
  check({{"[0-9]", {"7", "a7b"}, {"", "a"}},
         {"", {"", "x"}, {}},
         {"^a", {"a", "ab"}, {"ba", ""}},
         {"a$", {"a", "ba"}, {"ab", "a\n"}},
         {"^(a|b)$", {"a", "b"}, {"ab", ""}},
         {"(^a|b$)", {"ax", "xb"}, {"xa", "bx"}},
         {"x^", {}, {"x", ""}},
         {"^^a$$", {"a"}, {"aa"}},
         {"a|^$", {"", "ba"}, {"b"}},
         {"(^|,)a(,|$)", {"a", "b,a", "a,b", "b,a,c"}, {"ba", "ab", "b,ab"}}});
}

TEST(RegexSyntax, ClassesAreThoseOfEcma) {
  check({{"^\\d$", {"0"}, {"\xdf\x80", "a"}},
         {"^\\w$", {"a", "_", "Z"}, {"\xc3\xa9", "-"}},
         {"^\\s$", {" ", "\t", "\xc2\xa0", "\xef\xbb\xbf", "\xe2\x80\xa9"}, {"\x01", "a"}},
         {"^\\S$", {"a"}, {" "}},
         {"^.$", {"a", "\xf0\x9f\x98\x80", "\x0b"}, {"\n", "\r", "\xe2\x80\xa8", "ab"}},
         {"^[^]$", {"\n", "a"}, {""}},
         {"[]", {}, {"", "a", "]"}},
         {"^[\\w.-]+$", {"a.b-c"}, {"a b"}},
         {"^[a\\-z]$", {"a", "-", "z"}, {"b"}},
         {"^[-a]$", {"-", "a"}, {"b"}},
         {"^[a-]$", {"-", "a"}, {"b"}},
         {"^[\\d-x]$", {"5", "-", "x"}, {"w"}},
         {"^[\\b]$", {"\x08"}, {"b"}},
         {"^[[]$", {"["}, {"]"}},
         {"^[^\\d\\s]$", {"a"}, {"1", " "}},
         {"^\\p{Lu}\\p{Script=Greek}$", {"A\xce\xb1"}, {"a\xce\xb1", "Aa"}},
         {"^\\P{L}$", {"1"}, {"a"}},
         {"^[\\p{Nd}\\P{ASCII}]$", {"1", "\xc3\xa9"}, {"a"}}});
}

TEST(RegexSyntax, EscapesNameCharacters) {
  check({{"^\\x41\\u0042\\u{43}\\u{1F600}$", {"ABC\xf0\x9f\x98\x80"}, {}},
         {"^\\uD83D\\uDE00$", {"\xf0\x9f\x98\x80"}, {}},
         {"^[\\uD83D\\uDE00-\\u{1f602}]$", {"\xf0\x9f\x98\x81"}, {"\xf0\x9f\x98\x83"}},
         {"^\\cJ\\t\\0$", {std::string_view("\n\t\0", 3)}, {}},
         {"^\\/\\.\\-\\\"\\'\\@\\$$", {"/.-\"'@$"}, {}},
         {"^a{b}c$", {"a{b}c"}, {}},
         {"^a{,b]$", {"a{,b]"}, {}},
         {"\\uD800", {}, {"", "a"}}});
}

TEST(RegexSyntax, RepetitionsCount) {
  check({{"^a{2}$", {"aa"}, {"a", "aaa"}},
         {"^a{2,}$", {"aa", "aaaa"}, {"a"}},
         {"^a{0,2}?$", {"", "aa"}, {"aaa"}},
         {"^a+?b*?$", {"a", "ab"}, {"b"}},
         {"^(?:ab){1,2}$", {"ab", "abab"}, {"aba", "ababab"}},
         {"^(?<year>\\d{4})(?P<month>\\d\\d)$", {"202401"}, {"20241"}}});
}

TEST(RegexSyntax, LookAroundsAreIntersections) {
  check({{"^(?!\\.)[a-z.]+@[a-z]+$", {"a.b@c"}, {".a@c"}},
         {"^(?=.*\\d)(?=.*[a-z]).{4,}$", {"ab12"}, {"abcd", "1234", "a1"}},
         {"^((?!foo).)*$", {"", "fobar"}, {"foo", "xfoox"}},
         {"^(?:(?!--)[a-z-])*x$", {"a-b-x", "x"}, {"a--x"}},
         {"foo(?!bar)", {"foobaz", "foobarfoo"}, {"foobar"}},
         {"(?<=a)b", {"ab"}, {"cb", "b"}},
         {"(?<!a)b", {"cb", "b"}, {"ab"}},
         {"(?<=^|,)x(?=,|$)", {"x", "a,x", "x,b"}, {"ax", "xb"}},
         {"\\bfoo\\b", {"foo", "a foo!"}, {"afoo", "foob"}},
         {"foo\\B", {"foob"}, {"foo", "foo b"}},
         {"\\b", {"a", " a"}, {"", " "}},
         {"^(?:a$|b){0,4}c|^(?:(?:^|-)x){1,2}y$", {"bbc", "xy", "x-xy"}, {"xxy", "ac"}}});
}

TEST(RegexSyntax, WholeMatchesTakeAllOfTheText) {
  RegexPool pool;
  const auto term = parse_whole_pattern(pool, "a|bc|^d$|e(?=f)f");
  ASSERT_TRUE(term.ok());
  const auto automaton = *ContentAutomaton::make(pool, *term, {}, {});
  for (const std::u32string_view word : {U"a", U"bc", U"d", U"ef"}) {
    EXPECT_TRUE(automaton->contains(word));
  }
  for (const std::u32string_view word : {U"", U"ab", U"bca", U"xd", U"e"}) {
    EXPECT_FALSE(automaton->contains(word));
  }
}

TEST(RegexSyntax, RefusalsSayWhatAndWhere) {
  EXPECT_EQ(refusal("ab(c"), "at character 3: '(' is never closed");
  EXPECT_EQ(refusal("^(abc]"), "at character 2: '(' is never closed");
  EXPECT_EQ(refusal("a)"), "at character 2: ')' without '('");
  EXPECT_EQ(refusal("a|*b"), "at character 3: nothing to repeat");
  EXPECT_EQ(refusal("a**"), "at character 3: nothing to repeat");
  EXPECT_EQ(refusal("{2}"), "at character 1: nothing to repeat");
  EXPECT_EQ(refusal("[b-a]"), "at character 5: a range that ends before it begins");
  EXPECT_EQ(refusal("[ab"), "at character 2: '[' is never closed");
  EXPECT_EQ(refusal("a{3,2}"), "at character 7: a count whose bounds are the wrong way round");
  EXPECT_EQ(refusal("a{,2}"), "at character 3: a count without its lower bound");
  EXPECT_EQ(refusal("(a)\\1"), "at character 6: back-references are not regular");
  EXPECT_EQ(refusal("\\k<a>"), "at character 3: named back-references are not regular");
  EXPECT_EQ(refusal("\\p{Foo}"), "at character 8: the property 'Foo' is not known");
  EXPECT_EQ(refusal("^\\S\\Z"), "at character 6: the escape \\Z is not known");
  EXPECT_EQ(refusal("a\\"), "at character 3: a backslash at the end");
  EXPECT_EQ(refusal("(?i)a"), "at character 1: this kind of group is not supported");
  EXPECT_EQ(refusal("(?>a)"), "at character 1: this kind of group is not supported");
  EXPECT_EQ(refusal("^*"), "at character 2: an assertion cannot be repeated");
  EXPECT_EQ(refusal("(\\bab)*"), "at character 7: an assertion inside an unbounded repetition");
  EXPECT_EQ(refusal("(?<=ab)c"), "at character 1: a look-behind of other than one character");
  EXPECT_EQ(refusal("\\u{110000}"), "at character 10: \\u{\xe2\x80\xa6} above U+10FFFF");
  EXPECT_EQ(refusal("\xff"), "the pattern is not UTF-8");
}

// What must end in bounded time and memory, with success or an error.
TEST(RegexSyntax, HostilePatternsEnd) {
  EXPECT_EQ(automaton_of("^((a*)*)*$")->states(), 1u);
  EXPECT_EQ(automaton_of("^(((a?)?)?){0,100000}$")->states(), 1u);
  EXPECT_EQ(automaton_of("^[ab]*a[ab]{13}$")->states(), 16'384u);
  EXPECT_NE(refusal(std::string(1 << 20, 'a')), "");
  EXPECT_NE(refusal(std::string(100'000, '(')), "");
  EXPECT_NE(refusal(std::string(200'000, 'a') + "$"), "");
  std::string loops;
  for (int i = 0; i < 30'000; ++i) loops += "a{1,9}";
  EXPECT_EQ(refusal(loops), "");
  loops.clear();
  for (int i = 0; i < 100'000; ++i) loops += "(a|b){1,99}";
  EXPECT_NE(refusal(loops), "");
  std::string nested = "\\ba";
  for (int i = 0; i < 100; ++i) nested = "(" + nested + "){16}";
  EXPECT_NE(refusal(nested), "");
  std::string heads;
  for (int i = 0; i < 1'000; ++i) heads += "(?=.*" + std::to_string(i) + ")";
  EXPECT_EQ(refusal("^" + heads), "");
  RegexPool pool;
  const auto many = parse_ecma_pattern(pool, "^" + heads);
  EXPECT_FALSE(ContentAutomaton::make(pool, *many, {}, {}).ok());
}

// std::regex takes the place of what is looked back at inside a look-ahead for the start of the
// text, so such patterns are left out.
enum class LooksBack : std::uint8_t { kNo, kYes };

std::string random_pattern(Random& random, int depth, LooksBack looks_back) {
  static constexpr std::string_view kAtoms[] = {"a", "b", "[ab]", "[^a]", ".", "\\w", "\\W", "-"};
  static constexpr std::string_view kCounts[] = {"*", "+", "?", "{2}", "{1,3}", "{0,2}?", "*?"};
  const auto inner = [&] { return random_pattern(random, depth - 1, looks_back); };
  const auto ahead = [&] { return random_pattern(random, depth - 1, LooksBack::kNo); };
  const bool free = looks_back == LooksBack::kYes;
  switch (depth <= 0 ? random.below(2) : random.below(11)) {
    case 0:
    case 1: return std::string(kAtoms[random.below(std::size(kAtoms))]);
    case 2:
    case 3: return inner() + inner();
    case 4: return "(?:" + inner() + "|" + inner() + ")";
    case 5: return "(?:" + inner() + ")" + std::string(kCounts[random.below(std::size(kCounts))]);
    case 6: return (free ? "^" : "a") + inner();
    case 7: return inner() + "$";
    case 8: return std::string(!free ? "b" : random.below(2) == 0 ? "\\b" : "\\B") + inner();
    case 9: return "(?=" + ahead() + ")" + inner();
    default: return "(?!" + ahead() + ")" + inner();
  }
}

TEST(RegexSyntax, AgreesWithABacktrackingMatcher) {
  std::vector<std::string> words{""};
  for (std::size_t i = 0; words[i].size() < 4; ++i) {
    for (const char letter : {'a', 'b', '-'}) words.push_back(words[i] + letter);
  }
  Random random(3);
  int compared = 0;
  for (int round = 0; round < 500; ++round) {
    const std::string pattern = random_pattern(random, 4, LooksBack::kYes);
    RegexPool pool;
    const auto term = parse_ecma_pattern(pool, pattern);
    if (!term.ok()) {
      EXPECT_NE(term.error().message.find("an assertion inside"), std::string::npos) << pattern;
      continue;
    }
    const auto automaton = *ContentAutomaton::make(pool, *term, {}, {});
    const std::regex other(pattern);
    ++compared;
    for (const std::string& word : words) {
      ASSERT_EQ(automaton->contains(utf8_decode(word)), std::regex_search(word, other))
          << pattern << " in '" << word << "'";
    }
  }
  EXPECT_GT(compared, 350);
}

}  // namespace
}  // namespace zerohop
