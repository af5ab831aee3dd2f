// Stop sequences: one automaton per request, one matcher per sequence.
//
// The client's stop strings are matched on bytes while tokens arrive. Nothing of a match is ever
// shown, and text that could still become one is held back, no more:
//
//   stops {"\n\nUser:", "END"}       token      shown     held back
//                                    "Hi\n"     "Hi"      "\n"
//                                    "\nU"      ""        "\n\nU"
//                                    "nix E"    "\n\nUnix "  "E"
//                                    "ND."      ""        stop "END"; "." is dropped too
//
// StopAutomaton is compiled once, immutable, and may be shared by any threads. StopMatcher belongs
// to one sequence and one thread. The same automaton finds the names of special tokens in prompt
// text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zerohop {

class StopAutomaton {
 public:
  using State = std::uint32_t;
  static constexpr State kStart = 0;

  /// Compiles `stops`, none of which may be empty. Their order is their priority. At most one state
  /// a byte, plus one; 17 bytes a state. Time: linear in the bytes, plus sorting the strings.
  static std::shared_ptr<const StopAutomaton> compile(std::span<const std::string> stops);

  /// The state after one more byte. Amortised over a text this looks at no more than two states a
  /// byte.
  State next(State state, unsigned char byte) const;

  /// Length in bytes of the longest suffix of the text read so far that begins some stop sequence.
  std::size_t depth(State state) const { return depth_[state]; }

  /// The stop sequence that ends at this state, by its index; the lowest one when several do.
  std::optional<std::size_t> match(State state) const {
    if (match_[state] == kNoMatch) return std::nullopt;
    return match_[state];
  }

  const std::string& stop(std::size_t index) const { return stops_[index]; }
  std::size_t stop_count() const { return stops_.size(); }
  std::size_t state_count() const { return depth_.size(); }

 private:
  static constexpr std::uint32_t kNoMatch = std::numeric_limits<std::uint32_t>::max();
  class Builder;

  StopAutomaton() = default;
  State child(State state, unsigned char byte) const;

  std::vector<std::string> stops_;
  std::array<State, 256> root_{};     // the start state's row, dense
  std::vector<State> first_child_;    // children of s: [first_child_[s], first_child_[s + 1])
  std::vector<unsigned char> label_;  // the byte on the edge that leads into a state
  std::vector<State> fail_;           // the longest proper suffix that is a state too
  std::vector<std::uint32_t> depth_;
  std::vector<std::uint32_t> match_;
};

class SoftCapStops;

class StopMatcher {
 public:
  explicit StopMatcher(std::shared_ptr<const StopAutomaton> automaton);

  /// From the next byte on `stops` are matched, which hold those of before. Of the text so far only
  /// what is held back can be part of a match.
  void change_over(std::shared_ptr<const SoftCapStops> stops);

  /// Takes the next bytes and appends to `released` what may be shown now. The index of a stop
  /// sequence (after change_over(), of a text of SoftCapStops) when one matched: `released` then
  /// has everything in front of the match and what of it is shown, what follows it is dropped, and
  /// the matcher must not be fed again.
  std::optional<std::size_t> feed(std::string_view bytes, std::string& released);

  /// The bytes held back.
  std::string_view held() const { return held_; }

  /// No more bytes will come: appends what was held back to `released`.
  void flush(std::string& released);

 private:
  void release_all_but(std::size_t kept, std::string_view bytes, std::string& released);

  std::shared_ptr<const StopAutomaton> automaton_;
  std::shared_ptr<const SoftCapStops> soft_;  // once changed over
  StopAutomaton::State state_ = StopAutomaton::kStart;
  std::string held_;  // always the last automaton_->depth(state_) bytes of the text
};

}  // namespace zerohop
