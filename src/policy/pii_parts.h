// The recognisers that find_pii() asks, one by one. Internal to policy/pii*.cc.
//
// Each is asked at a place of the text where such a thing may begin and answers with its end, or
// with nothing. `at` < text.size().
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "policy/pii.h"

namespace zerohop {

inline bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_ascii_upper(char c) { return c >= 'A' && c <= 'Z'; }
inline bool is_ascii_letter(char c) { return is_ascii_upper(c) || (c >= 'a' && c <= 'z'); }
inline bool is_ascii_word(char c) { return is_ascii_digit(c) || is_ascii_letter(c); }
inline bool is_beyond_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }
inline char ascii_lower(char c) { return is_ascii_upper(c) ? static_cast<char>(c + 32) : c; }

/// The byte at `place`, a zero byte outside of the text.
inline char byte_at(std::string_view text, std::size_t place) {
  return place < text.size() ? text[place] : '\0';
}
/// The byte in front of `place`.
inline char byte_before(std::string_view text, std::size_t place) {
  return place == 0 ? '\0' : text[place - 1];
}

/// `at` is an `@` (or the `%` of `%40`): the address around it, which does not begin before
/// `least`.
std::optional<PiiSpan> email_around(std::string_view text, std::size_t at, std::size_t least);

/// `at` is a digit, a `+` or a `(`.
std::optional<std::size_t> phone_from(std::string_view text, std::size_t at);

/// `at` is a digit with no digit or letter in front.
std::optional<std::size_t> card_from(std::string_view text, std::size_t at);

/// `at` is a letter with no digit or letter in front.
std::optional<std::size_t> iban_from(std::string_view text, std::size_t at);

/// `at` begins a word of letters, digits, `_` and `-` that ends at `word_end`: a secret by its own
/// form, or one that the word announces (`password=…`).
std::optional<PiiSpan> secret_from(std::string_view text, std::size_t at, std::size_t word_end);

/// `at` is the first of the five dashes of `-----BEGIN`: the whole block, or what there is of it.
std::optional<std::size_t> private_key_from(std::string_view text, std::size_t at);

/// `at` is the colon of `://`: name and password of a URL.
std::optional<PiiSpan> url_secret_from(std::string_view text, std::size_t at);

}  // namespace zerohop
