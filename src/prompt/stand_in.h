// Stand-ins: short unique texts that take the place of contents while a chat template is rendered,
// to be found again in its output. Plain values; any thread.
//
// A stand-in is 24 digits: nothing that templates do to text (trimming, changing case, escaping for
// HTML or JSON) changes digits. Its first digit, 9, occurs nowhere else among the first 16, so a
// stand-in can only begin where it begins, whatever digits stand beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zerohop {

class StandIns {
 public:
  /// Stand-ins of different seeds differ.
  explicit StandIns(std::uint64_t seed);

  /// The one with number `index`, below 100 million.
  std::string make(std::size_t index) const;

  struct Found {
    std::size_t begin = 0;  ///< in bytes
    std::size_t end = 0;
    std::size_t index = 0;
  };
  /// The first one at or behind byte `from`.
  std::optional<Found> find(std::string_view text, std::size_t from) const;

  /// Whether `text` has something that could be taken for a stand-in.
  bool occur_in(std::string_view text) const {
    return text.find(prefix_) != std::string_view::npos;
  }

 private:
  std::string prefix_;
};

}  // namespace zerohop
