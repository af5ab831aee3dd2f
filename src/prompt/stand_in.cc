#include "prompt/stand_in.h"

#include <algorithm>

#include "base/check.h"
#include "base/random.h"

namespace zerohop {
namespace {

constexpr std::size_t kPrefixDigits = 16;
constexpr std::size_t kIndexDigits = 8;
constexpr std::size_t kIndexEnd = 100'000'000;

}  // namespace

StandIns::StandIns(std::uint64_t seed) : prefix_("9") {
  std::uint64_t bits = mix64(seed);
  while (prefix_.size() < kPrefixDigits) {
    prefix_.push_back(static_cast<char>('0' + bits % 9));
    bits /= 9;
  }
}

std::string StandIns::make(std::size_t index) const {
  ZH_CHECK(index < kIndexEnd);
  const std::string digits = std::to_string(index);
  return prefix_ + std::string(kIndexDigits - digits.size(), '0') + digits;
}

std::optional<StandIns::Found> StandIns::find(std::string_view text, std::size_t from) const {
  for (std::size_t begin = text.find(prefix_, from); begin != std::string_view::npos;
       begin = text.find(prefix_, begin + 1)) {
    const std::string_view digits = text.substr(begin + kPrefixDigits, kIndexDigits);
    const bool whole =
        digits.size() == kIndexDigits &&
        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!whole) continue;
    std::size_t index = 0;
    for (const char digit : digits) index = index * 10 + static_cast<std::size_t>(digit - '0');
    return Found{begin, begin + kPrefixDigits + kIndexDigits, index};
  }
  return std::nullopt;
}

}  // namespace zerohop
