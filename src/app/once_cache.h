// Things that are costly to make and shared afterwards: made once for a key, however many threads
// ask at the same time; the others wait. Those used least lately are dropped when all together take
// too many bytes.
//
// Any thread. Whoever makes a thing must not ask the same cache for it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace zerohop {

template <class T>
class OnceCache {
 public:
  using Shared = std::shared_ptr<const T>;

  struct Made {
    Shared value;             ///< not null
    std::size_t bytes = 0;    ///< that it takes; its key is counted beside
    bool kept = true;         ///< false: whoever asks next has it made again
    bool for_waiters = true;  ///< of what is not kept: those who wait for it get it all the same
  };

  struct Counts {
    // Every get() counts once, when it has its thing.
    std::uint64_t hits = 0;    ///< it was there
    std::uint64_t joined = 0;  ///< another caller was making it
    std::uint64_t misses = 0;  ///< it was made
    std::size_t bytes = 0;
    std::size_t entries = 0;
    std::size_t waiting = 0;  ///< callers, for what another one makes
  };

  explicit OnceCache(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  /// What `make` (without arguments, → Made) made for this key, now or earlier.
  template <class Make>
  Shared get(const std::string& key, Make make) {
    std::unique_lock lock(mutex_);
    for (auto found = entries_.find(key); found != entries_.end(); found = entries_.find(key)) {
      if (found->second.value != nullptr) {
        ++counts_.hits;
        order_.splice(order_.begin(), order_, found->second.place);
        return found->second.value;
      }
      const std::shared_ptr<Flight> flight = found->second.flight;
      ++counts_.waiting;
      made_.wait(lock, [&flight] { return flight->landed; });
      --counts_.waiting;
      if (flight->value == nullptr) continue;
      ++counts_.joined;
      return flight->value;
    }
    entries_.try_emplace(key).first->second.flight = std::make_shared<Flight>();
    lock.unlock();
    Made made = make();
    lock.lock();
    ++counts_.misses;
    settle(key, made);
    made_.notify_all();
    return std::move(made.value);
  }

  Counts counts() const {
    const std::lock_guard lock(mutex_);
    Counts counts = counts_;
    counts.bytes = bytes_;
    counts.entries = order_.size();
    return counts;
  }

 private:
  // What those who wait for a thing wait for.
  struct Flight {
    bool landed = false;
    Shared value;  // null: to be made again
  };

  struct Entry {
    Shared value;  // null: being made
    std::shared_ptr<Flight> flight;
    std::size_t bytes = 0;
    typename std::list<const std::string*>::iterator place;
  };

  void settle(const std::string& key, const Made& made) {
    const auto entry = entries_.find(key);
    // Whoever waits holds it too.
    const std::shared_ptr<Flight> flight = std::move(entry->second.flight);
    flight->landed = true;
    if (made.kept || made.for_waiters) flight->value = made.value;
    const std::size_t bytes = made.bytes + key.size() + sizeof(Entry);
    if (!made.kept || bytes > bytes_max_) {
      entries_.erase(entry);
      return;
    }
    entry->second.value = made.value;
    entry->second.bytes = bytes;
    order_.push_front(&entry->first);  // keys of a map stay where they are
    entry->second.place = order_.begin();
    bytes_ += bytes;
    while (bytes_ > bytes_max_) {
      const auto last = entries_.find(*order_.back());
      order_.pop_back();
      bytes_ -= last->second.bytes;
      entries_.erase(last);
    }
  }

  const std::size_t bytes_max_;
  mutable std::mutex mutex_;
  std::condition_variable made_;
  // Guarded by mutex_
  std::unordered_map<std::string, Entry> entries_;
  std::list<const std::string*> order_;  // those that are made; used last first
  std::size_t bytes_ = 0;
  Counts counts_;
};

}  // namespace zerohop
