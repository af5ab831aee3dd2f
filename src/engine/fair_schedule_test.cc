// The policy as a whole, on the light simulation: queue, order of prompts, planner, parking.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "engine/fairness_simulation.h"

namespace zerohop {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kTenants = 20;

double median(std::vector<Duration> values) {
  std::sort(values.begin(), values.end());
  return to_seconds(values[values.size() / 2]);
}

// Tenant i sends a share of about 1 ÷ (i + 1) of the requests.
std::vector<SimulatedRequest> zipf_load(std::uint64_t seed, double requests_per_second) {
  Random random(seed);
  double total = 0;
  for (std::uint64_t i = 0; i < kTenants; ++i) total += 1.0 / static_cast<double>(i + 1);
  std::vector<SimulatedRequest> requests;
  double at = 1;
  while (at < 240) {
    at += -std::log(1 - random.uniform()) / requests_per_second;
    double left = random.uniform() * total;
    std::uint64_t tenant = 0;
    while (tenant + 1 < kTenants && left > 1.0 / static_cast<double>(tenant + 1)) {
      left -= 1.0 / static_cast<double>(++tenant);
    }
    const auto length = [&](double mean, std::uint32_t most) {
      const double drawn = -std::log(1 - random.uniform()) * mean;
      return std::min(1 + static_cast<std::uint32_t>(drawn), most);
    };
    requests.push_back(
        {TimePoint(from_seconds(at)), TenantId(tenant), length(140, 1000), length(150, 800)});
  }
  return requests;
}

bool is_light(const SimulatedRequest& request) { return request.tenant.value >= kTenants / 2; }

std::vector<Duration> of_the_light(const std::vector<SimulatedRequest>& requests,
                                   const SimulationResult& result) {
  std::vector<Duration> values;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (is_light(requests[i])) values.push_back(result.first_token[i]);
  }
  return values;
}

// Each light tenant with the whole server to itself.
std::vector<Duration> of_the_light_alone(const std::vector<SimulatedRequest>& requests) {
  std::vector<Duration> values;
  for (std::uint64_t tenant = kTenants / 2; tenant < kTenants; ++tenant) {
    std::vector<SimulatedRequest> own;
    for (const SimulatedRequest& request : requests) {
      if (request.tenant == TenantId(tenant)) own.push_back(request);
    }
    if (own.empty()) continue;
    const SimulationResult result = FairnessSimulation(own, {}).run();
    values.insert(values.end(), result.first_token.begin(), result.first_token.end());
  }
  return values;
}

// With more work than the machine can do.
TEST(FairSchedule, KeepsLightTenantsNearWhatTheyHaveAlone) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const std::vector<SimulatedRequest> requests = zipf_load(seed, 2.4);
    SimulationOptions by_arrival;
    by_arrival.order = SimulatedOrder::kArrival;
    const SimulationResult unfair = FairnessSimulation(requests, by_arrival).run();
    const SimulationResult fair = FairnessSimulation(requests, {}).run();
    const double alone = median(of_the_light_alone(requests));
    const double light = median(of_the_light(requests, fair));
    RecordProperty("light_over_alone", std::to_string(light / alone));
    EXPECT_LE(light, 2 * alone) << "seed " << seed;
    EXPECT_GE(median(of_the_light(requests, unfair)), 20 * alone) << "no overload, seed " << seed;
    EXPECT_LE(to_seconds(fair.total), to_seconds(unfair.total) / 0.95) << "seed " << seed;
    EXPECT_LE(fair.longest_step, milliseconds(480));  // four objectives while nobody decodes
  }
}

// Nobody is driven out again and again: a request is parked at most a few times on average.
TEST(FairSchedule, ParksSeldom) {
  const std::vector<SimulatedRequest> requests = zipf_load(4, 2.4);
  const SimulationResult fair = FairnessSimulation(requests, {}).run();
  EXPECT_GT(fair.parks, 0u);
  EXPECT_LE(fair.parks, 3 * requests.size());
}

TEST(FairSchedule, CostsNothingWhereThereIsRoomForAll) {
  const std::vector<SimulatedRequest> requests = zipf_load(5, 0.5);
  SimulationOptions by_arrival;
  by_arrival.order = SimulatedOrder::kArrival;
  const SimulationResult unfair = FairnessSimulation(requests, by_arrival).run();
  const SimulationResult fair = FairnessSimulation(requests, {}).run();
  EXPECT_LE(median(fair.first_token), 1.1 * median(unfair.first_token));
  EXPECT_LE(median(fair.end), 1.1 * median(unfair.end));
}

}  // namespace
}  // namespace zerohop
