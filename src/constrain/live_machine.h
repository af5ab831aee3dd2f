// A machine as its users share it: with a number for the cache, and replaced when it has grown.
//
// A machine makes its states on demand and never forgets one. Once it takes more than a limit,
// trim() replaces it by one without states. Users notice by generation() and find their places
// again by reading their texts once more, some 0.1 µs a byte.
//
// The limit is `bytes_max` at first. Where trims follow each other quickly it is too low for the
// states that are in constant use, and doubles, up to kGrowthMax times of that and no further:
// there are constraints that make states without end. But it is never below twice what the users'
// own places take (note_read_again()): less could not be kept, and so a trim always drops as much
// as is then made again.
//
// Engine thread only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "constrain/constraint_machine.h"

namespace zerohop {

class LiveMachine {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{16} << 20;
  static constexpr std::size_t kGrowthMax = 8;
  static constexpr std::uint64_t kTokensALook = 16;

  /// `id` differs between all live machines of one MaskCache.
  LiveMachine(std::unique_ptr<ConstraintMachine> machine, std::uint64_t id,
              std::size_t bytes_max = kBytesMax);

  ConstraintMachine& machine() { return *machine_; }
  /// For the mask cache: another one after each trim.
  std::uint64_t cache_id() const;
  std::uint32_t generation() const { return generation_; }

  /// Counts one token of a user; true: the machine is too large, call trim(), and in front of that
  /// MaskCache::forget(cache_id()). Looks at every kTokensALook-th one only: adding up what a
  /// machine takes costs more than the check of a token.
  bool note_token() { return ++tokens_ % kTokensALook == 0 && machine_->memory_bytes() > limit(); }

  /// A user has found its place after a trim, by states of so many bytes that were not there.
  void note_read_again(std::size_t bytes) { places_bytes_ += bytes; }

  /// Bytes beyond which it is too large.
  std::size_t limit() const { return std::max(limit_, 2 * places_bytes_); }

  /// Replaces the machine; all states mean nothing any more.
  void trim();

  /// How many tokens its shortest text takes, as the first session found out; all sessions of one
  /// MaskCache agree. The inner optional is empty where it cannot be written.
  std::optional<std::optional<std::size_t>> tokens_needed;

 private:
  std::unique_ptr<ConstraintMachine> machine_;
  std::uint64_t id_;
  std::size_t bytes_max_;
  std::size_t limit_;             // of states that are kept for later users
  std::size_t places_bytes_ = 0;  // of places that were found again since the last trim
  std::uint64_t tokens_ = 0;      // since the last trim
  std::uint32_t generation_ = 0;
};

}  // namespace zerohop
