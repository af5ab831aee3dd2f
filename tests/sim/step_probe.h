// Sits inside the model: sees the rows of every decode, and is where the model fails.
//
// It tells which slots decode (they had logits in their last step and now compute the very next
// position, alone), so that the world can hold the length of a step against the ITL objective, and
// it counts how many requests may fail: only one that was computed alone when a step failed, and
// not for the first time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>

#include "base/random.h"
#include "model/fake_model.h"
#include "trace.h"
#include "world_options.h"

namespace zerohop {

class StepProbe {
 public:
  StepProbe(const WorldOptions& options, Random& random, Trace& trace)
      : options_(options), random_(random), trace_(trace) {}

  /// Called by the model before each decode; runs `inside`.
  DecodeStatus on_decode(std::span<const BatchRow> rows);
  std::function<void()> inside;

  /// Somebody decoded in the last step, that is, waited for it.
  bool somebody_waits() const { return decoders_ > 0; }
  std::size_t decoders() const { return decoders_; }
  /// Slots whose first row's logits were asked for: all decoders, whose drafts stand behind it, and
  /// perhaps the end of a prompt.
  std::size_t singles() const { return singles_; }
  std::size_t slots() const { return now_.size(); }
  std::size_t rows() const { return rows_; }
  /// After a failed step sequences catch up to where they were, like prompts, or wait for those
  /// that do.
  bool recovering() const { return fatal_ + no_room_ > 0 && decodes_ - last_fault_ < 100; }
  /// The shortest that the last step could be: every decoder's row, and the least progress of a
  /// prompt.
  Duration least_cost() const { return least_cost_; }
  std::uint64_t decodes() const { return decodes_; }
  std::uint64_t fatal() const { return fatal_; }
  std::uint64_t no_room() const { return no_room_; }
  /// Failed steps with one slot, but for the first.
  std::uint64_t failures_allowed() const { return failures_allowed_; }

 private:
  struct SlotView {
    std::int32_t begin = 0;
    std::int32_t rows = 0;
    bool first_logits = false;
    bool logits = false;  // of the last row

    bool goes_on_behind(const SlotView& last) const {
      const std::int32_t first = last.first_logits ? last.begin + 1 : last.begin + last.rows;
      return begin >= first && begin <= last.begin + last.rows;
    }
  };
  void look(std::span<const BatchRow> rows);
  DecodeStatus choose();
  void count_fault(DecodeStatus status);

  const WorldOptions& options_;
  Random& random_;
  Trace& trace_;
  std::map<SlotId, SlotView> now_;            // of this decode
  std::map<SlotId, SlotView> sampled_after_;  // of the last one with logits
  std::size_t decoders_ = 0;
  std::size_t singles_ = 0;
  std::size_t rows_ = 0;
  std::uint64_t last_fault_ = 0;
  Duration least_cost_{};
  DecodeStatus last_ = DecodeStatus::kOk;
  std::uint64_t decodes_ = 0;
  std::uint64_t fatal_ = 0;
  std::uint64_t no_room_ = 0;
  std::uint64_t failures_allowed_ = 0;
};

}  // namespace zerohop
