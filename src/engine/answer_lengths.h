// How long answers are, at least: what may be taken for granted of one that has not begun.
//
// A request with a deadline that waits for its turn is worth starting only if its answer will be
// there in time. max_tokens says little, because most answers end long before; their mean is wrong
// for half of them. So: the length that nine of ten of the last answers had or surpassed. Where
// lengths differ much it is short, and nobody is sent away who may have made it.
//
// Pure; one owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace zerohop {

class AnswerLengths {
 public:
  /// An answer ended by itself or at its limit after so many tokens.
  void add(std::uint32_t tokens);

  /// Tokens that nine of ten answers had at least, of the last kRemembered; 0 until kNeeded ended.
  std::uint32_t least() const { return least_; }

  static constexpr std::size_t kRemembered = 32;
  static constexpr std::size_t kNeeded = 8;

 private:
  std::array<std::uint32_t, kRemembered> last_{};
  std::size_t count_ = 0;  // of all that ended
  std::uint32_t least_ = 0;
};

}  // namespace zerohop
