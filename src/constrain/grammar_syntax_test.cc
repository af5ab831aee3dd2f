#include "constrain/grammar_syntax.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "constrain/grammar_machine.h"

namespace zerohop {
namespace {

std::unique_ptr<ConstraintMachine> machine(std::string_view grammar) {
  auto parsed = parse_grammar(grammar);
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
  if (!parsed.ok()) return nullptr;
  auto made = make_grammar_machine(std::move(parsed->grammar));
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
  return made.ok() ? std::move(made).value() : nullptr;
}

void expect(std::string_view grammar, std::initializer_list<std::string_view> right,
            std::initializer_list<std::string_view> wrong) {
  const auto made = machine(grammar);
  ASSERT_NE(made, nullptr) << grammar;
  for (const std::string_view text : right)
    EXPECT_TRUE(accepts(*made, text)) << text << " of " << grammar;
  for (const std::string_view text : wrong)
    EXPECT_FALSE(accepts(*made, text)) << text << " of " << grammar;
}

std::string fault(std::string_view grammar) {
  const auto parsed = parse_grammar(grammar);
  return parsed.ok() ? "" : parsed.error().message;
}

TEST(GrammarSyntax, ReadsGbnf) {
  expect(R"gbnf(# a comment
root  ::= item ("," ws item)*   # another
item  ::= [a-c]+ | number
number ::= "-"? [0-9]{1,3}
ws    ::= [ \t\n]*
)gbnf",
         {"a", "abc,12", "-1, a,\t123"}, {"", "d", "1234", "a,", "--1"});
  expect("root ::= \"a\" |\n  \"b\"\n  | [^a-z\\]\"] .", {"a", "b", "Zx", "é!"},
         {"c", "]x", "\"x", "Z"});
  expect(R"(root ::= "\"\x41\u00e9\\\n" [\-\]^x])", {"\"A\xc3\xa9\\\n-", "\"A\xc3\xa9\\\n]"},
         {"\"A"});
  expect("root ::= (\"a\" root \"b\")?", {"", "ab", "aabb"}, {"a", "ba", "aab"});
  expect("root ::= x{2} x{0,1} y{,2}\nx ::= \"x\" root2?\nroot2 ::= \"(\" x \")\"\ny ::= \"y\"",
         {"xx", "xxx", "x(x)xyy"}, {"x", "xxxx", "xxyyy"});
}

TEST(GrammarSyntax, ReadsTheJsonGrammarThatUsersSend) {
  expect(R"gbnf(root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws ( string ":" ws value ("," ws string ":" ws value)* )? "}" ws
array  ::= "[" ws ( value ("," ws value)* )? "]" ws
string ::= "\"" ( [^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) )* "\"" ws
number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws
ws ::= | " " | "\n" [ \t]{0,20}
)gbnf",
         {"{}", R"({"a": [1, -2.5e1, "x\u00e9\n"], "b": {"c": null}})"},
         {"[]", "{\"a\"}", "{\"a\":01}", "{\"a\":\"\n\"}", "{\"a\":1,}"});
}

TEST(GrammarSyntax, ReadsLark) {
  expect(R"lark(
// calculator
?start: sum
?sum: product | sum "+" product -> add
product.2: atom ("*" atom)~0..2
!atom: NUMBER | "(" sum ")" | [SIGN] NAME
SIGN: "+" | "-"
NAME: "a".."z" ("_" | /[0-9]/)~1..2
%import common.NUMBER
%import common (WS, LETTER)
%ignore WS
)lark",
         {"1+2", " 1 +  2 * 3 ", "(1+ - a_1)*2", "1.5e3"},
         {"", "1+", "1*1*1*1", "a", "a _1", "a1_1", "1 . 5"});
  expect("start: \"select\"i \" \" A+\nA: \"a\" | \"b\"", {"SeLeCt ab"}, {"select ", "selec a"});
  expect("a: b \"x\"\nb: \"y\"*\n", {"x", "yyx"}, {"y"});
}

TEST(GrammarSyntax, NamesLineAndColumn) {
  EXPECT_EQ(fault("root ::= \"a\" foo\n"), "line 1, column 14: 'foo' is not defined");
  EXPECT_EQ(fault("root ::= \"a\n\"b\""), "line 1, column 10: the text has no closing quote");
  EXPECT_EQ(fault("root ::= \"a\"\nroot ::= \"b\""), "line 2, column 1: 'root' is defined twice");
  EXPECT_EQ(fault("start: a\na: \"x\" a"), "line 1, column 1: no text can be derived from 'start'");
  EXPECT_EQ(fault("root ::= [z-a]"), "line 1, column 14: the range ends before it begins");
  EXPECT_EQ(fault("root ::= (\"a\""), "line 1, column 10: the bracket is not closed");
  EXPECT_EQ(fault("root ::= \"a\"{3,2}"),
            "line 1, column 18: the second number is smaller than the first");
  EXPECT_EQ(fault("start: /a(/").substr(0, 17), "line 1, column 8:");
  EXPECT_EQ(fault(""), "line 1, column 1: the grammar has no rules");
  EXPECT_EQ(fault("root ::= \"\xff\""), "line 1, column 11: not UTF-8");
}

TEST(GrammarSyntax, RefusesWhatItCannotFollow) {
  for (const std::string_view grammar :
       {"start: a{\"x\"}\na{b}: b", "start: \"a\"\n%declare X", "start: /a/i", "hello",
        "root ::= )", "root ::= ]", "root ::= \"a\" %", "start: \"a\"..", "start: \"b\"..\"a\"",
        "start: \"\xc3\xa9\"i", "%import common.NOPE\nstart: NOPE", "root ::= \"\\q\"",
        "root ::= \"\\ud800\"", "root ::= \"a\"{99999999}", "root ::= root"}) {
    EXPECT_NE(fault(grammar), "") << grammar;
  }
  EXPECT_NE(fault("root ::= " + std::string(1000, '(')), "");
  EXPECT_NE(fault("root ::= (root2 | \"a\"){300000}\nroot2 ::= \"(\" root2? \")\""), "");
}

TEST(GrammarSyntax, TellsWhichRulesAreNotUsed) {
  const auto parsed = parse_grammar("root ::= a\na ::= \"x\"\nb ::= c\nc ::= \"y\"");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->unused, (std::vector<std::string>{"b", "c"}));
}

}  // namespace
}  // namespace zerohop
