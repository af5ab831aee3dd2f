#include "app/server_hooks.h"

#include <gtest/gtest.h>

#include "app/kernel_status.h"
#include "app/request_context.h"
#include "app/service.h"
#include "base/clock.h"

namespace zerohop {
namespace {

std::string status_of(const ResponseHead& head) {
  for (const HeaderField& field : head.headers) {
    if (field.name == kKernelStatusHeader) return field.value;
  }
  return "none";
}

TEST(ServerHooks, TellTheSameOfTheEngineInHeadAndBody) {
  const VirtualClock clock;
  Service service(Config{}, clock);
  const ServerHooks hooks = make_server_hooks(service);
  const auto context = make_request_context(service);
  std::shared_ptr<void> ticket = context;
  const ExchangeContext exchange{nullptr, ticket, clock.now()};
  ResponseHead plain;
  hooks.decorate(exchange, plain);
  EXPECT_EQ(status_of(plain), "none");
  // What the body was made from, whatever the engine has come to since.
  context->engine.emplace();
  context->engine->rung = PressureRung::kCompact;
  context->engine->rung_cause = PressureCause::kFragmentation;
  ResponseHead head;
  hooks.decorate(exchange, head);
  EXPECT_EQ(status_of(head), "compact;fragmentation");
}

}  // namespace
}  // namespace zerohop
