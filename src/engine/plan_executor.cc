#include "engine/plan_executor.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/event.h"

namespace zerohop {
namespace {

constexpr std::int32_t kEverything = std::numeric_limits<std::int32_t>::max();

// A measured price that falls follows the last eight or so. One that rises is believed, up to four
// times the last: a copy during which the process did not run says nothing.
constexpr double kPriceShare = 0.125;
constexpr double kPriceRiseMax = 4;

// Cells that are moved while nothing is known of how long that takes.
constexpr std::uint32_t kFirstMove = 64;

}  // namespace

// A clock that stands still (virtual time) teaches nothing.
void PlanExecutor::Price::learn(Duration took, double amount) {
  if (took <= Duration::zero() || amount <= 0) return;
  const double now = to_seconds(took) / amount;
  if (!measured) {
    seconds = now;
  } else {
    seconds = now > seconds ? std::min(now, seconds * kPriceRiseMax)
                            : seconds + kPriceShare * (now - seconds);
  }
  measured = true;
}

bool PlanExecutor::drop_tail(SlotId slot, std::int32_t from) {
  if (context_.remove(slot, {from, kEverything})) return true;
  context_.remove(slot, {0, kEverything});
  return false;
}

void PlanExecutor::carry_out(const CachePlan& plan) {
  for (const CacheOp& op : plan) carry_out(op);
}

std::int32_t PlanExecutor::carry_out(const Placement& placement) {
  carry_out(placement.plan);
  // The last word is the model's: what it does not hold cannot be built upon.
  settle(placement.slot, placement.tokens_reused);
  return cache_.held(placement.slot);
}

void PlanExecutor::carry_out(const CacheOp& op) {
  std::visit(Overloaded{[this](const DropTail& drop_op) { drop(drop_op); },
                        [this](const ShareHead& share_op) { share(share_op); },
                        [this](const SaveRange& save_op) { save(save_op); },
                        [this](const RestoreRange& restore_op) { restore(restore_op); },
                        [this](const ForgetBlob& forget_op) { blobs_.forget(forget_op.blob); },
                        [this](const CompressBlob& compress_op) { compress(compress_op); }},
             op);
}

// Makes `slot` hold what the books say, or tells them how much less it is.
void PlanExecutor::settle(SlotId slot, std::int32_t planned) {
  const std::int32_t there = context_.positions(slot).end;
  if (there == planned) return;
  const bool cut = there > planned && drop_tail(slot, planned);
  const std::int32_t held = cut ? planned : context_.positions(slot).end;
  if (held < cache_.held(slot)) cache_.correct(slot, held);
}

void PlanExecutor::drop(const DropTail& op) {
  if (!drop_tail(op.slot, op.from)) cache_.correct(op.slot, 0);
}

void PlanExecutor::share(const ShareHead& op) {
  const std::int32_t whole = context_.positions(op.from).end;
  const bool part = context_.capabilities().can_share_range;
  // Something before in the plan failed, and there is less to share than was planned.
  const std::int32_t length = std::min(op.length, whole);
  const TimePoint begin = clock_.now();
  const bool copied = length > 0 && context_.copy(op.from, op.to, {0, part ? length : whole});
  if (copied && !part) copy_.learn(clock_.now() - begin, whole);
  if (!copied || !drop_tail(op.to, length)) {
    drop_tail(op.to, 0);
    cache_.correct(op.to, 0);
  } else if (length < op.length) {
    cache_.correct(op.to, length);
  }
}

void PlanExecutor::save(const SaveRange& op) {
  const TimePoint begin = clock_.now();
  Result<std::vector<std::byte>> state = context_.save_range(op.slot, op.range);
  const Duration took = clock_.now() - begin;
  if (!state.ok() || state->empty()) {
    cache_.lost(op.blob);
    return;
  }
  save_.learn(took, op.range.size());
  const std::uint64_t bytes = state->size();
  blobs_.put(op.blob, *std::move(state));
  carry_out(cache_.saved(op.blob, bytes));
}

void PlanExecutor::restore(const RestoreRange& op) {
  const std::span<const std::byte> state = blobs_.bytes(op.blob);
  const bool continues = context_.positions(op.slot).end == op.range.begin;
  const TimePoint begin = clock_.now();
  if (continues && !state.empty() && context_.restore_range(op.slot, op.range, state).ok()) {
    restore_.learn(clock_.now() - begin, op.range.size());
    return;
  }
  if (continues) {
    // The bytes are no good, or there is no memory to unpack them; where an earlier step of the
    // plan failed, they may still be.
    blobs_.forget(op.blob);
    cache_.lost(op.blob);
  }
  const std::int32_t held = context_.positions(op.slot).end;
  if (held < cache_.held(op.slot)) cache_.correct(op.slot, held);
}

void PlanExecutor::compress(const CompressBlob& op) {
  const std::span<const std::byte> state = blobs_.bytes(op.blob);
  if (state.empty()) return;
  const TimePoint begin = clock_.now();
  std::vector<std::byte> smaller = context_.compress(state);
  compress_.learn(clock_.now() - begin, static_cast<double>(state.size()));
  if (!smaller.empty() && smaller.size() < state.size()) blobs_.put(op.blob, std::move(smaller));
  carry_out(cache_.saved(op.blob, blobs_.bytes(op.blob).size()));
}

std::uint32_t PlanExecutor::tokens_saved_within(Duration time) const {
  const double tokens = to_seconds(time) / std::max(save_.seconds, 1e-9);
  return static_cast<std::uint32_t>(std::clamp(tokens, 1.0, 1e9));
}

std::uint32_t PlanExecutor::cells_moved_within(Duration time) const {
  const bool host = context_.capabilities().can_save_range;
  // What is in the way in another stream is saved first.
  const double price = host ? round_trip_seconds() : std::max(copy_.seconds, save_.seconds);
  const double cells = std::clamp(to_seconds(time) / std::max(price, 1e-9), 0.0, 1e9);
  const bool known = host ? save_.measured && restore_.measured : copy_.measured;
  const auto most = static_cast<std::uint32_t>(cells);
  return known ? most : std::min(most, kFirstMove);
}

std::uint64_t PlanExecutor::bytes_compressed_within(Duration time) const {
  const double bytes = to_seconds(time) / std::max(compress_.seconds, 1e-12);
  return static_cast<std::uint64_t>(std::clamp(bytes, 1.0, 1e12));
}

}  // namespace zerohop
