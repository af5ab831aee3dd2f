// Reads a grammar text piece by piece: spaces and comments, names, texts, classes, regexes.
//
// Owned by one call of parse_grammar_draft(). The first fault is kept; what is read behind it means
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "constrain/code_point_set.h"

namespace zerohop {

enum class GrammarDialect : std::uint8_t { kGbnf, kLark };

class GrammarScanner {
 public:
  explicit GrammarScanner(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  bool at_end() const { return at_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool looking_at(std::string_view piece) const { return text_.substr(at_, piece.size()) == piece; }
  bool take(std::string_view piece);
  void skip(std::size_t bytes) { at_ += bytes; }

  /// Spaces, line breaks and comments.
  void skip_spaces();

  /// Empty when no name begins here.
  std::string_view name();
  /// Whether `name ::=` or `name:` (with what Lark allows around the name) begins here.
  bool definition_ahead() const;
  void set_dialect(GrammarDialect dialect) { dialect_ = dialect; }

  std::optional<std::uint32_t> count();
  /// Between the quotes; the next byte is the first one. The closing quote is taken.
  std::optional<std::u32string> quoted();
  /// Behind '['; the closing bracket is taken.
  std::optional<CodePointSet> character_class();
  /// Behind '/'; the closing one is taken. An escaped '/' stays as it is.
  std::optional<std::string_view> regex();

  /// Keeps the first fault. Always nullopt, for returning.
  std::nullopt_t fail(std::string_view what) { return fail_at(at_, what); }
  std::nullopt_t fail_at(std::size_t at, std::string_view what);
  bool failed() const { return !fault_.empty(); }
  const std::string& fault() const { return fault_; }
  std::size_t fault_at() const { return fault_at_; }

 private:
  std::optional<char32_t> character();
  std::optional<char32_t> escape();
  std::optional<char32_t> hex(std::size_t digits);

  std::string_view text_;
  std::size_t at_ = 0;
  GrammarDialect dialect_ = GrammarDialect::kGbnf;
  std::string fault_;
  std::size_t fault_at_ = 0;
};

}  // namespace zerohop
