// When cached prefixes that nobody computes with leave a pool of cells for host memory.
//
// Attention over a pool passes over every cell up to the highest one in use, whoever it belongs to.
// So a cell that only waits for its next turn costs every row of every step a little: 0.15 µs on
// the default model, which is nothing until the cache has filled, and then makes eight streams a
// third slower for good. A copy in host memory costs no step anything; moving a cell out and back
// costs about 9 µs, once.
//
// How soon a prefix is wanted again nobody knows. So idle cells pay rent, step by step, and when
// what was paid equals the price of moving cells, so many go: those that the cache expects to need
// last. Whoever rents for so long before he buys never pays more than twice what he would have paid
// had he known the future. (The ski rental problem; Karlin, Manasse, Rudolph and Sleator,
// "Competitive snoopy caching", 1988.) Where nobody computes, nobody pays: a server without work
// keeps everything in cells. The engine charges steps of several sequences only
// (engine_pressure.cc says why).
//
// Pure arithmetic; one owner.
#pragma once

#include <cstdint>

namespace zerohop {

class IdleRent {
 public:
  /// Attention reads cells in tiles; so few idle ones may cost nothing and stay.
  static constexpr std::uint32_t kFreeCells = 256;
  /// Fewer cells are not worth a call, unless they are all that is left.
  static constexpr std::uint32_t kMoveMin = 512;

  /// A step of `rows` rows has passed over `idle` cells. `price`: seconds for a cell and a row.
  void charge(std::uint32_t rows, std::uint32_t idle, double price);

  /// Of `idle` cells, those whose moving has been paid for; 0 as long as it is not worth a call.
  /// `move_price`: seconds to copy a cell out and back.
  std::uint32_t due(std::uint32_t idle, double move_price) const;

  /// So many cells went. None: there is no room for them, and what was paid is forgotten, so that
  /// nobody asks again at each step.
  void moved(std::uint32_t cells, double move_price);

 private:
  double paid_ = 0;  // seconds
};

}  // namespace zerohop
