// The renderings of conversation shapes, most recently used first, within two limits.
//
// Any thread; the lock is held for a look-up or an insertion, never over a rendering. Two threads
// may therefore render one shape at the same time; the results are equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace zerohop {

/// What a template makes of a shape: its own text, and where which content goes into it.
struct ShapeRendering {
  struct Insertion {
    std::size_t offset = 0;   ///< in `text`, ascending
    std::size_t message = 0;  ///< whose content belongs there; from their number on: its thoughts
  };

  std::string text;                   ///< without the contents
  std::vector<Insertion> insertions;  ///< a template may drop, repeat and reorder contents
  std::vector<std::size_t> specials;  ///< special texts in `text`, by index, in order

  std::size_t bytes() const {
    return text.size() + insertions.size() * sizeof(Insertion) +
           specials.size() * sizeof(std::size_t);
  }
};

class ShapeCache {
 public:
  struct Limits {
    std::size_t entries = 1'024;    ///< a growing conversation has a new shape with every turn
    std::size_t bytes = 16u << 20;  ///< a shape of 1,000 turns takes about 50 KiB
  };

  explicit ShapeCache(Limits limits) : limits_(limits) {}

  /// Null when it is not there.
  std::shared_ptr<const ShapeRendering> find(const std::string& key);

  /// Keeps it unless it exceeds the limits alone; drops what was not used for longest.
  void insert(const std::string& key, std::shared_ptr<const ShapeRendering> rendering);

  std::size_t size() const;

 private:
  using Entry = std::pair<std::string, std::shared_ptr<const ShapeRendering>>;
  static std::size_t cost(const Entry& entry) { return entry.first.size() + entry.second->bytes(); }

  const Limits limits_;

  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // guarded by mutex_; last used first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_key_;  // guarded by mutex_
  std::size_t bytes_ = 0;                                               // guarded by mutex_
};

}  // namespace zerohop
