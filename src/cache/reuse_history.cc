#include "cache/reuse_history.h"

namespace zerohop {

SeenPiece* ReuseHistory::find(std::uint64_t id) {
  SeenPiece* place = &pieces_[first_place(id)];
  for (std::size_t i = 0; i < kWays; ++i, ++place) {
    if (place->id == id) return place;
  }
  return nullptr;
}

SeenPiece& ReuseHistory::place_for(std::uint64_t id) {
  SeenPiece* const set = &pieces_[first_place(id)];
  SeenPiece* oldest = set;
  for (SeenPiece* place = set; place < set + kWays; ++place) {
    if (place->id == 0) return *place;
    if (place->last_used_at < oldest->last_used_at) oldest = place;
  }
  return *oldest;
}

}  // namespace zerohop
