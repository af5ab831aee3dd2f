// Recognisers of what must not stand in a log: e-mail addresses, phone numbers, card numbers, bank
// accounts and secrets, in a text of any origin.
//
//   "mail jo@example.org or +49 30 901820"  →  email [5, 19)  phone [23, 36)
//
// Byte scanners, no regular expressions: each looks from a place at a bounded number of bytes in
// front of it or goes once over a word, so any text costs linear time (some 5 ns a byte). What
// could be something harmless is decided by what is checked beside the form: Luhn and issuer ranges
// for cards, remainder 97 and the length of the country for IBANs, groups and prefixes for phone
// numbers, a digit or length for a value behind `password=`. Where a rule is in doubt it does not
// match a plain number: a log full of holes is no log.
//
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace zerohop {

enum class PiiKind : std::uint8_t {
  kEmail,
  kPhone,  ///< +49 …, 0049 …, 030 …, (202) 555-…, Chinese mobile numbers
  kCard,   ///< of a payment card
  kIban,
  kSecret,  ///< API keys, tokens, passwords, private keys, keys of clouds
};

/// "email", "phone", "card", "iban", "secret".
std::string_view pii_kind_name(PiiKind kind);

/// Bytes [begin, end) of a text.
struct PiiSpan {
  PiiKind kind = PiiKind::kEmail;
  std::size_t begin = 0;
  std::size_t end = 0;

  friend bool operator==(const PiiSpan&, const PiiSpan&) = default;
};

/// What was found in `text`, which may be any bytes: from left to right, not overlapping.
std::vector<PiiSpan> find_pii(std::string_view text);

}  // namespace zerohop
