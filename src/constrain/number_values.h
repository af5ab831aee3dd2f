// Numbers of an array whose items differ: 1, 1.0 and 10e-1 are the same item.
//
// One owner (the texts'); not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "constrain/known_texts.h"
#include "constrain/number_language.h"

namespace zerohop {

/// The same text for all spellings of a value, beginning with '#'. kNoText: an exponent beyond
/// those of Decimal, which no such item may have.
TextId number_value(KnownTexts& texts, std::string_view number);

/// The number that is being written.
struct NumberPlace {
  const NumberLanguage* language = nullptr;
  std::uint32_t state = 0;
  std::string text;  ///< read so far; may be empty
};

/// Finds numbers that are none of some. What was found is kept, for all places on the way: so who
/// writes it digit by digit is never told that there is none, even where a search from the middle
/// would be given up because of its size.
class OtherNumbers {
 public:
  explicit OtherNumbers(KnownTexts& texts) : texts_(texts) {}

  /// The rest of a shortest number whose value is none of `taken`; nothing: there is none, or none
  /// was found.
  std::optional<std::string> shortest(const NumberPlace& place, TextSetId taken);

  std::size_t memory_bytes() const { return known_.size() * kKnownBytes; }
  /// Beginnings of numbers that were looked at so far.
  std::uint64_t looked_at() const { return looked_at_; }

 private:
  using Key = std::tuple<const NumberLanguage*, std::uint32_t, TextId, TextSetId>;
  static constexpr std::size_t kKnownBytes = 120;  // about

  std::optional<std::string> search(const NumberPlace& place, TextSetId taken);

  KnownTexts& texts_;
  std::map<Key, std::optional<std::string>> known_;
  std::uint64_t looked_at_ = 0;
};

}  // namespace zerohop
