// How soon a cached piece will be used again: the one function that decides what is dropped first.
//
// A piece is an edge of the prefix tree: some tokens that were computed together and are used
// together. Plain recency keeps what was used last, and most prompts are never seen again; so the
// model learns online, from what it sees happen to pieces of the same kind, how often and how soon
// they come back. reuse_model.cc tells how.
//
// Time is counted in lookups, not in seconds: the same under any load. Not thread-safe; the cache's
// owner. Pure. About 1.5 MB, allocated once; value() takes some nanoseconds, advance() some
// microseconds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cache/reuse_history.h"
#include "core/tenant.h"
#include "core/token.h"

namespace zerohop {

/// What is known of a piece.
struct PieceFacts {
  /// piece_id(), the same when the piece is computed again after it was dropped. 0: has none;
  /// nothing is learned from it, and recency alone decides.
  std::uint64_t id = 0;
  std::uint32_t tokens = 0;      ///< of the piece
  std::uint32_t begin = 0;       ///< tokens before it in its prompt
  std::uint32_t uses = 0;        ///< prompts that were matched through it after its first
  std::uint64_t created_at = 0;  ///< logical times, see ReuseModel::now()
  std::uint64_t last_used_at = 0;
  std::uint64_t gap = 0;  ///< between its last two uses; 0: used once
  /// Of the answer to the prompt that it was computed for; 0: not known yet.
  std::uint32_t answer_tokens = 0;
  bool generated = false;  ///< written by the model, not part of a prompt
  bool marked = false;     ///< in front of a client's cache mark
  PriorityClass priority = PriorityClass::kStandard;
};

/// The id of the piece that begins at position `begin` with the token `first` and follows the piece
/// with the id `above` (0: none, the piece begins a prompt). Never 0.
std::uint64_t piece_id(std::uint64_t above, std::uint32_t begin, Token first);

class ReuseModel {
 public:
  ReuseModel();

  /// Logical time: grows by one for each prompt that is looked up.
  std::uint64_t now() const { return now_; }
  void advance();

  /// A piece was computed (`facts.id` is set). If it is one that was dropped before, `facts` is
  /// told of its earlier uses, and the model learns that it was wanted again. Returns how many
  /// tokens the earlier piece had; 0: it is new. What follows it had uses of its own: best kept as
  /// a piece of its own and recalled too.
  std::uint32_t recall(PieceFacts& facts);
  /// A piece got its final size, or was cut off another one.
  void note(const PieceFacts& facts);
  /// A piece was used again (`facts` as they were before this use).
  void learn_used(const PieceFacts& facts);

  /// Expected uses per token of room and lookup from now on: the lowest goes first. A piece in
  /// front of others is worth at least as much as they are; the cache sees to that.
  double value(const PieceFacts& facts) const;

 private:
  static constexpr std::size_t kUses = 8;              ///< classes by number of uses
  static constexpr std::size_t kAnswers = 4;           ///< classes by length of the answer
  static constexpr std::size_t kForms = kAnswers + 2;  ///< these, short pieces, generated ones
  static constexpr std::size_t kDepths = 8;
  static constexpr std::size_t kKinds = kUses * kForms * kDepths;
  static constexpr std::size_t kAges = 40;  ///< half octaves: to a million lookups

  using PerAge = std::array<double, kAges>;
  /// What befell the pieces of one kind, in pieces of mean size, by age since their last use.
  struct Fates {
    PerAge used{};     ///< used again at that age
    PerAge ended{};    ///< observed until that age (used then, or not seen any longer)
    PerAge partial{};  ///< time that those spent in the age at which they ended
  };

  static std::size_t age_class(std::uint64_t age);
  static double age_begin(std::size_t age_class);
  static std::size_t uses_class(std::uint32_t uses);
  std::size_t form_of(const PieceFacts& facts) const;
  static PerAge index_of(const PerAge& hazard);
  static void add(Fates& to, const Fates& from);
  static PerAge exposure(const Fates& fates);
  static PerAge shrunk(const Fates& fates, const PerAge& prior);

  std::size_t kind_of(const PieceFacts& facts) const;
  double weight_of(std::uint32_t tokens) const;
  void observe(std::size_t kind, std::uint64_t age, double weight, bool used);
  void store(const PieceFacts& facts, std::uint64_t last_used_at);
  void start_round();
  void refresh(std::size_t kind);

  std::uint64_t now_ = 0;
  double mean_tokens_ = 0;
  double mean_answer_ = 0;
  float depth_scale_ = 0;   ///< 16 / mean_tokens_
  float answer_scale_ = 0;  ///< 8 / mean_answer_
  float short_tokens_ = 0;  ///< pieces of fewer tokens are short
  ReuseHistory history_;
  std::vector<Fates> fates_;     ///< by kind
  std::vector<Fates> current_;   ///< the same with those that are still being observed
  std::vector<PerAge> hazards_;  ///< by class of uses: the prior of its kinds
  std::vector<PerAge> index_;    ///< by kind: what value() looks up
  std::size_t next_kind_ = 0;
};

}  // namespace zerohop
