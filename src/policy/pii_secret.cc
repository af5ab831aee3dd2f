// Secrets: by the marks that services put in front of their keys, by the word that announces them
// (`Bearer …`, `password=…`), by their armour (private keys), by their place in a URL.
#include <algorithm>
#include <array>

#include "policy/pii_parts.h"

namespace zerohop {
namespace {

struct KeyMark {
  std::string_view mark;
  std::size_t least;  // bytes of the whole key
};

constexpr std::array<KeyMark, 30> kKeyMarks{{
    {"sk-", 20},    {"sk_live_", 16}, {"sk_test_", 16},    {"rk_live_", 16}, {"rk_test_", 16},
    {"whsec_", 16}, {"xoxb-", 16},    {"xoxp-", 16},       {"xoxa-", 16},    {"xoxr-", 16},
    {"xoxs-", 16},  {"xapp-", 16},    {"ghp_", 20},        {"gho_", 20},     {"ghu_", 20},
    {"ghs_", 20},   {"ghr_", 20},     {"github_pat_", 22}, {"glpat-", 20},   {"gsk_", 20},
    {"hf_", 20},    {"npm_", 20},     {"pypi-", 20},       {"dop_v1_", 20},  {"AIza", 35},
    {"AKIA", 20},   {"ASIA", 20},     {"r8_", 20},         {"tvly-", 20},    {"pplx-", 20},
}};

// Words behind which the value of a field is a secret, as the end of the word.
constexpr std::array<std::string_view, 16> kSecretNames{
    "password",   "passwd",     "passphrase",    "pwd",          "secret",     "token",
    "api_key",    "api-key",    "apikey",        "access_key",   "access-key", "private_key",
    "secret_key", "credential", "authorization", "client_secret"};

bool has_digit(std::string_view text) { return std::ranges::any_of(text, is_ascii_digit); }

bool equals_lower(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() &&
         std::ranges::equal(text, lower, [](char a, char b) { return ascii_lower(a) == b; });
}

bool ends_with_lower(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         equals_lower(text.substr(text.size() - lower.size()), lower);
}

// What tokens are written in: base64, base64url, hexadecimal, and dots between parts.
bool is_token_byte(char c) {
  return is_ascii_word(c) || c == '-' || c == '_' || c == '.' || c == '+' || c == '/' || c == '=' ||
         c == '~';
}

std::size_t token_end(std::string_view text, std::size_t at) {
  while (at < text.size() && is_token_byte(text[at])) ++at;
  return at;
}

// Behind the mark something that nobody writes by hand.
bool is_marked_key(std::string_view word) {
  const auto fits = [word](const KeyMark& key) {
    return word.starts_with(key.mark) && word.size() >= key.least &&
           has_digit(word.substr(key.mark.size()));
  };
  return std::ranges::any_of(kKeyMarks, fits);
}

// A JSON Web Token: `{"` in base64url, then two dots.
std::optional<std::size_t> web_token_end(std::string_view text, std::size_t at,
                                         std::size_t word_end) {
  if (!text.substr(at).starts_with("eyJ") || word_end - at < 8) return std::nullopt;
  if (byte_at(text, word_end) != '.') return std::nullopt;
  return token_end(text, word_end);
}

// `Bearer`, `Basic`: spaces, then what is meant. A word of a sentence has no digit.
std::optional<PiiSpan> behind_scheme(std::string_view text, std::size_t word_end) {
  std::size_t at = word_end;
  while (at - word_end < 4 && byte_at(text, at) == ' ') ++at;
  if (at == word_end) return std::nullopt;
  const std::size_t end = token_end(text, at);
  const std::string_view value = text.substr(at, end - at);
  if (value.size() < 8 || (value.size() < 24 && !has_digit(value))) return std::nullopt;
  return PiiSpan{PiiKind::kSecret, at, end};
}

bool ends_value(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '\'' || c == ',' || c == ';' ||
         c == '&' || c == '<' || c == '>' || c == '}' || c == ']' || c == ')';
}

// `name = "value"`, `"name": "value"`, `name=value`.
std::optional<PiiSpan> behind_name(std::string_view text, std::size_t word_end) {
  std::size_t at = word_end;
  const auto skip = [&](std::string_view bytes, std::size_t most) {
    const std::size_t begin = at;
    while (at < text.size() && at - begin < most && bytes.find(text[at]) != bytes.npos) ++at;
    return at - begin;
  };
  skip("\"'\\ ", 3);
  if (skip(":=", 2) == 0) return std::nullopt;
  skip(" ", 2);
  skip("\\\"'", 2);
  if (byte_at(text, at) == '[') return std::nullopt;  // it was taken out before
  const std::size_t begin = at;
  while (at < text.size() && !ends_value(text[at])) ++at;
  const std::string_view value = text.substr(begin, at - begin);
  // `Authorization: Bearer …` is found at its next word.
  if (equals_lower(value, "bearer") || equals_lower(value, "basic")) return std::nullopt;
  if (value.size() < 6 || (value.size() < 16 && !has_digit(value))) return std::nullopt;
  // A plain number is a count.
  if (std::ranges::all_of(value, is_ascii_digit) && value.size() < 12) return std::nullopt;
  return PiiSpan{PiiKind::kSecret, begin, at};
}

bool names_a_secret(std::string_view word) {
  return std::ranges::any_of(kSecretNames,
                             [word](std::string_view name) { return ends_with_lower(word, name); });
}

}  // namespace

std::optional<PiiSpan> secret_from(std::string_view text, std::size_t at, std::size_t word_end) {
  std::string_view word = text.substr(at, word_end - at);
  // `--sk-…`, `_ghp_…`
  while (!word.empty() && !is_ascii_word(word.front())) {
    word.remove_prefix(1);
    ++at;
  }
  // A word has no dots, and this kind of key has two.
  const bool dotted = word == "SG" && word_end < text.size() && text[word_end] == '.';
  if (dotted && token_end(text, at) - at >= 40) {
    return PiiSpan{PiiKind::kSecret, at, token_end(text, at)};
  }
  if (word.size() < 3) return std::nullopt;
  if (is_marked_key(word)) return PiiSpan{PiiKind::kSecret, at, token_end(text, at)};
  if (word == "ya29" && token_end(text, at) - at >= 20) {
    return PiiSpan{PiiKind::kSecret, at, token_end(text, at)};
  }
  if (const auto end = web_token_end(text, at, word_end))
    return PiiSpan{PiiKind::kSecret, at, *end};
  if (equals_lower(word, "bearer") || equals_lower(word, "basic")) {
    return behind_scheme(text, word_end);
  }
  if (names_a_secret(word)) return behind_name(text, word_end);
  return std::nullopt;
}

// "-----BEGIN RSA PRIVATE KEY-----" … "-----END RSA PRIVATE KEY-----". Certificates are public.
std::optional<std::size_t> private_key_from(std::string_view text, std::size_t at) {
  constexpr std::size_t kHeadMax = 64;
  const std::string_view head = text.substr(at, kHeadMax);
  const std::size_t mark = head.find("PRIVATE KEY");
  if (mark == head.npos || head.substr(0, mark).find('\n') != head.npos) return std::nullopt;
  const std::size_t end = text.find("-----END", at);
  if (end == text.npos) return text.size();
  const std::size_t close = text.find("-----", end + 8);
  return close == text.npos ? text.size() : close + 5;
}

// https://name:password@host/
std::optional<PiiSpan> url_secret_from(std::string_view text, std::size_t at) {
  const std::size_t begin = at + 3;
  bool has_colon = false;
  for (std::size_t place = begin; place < text.size(); ++place) {
    const char c = text[place];
    if (c == '@') {
      if (!has_colon || place == begin) return std::nullopt;
      return PiiSpan{PiiKind::kSecret, begin, place};
    }
    if (c == '/' || c == '?' || c == '#' || c == '[' || static_cast<unsigned char>(c) <= ' ') break;
    has_colon = has_colon || c == ':';
  }
  return std::nullopt;
}

}  // namespace zerohop
