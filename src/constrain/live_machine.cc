#include "constrain/live_machine.h"

#include <algorithm>
#include <utility>

#include "base/random.h"

namespace zerohop {
namespace {

// Fewer tokens than this between two trims: the limit is too low.
constexpr std::uint64_t kQuickTrim = 4096;

}  // namespace

LiveMachine::LiveMachine(std::unique_ptr<ConstraintMachine> machine, std::uint64_t id,
                         std::size_t bytes_max)
    : machine_(std::move(machine)), id_(id), bytes_max_(bytes_max), limit_(bytes_max) {}

std::uint64_t LiveMachine::cache_id() const { return mix64(id_ << 24 ^ generation_); }

void LiveMachine::trim() {
  machine_ = machine_->renew();
  ++generation_;
  limit_ = tokens_ < kQuickTrim ? std::min(2 * limit_, kGrowthMax * bytes_max_) : bytes_max_;
  places_bytes_ = 0;
  tokens_ = 0;
}

}  // namespace zerohop
