#include "app/machine_rates.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

// No bounds that a slow or busy machine could break: only that something was measured at all, and
// in units that fit.
TEST(MachineRates, AreMeasuredOnThisMachine) {
  const SteadyClock clock;
  const MachineRates rates = measure_machine_rates(clock, 2);
  EXPECT_GT(rates.read_bytes_per_second, 1e6);
  EXPECT_LT(rates.read_bytes_per_second, 1e13);
  EXPECT_GT(rates.matrix_flops_per_second, 1e6);
  EXPECT_LT(rates.matrix_flops_per_second, 1e16);
}

}  // namespace
}  // namespace zerohop
