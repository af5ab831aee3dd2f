// A machine as its users share it: with a number for the cache, and replaced when it has grown.
//
// A machine makes its states on demand and never forgets one. Once it takes more than `bytes_max`,
// trim() replaces it by one without states. Users notice by generation() and find their places
// again by replaying their bytes, some 0.1 µs each. Where the places of those alive take that much
// by themselves, trims follow each other quickly; then the limit doubles until they do not.
//
// Engine thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "constrain/constraint_machine.h"

namespace zerohop {

class LiveMachine {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{16} << 20;
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
  bool note_token() { return ++tokens_ % kTokensALook == 0 && machine_->memory_bytes() > limit_; }

  /// Replaces the machine; all states mean nothing any more.
  void trim();

  /// How many tokens its shortest text takes, as the first session found out; all sessions of one
  /// MaskCache agree. The inner optional is empty where it cannot be written.
  std::optional<std::optional<std::size_t>> tokens_needed;

 private:
  std::unique_ptr<ConstraintMachine> machine_;
  std::uint64_t id_;
  std::size_t bytes_max_;
  std::size_t limit_;
  std::uint64_t tokens_ = 0;  // since the last trim
  std::uint32_t generation_ = 0;
};

}  // namespace zerohop
