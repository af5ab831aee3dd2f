#include "prompt/shape_cache.h"

namespace zerohop {

std::shared_ptr<const ShapeRendering> ShapeCache::find(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->second;
}

void ShapeCache::insert(const std::string& key, std::shared_ptr<const ShapeRendering> rendering) {
  Entry entry{key, std::move(rendering)};
  if (cost(entry) > limits_.bytes || limits_.entries == 0) return;
  const std::scoped_lock lock(mutex_);
  if (by_key_.contains(key)) return;  // another thread was faster
  bytes_ += cost(entry);
  entries_.push_front(std::move(entry));
  by_key_.emplace(key, entries_.begin());
  while (entries_.size() > limits_.entries || bytes_ > limits_.bytes) {
    bytes_ -= cost(entries_.back());
    by_key_.erase(entries_.back().first);
    entries_.pop_back();
  }
}

std::size_t ShapeCache::size() const {
  const std::scoped_lock lock(mutex_);
  return entries_.size();
}

}  // namespace zerohop
