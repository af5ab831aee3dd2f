// Grammars as people write them: Lark's EBNF and llama.cpp's GBNF.
//
// Which of the two is told by the first definition: `name ::= …` is GBNF, `name: …` is Lark.
//
//   both     "text"  /regex/  ( … )  |  ? * +  names; a definition ends where the next one begins,
//            so line breaks are free
//   GBNF     [class] with ranges, ^ and escapes; . (any character); {m} {m,} {m,n} {,n};
//            # comments; the start rule is `root`
//   Lark     [ optional ]; "a".."z"; "text"i; ~m and ~m..n; // and # comments; `?name`, `!name`,
//            priorities and `-> alias`, which say nothing about texts and are ignored; %ignore,
//            %import common.NAME (numbers, words, strings, white space); the start rule is `start`
//
// Where there is no rule of that name the first one starts. Escapes in texts: \" \\ \/ \n \r \t \b
// \f \xHH \uHHHH \UHHHHHHHH. A regex is ECMA-262 (regex_syntax.h) and matches as a whole.
//
// In Lark, what is ignored may stand in front of each terminal of a rule and at the end of the
// text, any number of times; inside TERMINALS (names in capitals) it may not. Lark's lexer picks
// one reading of a text; here a text belongs to the language when it has any.
//
// Parts without recursion become one terminal each, so that a string or a number is one automaton.
//
// Refused with line and column: names that are not defined or twice, rules from which no text can
// be derived (such as those that always need themselves), templates, other directives, flags of a
// regex. Bounds: 1 MiB of text, nesting of 100, 10,000 rules.
//
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "constrain/grammar.h"
#include "core/error.h"

namespace zerohop {

struct GrammarText {
  Grammar grammar;
  std::vector<std::string> unused;  ///< names of rules that the start rule never needs
};

/// The error's message begins with "line L, column C: "; field is empty.
Result<GrammarText> parse_grammar(std::string_view text);

}  // namespace zerohop
