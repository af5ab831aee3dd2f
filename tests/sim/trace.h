// What happened in a simulated world, one line per event, and the first rule that was broken.
//
// The hash covers every line, so two runs of one seed can be compared exactly; the last lines are
// kept for whoever has to find out why. One owner, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace zerohop {

class Trace {
 public:
  explicit Trace(std::uint64_t seed) : seed_(seed) {}

  void add(std::string line);

  /// The first failure is kept; the world stops at it.
  void fail(std::string what);
  void require(bool holds, std::string_view what) {
    if (!holds) fail(std::string(what));
  }
  bool failed() const { return !failure_.empty(); }

  std::uint64_t hash() const { return hash_; }

  /// The seed, what was wrong, and the last events.
  std::string report() const;

 private:
  const std::uint64_t seed_;
  std::string failure_;
  std::deque<std::string> last_;
  std::uint64_t hash_ = 0;
};

}  // namespace zerohop
