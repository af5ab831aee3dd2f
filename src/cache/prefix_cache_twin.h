// The naive twin of the prefix cache, for its tests and its fuzz target: it obeys every plan with
// plain containers, knows what each slot and each saved state really holds, and says where the
// cache is wrong. Crashes (with the run's name) on the first disagreement.
//
// A cell is a number that stands for its token and everything before it, as in a model: cells that
// were put together from different prompts are seen to be wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cache/prefix_cache.h"

namespace zerohop {

struct TwinOptions {
  std::string name;  ///< printed when it fails
  KvCapabilities capabilities;
  PrefixCacheOptions cache;
  std::uint32_t scopes = 1;    ///< of the requests, the public one included
  std::uint32_t alphabet = 3;  ///< different tokens
  std::uint32_t prompt_max = 60;
  bool pins = false;
  bool reports_at_once = false;  ///< in the middle of a plan, not behind it
  bool surprises = false;        ///< states larger than estimated, lost ones, failed plans
};

/// Below `bound`, which is above 0. A random number, or the next byte of a fuzzer.
using Chooser = std::function<std::uint64_t(std::uint64_t bound)>;

class CacheTwin {
 public:
  CacheTwin(const TwinOptions& options, Chooser choose);

  /// One random operation, and all checks.
  void step();
  /// Ends all sequences; then drops everything, after which no cell may be held.
  void finish();

 private:
  using State = std::uint64_t;
  struct Cell {
    std::uint64_t id = 0;
    State state = 0;
  };
  struct SavedState {
    PositionRange range;
    std::vector<State> states;  // from position 0 on, what stood in front of it included
    std::uint64_t bytes = 0;
  };
  struct Sequence {
    SlotId slot;
    ScopeId scope;
    std::vector<Token> prompt;
    std::vector<Token> tokens;  // what is held
    std::uint32_t reserved = 0;
  };
  struct Pinned {
    ScopeId scope;
    std::vector<Token> tokens;
    std::int32_t found = 0;
  };

  void check(bool condition, const char* what) const;
  std::vector<Token> make_prompt();
  std::vector<State> states_of(const std::vector<Token>& tokens) const;
  std::vector<Cell>& cells(SlotId slot) { return slots_[slot.value]; }
  void add_cell(SlotId slot, const Cell& cell);
  void cut(SlotId slot, std::size_t length);
  bool ranges() const;

  void obey(const CachePlan& plan);
  void obey_op(const DropTail& op);
  void obey_op(const ShareHead& op);
  void obey_op(const SaveRange& op);
  void obey_op(const RestoreRange& op);
  void obey_op(const ForgetBlob& op);
  void obey_op(const CompressBlob& op);
  void report(BlobId blob);
  void lose(BlobId blob);
  void fall_short(SlotId slot);

  void place();
  void check_placement(const PlaceRequest& request, const Placement& placement,
                       std::int32_t device_before);
  void check_refusal(const PlaceRequest& request, PlaceRefusal refusal);
  void grow();
  void grow_by(Sequence& sequence, std::size_t count);
  void reserve();
  void release();
  void look_up();
  void pin();
  void adopt();
  void press();
  void compact();
  void fail();
  void check_books();
  void expect_nothing_of_pins();
  void check_pins();
  void introduce(ScopeId scope, const std::vector<State>& states, std::size_t from);

  const TwinOptions options_;
  Chooser choose_;
  PrefixCache cache_;
  std::map<std::int32_t, std::vector<Cell>> slots_;
  std::map<std::int32_t, ScopeId> slot_scopes_;  // of the sequence that was there last
  std::map<std::uint64_t, SavedState> blobs_;
  std::vector<Sequence> running_;
  std::vector<std::vector<Token>> prompts_;  // to be continued by later ones
  std::vector<Pinned> pinned_;
  std::map<std::uint64_t, std::set<State>> introduced_;  // by scope: what it has computed
  std::vector<std::uint64_t> lost_;                      // to be reported once a plan is obeyed
  std::set<std::int32_t> failed_;                        // slots that a restore failed in
  std::vector<std::uint32_t> holders_;                   // by cell
  std::size_t physical_ = 0;
  std::uint64_t next_cell_ = 1;
  std::uint64_t steps_ = 0;
  bool adopted_ = false;
  TimePoint now_{};
};

}  // namespace zerohop
