// The bytes of every token of a vocabulary, in one block: what sampling, stop sequences and
// constraints read. Built once when a model is loaded; immutable, any thread.
//
// A token's bytes may be half a character. Control tokens have none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "core/token.h"

namespace zerohop {

class TokenTable {
 public:
  /// Appends the next token (ids are given out in order, from 0).
  void add(std::string_view bytes, bool control, bool end_of_generation) {
    bytes_.append(bytes);
    offsets_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    flags_.push_back(static_cast<std::uint8_t>((control ? kControl : 0) |
                                               (end_of_generation ? kEndOfGeneration : 0)));
  }

  std::size_t size() const { return flags_.size(); }
  bool contains(Token token) const {
    return token >= 0 && static_cast<std::size_t>(token) < flags_.size();
  }

  std::string_view bytes(Token token) const {
    ZH_DCHECK(contains(token));
    const auto index = static_cast<std::size_t>(token);
    return std::string_view(bytes_).substr(offsets_[index], offsets_[index + 1] - offsets_[index]);
  }
  bool is_control(Token token) const { return (flag(token) & kControl) != 0; }
  bool is_end_of_generation(Token token) const { return (flag(token) & kEndOfGeneration) != 0; }

 private:
  static constexpr std::uint8_t kControl = 1;
  static constexpr std::uint8_t kEndOfGeneration = 2;

  std::uint8_t flag(Token token) const {
    ZH_DCHECK(contains(token));
    return flags_[static_cast<std::size_t>(token)];
  }

  std::string bytes_;
  std::vector<std::uint32_t> offsets_{0};
  std::vector<std::uint8_t> flags_;
};

}  // namespace zerohop
