// StrongId<Tag>: an integer id that cannot be mixed up with another kind of id.
//
//   struct SlotTag;
//   using SlotId = StrongId<SlotTag, int32_t>;
//
// Any thread; a plain value.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace zerohop {

template <class Tag, class Integer = std::uint64_t>
struct StrongId {
  Integer value{};

  constexpr StrongId() = default;
  constexpr explicit StrongId(Integer number) : value(number) {}
  friend constexpr auto operator<=>(StrongId, StrongId) = default;
};

}  // namespace zerohop

template <class Tag, class Integer>
struct std::hash<zerohop::StrongId<Tag, Integer>> {
  std::size_t operator()(zerohop::StrongId<Tag, Integer> id) const noexcept {
    return std::hash<Integer>{}(id.value);
  }
};
