#include "step_probe.h"

#include <algorithm>

namespace zerohop {
namespace {

// The planner lets a prompt advance by eight rows a step, however full the step is.
constexpr std::int64_t kPrefillRowsLeast = 8;

}  // namespace

DecodeStatus StepProbe::on_decode(std::span<const BatchRow> rows) {
  ++decodes_;
  look(rows);
  if (inside) inside();
  const DecodeStatus status = choose();
  count_fault(status);
  last_ = status;
  for (const auto& [slot, view] : now_) {
    if (status == DecodeStatus::kNoRoom) break;  // nothing changed
    sampled_after_.erase(slot);
    if (status == DecodeStatus::kOk && view.logits) sampled_after_[slot] = view;
  }
  return status;
}

void StepProbe::look(std::span<const BatchRow> rows) {
  now_.clear();
  std::int64_t cells_read = 0;
  std::int64_t deepest = 0;
  for (const BatchRow& row : rows) {
    SlotView& view = now_[row.slot];
    if (view.rows++ == 0) {
      view.begin = row.position;
      view.first_logits = row.wants_logits;
    }
    view.logits = row.wants_logits;
    deepest = std::max<std::int64_t>(deepest, row.position);
  }
  decoders_ = singles_ = 0;
  rows_ = rows.size();
  cells_read += kPrefillRowsLeast * deepest;
  for (const auto& [slot, view] : now_) {
    if (!view.first_logits) continue;
    ++singles_;
    cells_read += view.begin;
    const auto last = sampled_after_.find(slot);
    if (last != sampled_after_.end() && view.goes_on_behind(last->second)) ++decoders_;
  }
  const auto rows_least = static_cast<std::int64_t>(singles_) + kPrefillRowsLeast;
  least_cost_ =
      options_.cost.base + rows_least * options_.cost.per_row + cells_read * options_.cost.per_cell;
}

DecodeStatus StepProbe::choose() {
  const double chance =
      last_ == DecodeStatus::kOk ? options_.fault_chance : options_.fault_again_chance;
  if (!random_.chance(chance)) return DecodeStatus::kOk;
  return random_.chance(0.5) ? DecodeStatus::kFatal : DecodeStatus::kNoRoom;
}

// An abort can follow kOk, but only where everybody in the batch has gone or the engine stops.
void StepProbe::count_fault(DecodeStatus status) {
  if (status == DecodeStatus::kOk) return;
  if (now_.size() == 1 && fatal_ + no_room_ > 0) ++failures_allowed_;
  ++(status == DecodeStatus::kFatal ? fatal_ : no_room_);
  last_fault_ = decodes_;
  trace_.add(status == DecodeStatus::kFatal ? "the model fails" : "the model has no room");
}

}  // namespace zerohop
