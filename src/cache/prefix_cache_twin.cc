#include "cache/prefix_cache_twin.h"

#include <algorithm>

#include "base/check.h"
#include "base/random.h"

namespace zerohop {
namespace {

std::size_t size_of(std::int32_t count) { return static_cast<std::size_t>(count); }

}  // namespace

CacheTwin::CacheTwin(const TwinOptions& options, Chooser choose)
    : options_(options), choose_(std::move(choose)), cache_(options.capabilities, options.cache) {}

void CacheTwin::check(bool condition, const char* what) const {
  if (condition) return;
  check_failed(options_.name.c_str(), static_cast<int>(steps_), what);
}

std::vector<CacheTwin::State> CacheTwin::states_of(const std::vector<Token>& tokens) const {
  std::vector<State> states;
  State state = 1;
  for (const Token token : tokens) {
    state = mix64(state * 31 + static_cast<State>(token) + 1);
    states.push_back(state);
  }
  return states;
}

void CacheTwin::add_cell(SlotId slot, const Cell& cell) {
  cells(slot).push_back(cell);
  if (holders_.size() <= cell.id) holders_.resize(cell.id + 1);
  if (holders_[cell.id]++ == 0) ++physical_;
}

void CacheTwin::cut(SlotId slot, std::size_t length) {
  std::vector<Cell>& held = cells(slot);
  while (held.size() > length) {
    if (--holders_[held.back().id] == 0) --physical_;
    held.pop_back();
  }
}

bool CacheTwin::ranges() const {
  const KvCapabilities& can = options_.capabilities;
  return can.can_save_range && can.can_share_range && can.can_cut_tail;
}

// ---- obeying plans ----

void CacheTwin::obey(const CachePlan& plan) {
  std::set<std::uint64_t> saved;
  for (const CacheOp& op : plan) {
    if (const auto* save = std::get_if<SaveRange>(&op)) saved.insert(save->blob.value);
    const auto* forget = std::get_if<ForgetBlob>(&op);
    check(forget == nullptr || !saved.contains(forget->blob.value), "saves what it forgets");
    std::visit([&](const auto& one) { obey_op(one); }, op);
    if (options_.capabilities.pooled) {
      check(physical_ <= options_.capabilities.cells, "more cells held than there are");
    }
  }
  if (options_.reports_at_once) return;
  failed_.clear();
  for (const std::uint64_t blob : lost_) cache_.lost(BlobId(blob));
  lost_.clear();
  for (const CacheOp& op : plan) {
    if (const auto* save = std::get_if<SaveRange>(&op)) report(save->blob);
    if (const auto* compress = std::get_if<CompressBlob>(&op)) report(compress->blob);
  }
}

void CacheTwin::report(BlobId blob) {
  const auto found = blobs_.find(blob.value);
  if (found != blobs_.end()) obey(cache_.saved(blob, found->second.bytes));
}

// The bytes of `blob` could not be made or read.
void CacheTwin::lose(BlobId blob) {
  blobs_.erase(blob.value);
  if (options_.reports_at_once) {
    cache_.lost(blob);
  } else {
    lost_.push_back(blob.value);
  }
}

// Something in `slot` did not come about; the rest of the plan finds less there than it thinks.
void CacheTwin::fall_short(SlotId slot) {
  failed_.insert(slot.value);
  const auto held = static_cast<std::int32_t>(cells(slot).size());
  if (options_.reports_at_once && held < cache_.held(slot)) cache_.correct(slot, held);
}

void CacheTwin::obey_op(const DropTail& op) {
  const std::vector<Cell>& held = cells(op.slot);
  const bool short_of = failed_.contains(op.slot.value) && size_of(op.from) > held.size();
  check(op.from >= 0 && (short_of || size_of(op.from) <= held.size()),
        "drops a tail that is not there");
  check(options_.capabilities.can_cut_tail || op.from == 0, "cuts what cannot be cut");
  cut(op.slot, size_of(op.from));
}

void CacheTwin::obey_op(const ShareHead& op) {
  const std::vector<Cell> from = cells(op.from);
  check(cells(op.to).empty(), "shares into a slot that is not empty");
  const bool short_of = failed_.contains(op.from.value);
  check(op.length > 0 && (short_of || from.size() >= size_of(op.length)),
        "shares what is not held");
  check(options_.capabilities.can_cut_tail || short_of || from.size() == size_of(op.length),
        "copies a part of what cannot be cut");
  check(options_.capabilities.can_copy_whole, "copies where nothing can be copied");
  for (std::size_t i = 0; i < std::min(size_of(op.length), from.size()); ++i) {
    add_cell(op.to, options_.capabilities.pooled ? from[i] : Cell{next_cell_++, from[i].state});
  }
  if (from.size() < size_of(op.length)) fall_short(op.to);
}

void CacheTwin::obey_op(const SaveRange& op) {
  const std::vector<Cell>& held = cells(op.slot);
  check(op.range.begin >= 0 && !op.range.empty(), "saves an empty range");
  check(!blobs_.contains(op.blob.value), "saves under a known id");
  const bool short_of = failed_.contains(op.slot.value) && held.size() < size_of(op.range.end);
  if (short_of || (options_.surprises && choose_(12) == 0)) return lose(op.blob);
  check(size_of(op.range.end) <= held.size(), "saves what is not held");
  check(ranges() || (op.range.begin == 0 && size_of(op.range.end) == held.size()),
        "saves a part where only wholes can be saved");
  SavedState saved;
  saved.range = op.range;
  for (int i = 0; i < op.range.end; ++i) saved.states.push_back(held[size_of(i)].state);
  saved.bytes = static_cast<std::uint64_t>(op.range.size()) * options_.capabilities.bytes_per_cell;
  if (options_.surprises && choose_(4) == 0) saved.bytes += choose_(40);
  blobs_.emplace(op.blob.value, saved);
  if (options_.reports_at_once) report(op.blob);
}

void CacheTwin::obey_op(const RestoreRange& op) {
  const std::vector<Cell>& held = cells(op.slot);
  if (failed_.contains(op.slot.value)) return fall_short(op.slot);
  const auto found = blobs_.find(op.blob.value);
  // A state that turned out too large may have pushed this one out.
  check(found != blobs_.end() || options_.surprises, "restores an unknown state");
  if (found == blobs_.end() || (options_.surprises && choose_(12) == 0)) {
    lose(op.blob);
    return fall_short(op.slot);
  }
  const SavedState& saved = found->second;
  check(size_of(op.range.begin) == held.size() && !op.range.empty(), "restores with a gap");
  check(op.range.begin >= saved.range.begin && op.range.end <= saved.range.end,
        "restores more than was saved");
  check(ranges() || op.range == saved.range, "restores a part where only wholes can be restored");
  if (options_.capabilities.pooled) {
    check(physical_ + size_of(saved.range.size()) <= options_.capabilities.cells,
          "restores where there is no room");
  }
  for (std::int32_t i = op.range.begin; i < op.range.end; ++i) {
    add_cell(op.slot, Cell{next_cell_++, saved.states[size_of(i)]});
  }
}

void CacheTwin::obey_op(const ForgetBlob& op) {
  const bool known = blobs_.erase(op.blob.value) > 0;
  check(known || options_.surprises, "forgets an unknown state");
}

void CacheTwin::obey_op(const CompressBlob& op) {
  check(blobs_.contains(op.blob.value), "compresses an unknown state");
  blobs_[op.blob.value].bytes = blobs_[op.blob.value].bytes / 2 + 1;
  if (options_.reports_at_once) report(op.blob);
}

// ---- checks ----

void CacheTwin::check_books() {
  cache_.check_integrity();
  for (std::uint32_t i = 0; i < options_.capabilities.slots; ++i) {
    const SlotId slot(static_cast<std::int32_t>(i));
    check(size_of(cache_.held(slot)) == cells(slot).size(), "a slot holds another length");
  }
  const CacheCounts counts = cache_.counts();
  check(counts.cells_active + counts.cells_parked == physical_, "cells are miscounted");
  check(counts.slots_running == running_.size(), "sequences are miscounted");
  check(counts.cells_pinned <= counts.cells_parked, "more is pinned than parked");
  check(counts.host_entries == blobs_.size(), "saved states are miscounted");
  if (options_.cache.host_entries_max > 0) {
    check(blobs_.size() <= options_.cache.host_entries_max, "too many saved states");
  }
  std::uint64_t bytes = 0;
  for (const auto& [id, saved] : blobs_) bytes += saved.bytes;
  check(options_.surprises || bytes <= options_.cache.host_bytes_max, "too many bytes");
}

// Pinned tokens that were held may go, because what computed them failed, or in an emergency.
void CacheTwin::expect_nothing_of_pins() {
  for (Pinned& pinned : pinned_) pinned.found = 0;
}

// What was found of a pinned prefix stays. Only in pools: where as many run as there are slots, a
// pin gives way.
void CacheTwin::check_pins() {
  if (options_.surprises || !options_.capabilities.pooled) return;
  for (Pinned& pinned : pinned_) {
    const std::int32_t found = cache_.match(pinned.scope, pinned.tokens).tokens;
    check(found >= pinned.found, "a pinned prefix was evicted");
    pinned.found = found;
  }
}

void CacheTwin::step() {
  ++steps_;
  failed_.clear();
  now_ += std::chrono::milliseconds(choose_(2000));
  const std::uint64_t kind = choose_(20);
  if (kind < 6) {
    place();
  } else if (kind < 10) {
    grow();
  } else if (kind < 12) {
    reserve();
  } else if (kind < 15) {
    release();
  } else if (kind < 17) {
    look_up();
  } else if (kind == 17) {
    press();
  } else if (kind == 18) {
    if (choose_(3) == 0) {
      adopt();
    } else {
      pin();
    }
  } else {
    fail();
  }
  check_books();
  check_pins();
}

void CacheTwin::finish() {
  while (!running_.empty()) release();
  for (const Pinned& pinned : pinned_) cache_.unpin(pinned.scope, pinned.tokens);
  obey(cache_.drop_idle());
  check_books();
  check(physical_ == 0, "cells are left over");
}

}  // namespace zerohop
