// A tier around the fake model for tests and benchmarks without a server: nobody is woken, nothing
// is computed unless somebody drives its engine. Test code only.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "app/tier.h"
#include "base/check.h"
#include "model/fake_model.h"

namespace zerohop {

class NobodyToWake final : public StreamWaker {
 public:
  void wake(std::vector<std::shared_ptr<TokenStream>>) override {}
};

/// Clock and waker outlive it.
inline std::unique_ptr<Tier> make_fake_tier(const EngineConfig& config, const Clock& clock,
                                            StreamWaker& waker,
                                            const FakeModelOptions& model = {}) {
  TierParts parts;
  parts.clock = &clock;
  parts.waker = &waker;
  auto tier = Tier::create(make_fake_model(model), config, std::move(parts));
  ZH_CHECK(tier.ok());
  return std::move(tier).value();
}

}  // namespace zerohop
