// The pieces that were seen lately, dropped ones included, in a table of fixed size.
//
// A cache that forgets what it dropped learns nothing from its mistakes: a piece that comes back
// after it was dropped looks new. Eight places share a key (by its hash); the one whose last use is
// the longest ago makes room. Not thread-safe; belongs to a ReuseModel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace zerohop {

struct SeenPiece {
  std::uint64_t id = 0;  ///< 0: empty
  std::uint64_t created_at = 0;
  std::uint64_t last_used_at = 0;
  std::uint32_t uses = 0;
  std::uint32_t tokens = 0;
  std::uint32_t kind = 0;  ///< the model's, since the last use
};

class ReuseHistory {
 public:
  static constexpr std::size_t kWays = 8;
  static constexpr std::size_t kSets = 2048;

  ReuseHistory() : pieces_(kWays * kSets) {}

  /// The piece, or nullptr.
  SeenPiece* find(std::uint64_t id);
  /// The place for `id`, which is not there yet: empty, or with a piece that has to make room. The
  /// caller overwrites it.
  SeenPiece& place_for(std::uint64_t id);

  const std::vector<SeenPiece>& pieces() const { return pieces_; }

 private:
  std::size_t first_place(std::uint64_t id) const { return (id >> 20) % kSets * kWays; }

  std::vector<SeenPiece> pieces_;
};

}  // namespace zerohop
