// Where to go on when a rule is done: returns, numbered, equal ones once.
//
// Owned by one machine; its thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "constrain/grammar_tables.h"

namespace zerohop {

using GrammarReturn = std::uint32_t;

/// An item to go on with: from `position` on, then to `back`.
struct GrammarFrame {
  GrammarPosition position = 0;
  GrammarReturn back = 0;
  friend auto operator<=>(const GrammarFrame&, const GrammarFrame&) = default;
};

class GrammarReturns {
 public:
  /// `tables` outlives it.
  explicit GrammarReturns(const GrammarTables& tables);

  /// The text is complete.
  static constexpr GrammarReturn kWhole = 0;
  /// Names rule r of the state that is being made, in frames given to add().
  static constexpr GrammarReturn kHere = 0x8000'0000;

  std::span<const GrammarFrame> frames(GrammarReturn back) const {
    return {frames_.data() + nodes_[back].first, nodes_[back].count};
  }
  /// Bytes of the shortest rest of the text from there.
  std::uint32_t bytes(GrammarReturn back) const { return nodes_[back].bytes; }
  /// Appends that rest.
  void append_text(std::string& text, GrammarReturn back) const;

  /// One rule that a state waits for, and the items that wait.
  struct Waiting {
    std::uint32_t rule = 0;
    std::vector<GrammarFrame> frames;  ///< `back` may be kHere + rule
  };
  /// The return of each, in order. A rule that is awaited only at ends of rules that all go back to
  /// one place gets that place.
  std::vector<GrammarReturn> add(const std::vector<Waiting>& waiting);

  std::size_t memory_bytes() const;

 private:
  struct Node {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t bytes = UINT32_MAX;
    std::uint32_t best = 0;  // index of the frame that is shortest
  };
  enum class Progress : std::uint8_t { kNew, kOpen, kDone };
  struct Draft {
    const Waiting* waiting = nullptr;
    Progress alias_progress = Progress::kNew;
    Progress progress = Progress::kNew;
    bool has_alias = false;
    GrammarReturn alias = 0;  // may be kHere + rule
    GrammarReturn node = kUnmade;
  };
  // Marks in keys and drafts; smaller than kHere, larger than any node.
  static constexpr GrammarReturn kUnmade = 0x7fff'ffff;
  static constexpr GrammarReturn kSelf = 0x7fff'fffe;

  bool find_alias(std::uint32_t rule);
  GrammarReturn resolve(GrammarReturn back);
  GrammarReturn make(std::uint32_t rule);
  GrammarReturn reserve();
  void fill(GrammarReturn node, const std::vector<GrammarFrame>& frames);
  void measure(std::size_t first_new);

  const GrammarTables& tables_;
  std::vector<Node> nodes_;
  std::vector<GrammarFrame> frames_;
  std::map<std::vector<GrammarFrame>, GrammarReturn> known_;
  std::vector<Draft> drafts_;  // by rule; used inside add()
};

}  // namespace zerohop
