// Which tokens of a vocabulary are allowed, as a value: ids where they are few, else one bit each.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/token.h"

namespace zerohop {

/// Immutable once made; any thread.
struct TokenMask {
  std::vector<Token> ids;           ///< ascending, each once; used when `bits` is empty
  std::vector<std::uint64_t> bits;  ///< ⌈width ÷ 64⌉ words

  bool sparse() const { return bits.empty(); }
  bool allows(Token token) const;
  std::size_t count() const;
  std::size_t memory_bytes() const {
    return ids.capacity() * sizeof(Token) + bits.capacity() * sizeof(std::uint64_t);
  }

  /// Calls `visit(token)` for each allowed token, in ascending order.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const Token token : ids) visit(token);
    for (std::size_t word = 0; word < bits.size(); ++word) {
      for (std::uint64_t left = bits[word]; left != 0; left &= left - 1) {
        visit(static_cast<Token>(word * 64 + static_cast<std::size_t>(std::countr_zero(left))));
      }
    }
  }
};

/// Collects a mask: a short list at first, then bits; what take() returns is a list as long as that
/// is half of what bits take. Sorting a long list would cost more than going through all bits.
class MaskBuilder {
 public:
  explicit MaskBuilder(std::size_t width) : width_(width) {}

  void add(Token token) {
    if (mask_.bits.empty()) {
      mask_.ids.push_back(token);
      if (mask_.ids.size() > kListMax) spread();
    } else {
      const auto index = static_cast<std::size_t>(token);
      mask_.bits[index / 64] |= std::uint64_t{1} << (index % 64);
    }
  }
  void add(std::span<const std::uint32_t> tokens) {
    for (const std::uint32_t token : tokens) add(static_cast<Token>(token));
  }
  void remove(std::span<const std::uint32_t> tokens) {
    for (const std::uint32_t token : tokens) remove(static_cast<Token>(token));
  }
  void add(const TokenMask& mask);
  void add(const MaskBuilder& other) { add(other.mask_); }
  void remove(Token token) {
    if (mask_.bits.empty()) {
      std::erase(mask_.ids, token);
      return;
    }
    const auto index = static_cast<std::size_t>(token);
    mask_.bits[index / 64] &= ~(std::uint64_t{1} << (index % 64));
  }
  TokenMask take();
  bool empty() const { return mask_.count() == 0; }
  std::size_t width() const { return width_; }

 private:
  static constexpr std::size_t kListMax = 32;

  /// Half of what bits take: sampling over ids is cheaper as well.
  std::size_t sparse_max() const { return width_ / 64 + 1; }
  bool few_bits() const;
  void spread();

  std::size_t width_;
  TokenMask mask_;
};

}  // namespace zerohop
