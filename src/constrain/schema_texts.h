// Strings and property names of one compilation: facts about strings become a term of the regex
// algebra, terms become automata. Equal terms share one automaton. One compilation, one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "constrain/content_automaton.h"
#include "constrain/regex_algebra.h"
#include "constrain/schema_tableau.h"

namespace zerohop {

/// Bytes of `text` as a JSON string, quotes included, with the escapes that are needed.
std::size_t json_string_bytes(std::u32string_view text);

/// Words of a term of so many characters.
struct StringLanguage {
  RegexTerm term = 0;
  ContentAutomaton::Length length;
};

class SchemaTexts {
 public:
  SchemaTexts(SchemaSet& set, SchemaWork& work);

  RegexPool& pool() { return pool_; }

  /// The strings that satisfy all of `facts`.
  StringLanguage language(const SchemaFacts& facts);
  /// The same with its length as part of the term.
  RegexTerm whole_term(const StringLanguage& language);
  /// The words that a pattern finds itself in.
  RegexTerm pattern(const std::string& text, const SchemaBlame& blame);
  /// All words but `names`.
  RegexTerm none_of(const std::vector<std::u32string>& names);
  bool contains(RegexTerm term, std::u32string_view word);

  /// nullptr: nothing is in it, or refused.
  std::shared_ptr<ContentAutomaton> automaton(const StringLanguage& language,
                                              const SchemaBlame& blame);
  std::size_t memory_bytes() const { return memory_bytes_ + pool_.memory_bytes(); }

 private:
  using Key = std::tuple<RegexTerm, std::uint32_t, std::uint32_t>;

  RegexTerm format(const std::string& name, const SchemaBlame& blame);
  // The one word of an enum; many branches have the same ones.
  RegexTerm word(const std::string& text);
  RegexTerm fact_term(const SchemaFact& fact);
  // The strings that all enums among the facts leave; nothing: there is no enum.
  std::optional<std::vector<std::string>> listed(const SchemaFacts& facts) const;

  SchemaSet& set_;
  SchemaWork& work_;
  RegexPool pool_;
  std::unordered_map<std::string, RegexTerm> patterns_;
  std::unordered_map<std::string, RegexTerm> formats_;
  std::unordered_map<std::string, RegexTerm> words_;
  std::map<Key, std::shared_ptr<ContentAutomaton>> automata_;
  std::size_t memory_bytes_ = 0;
};

}  // namespace zerohop
