#include "app/request_context.h"

#include "base/random.h"

namespace zerohop {
namespace {

// 142 bits: ids must never repeat, because agents merge messages that share one.
constexpr std::size_t kIdCharacters = 24;

}  // namespace

std::shared_ptr<RequestContext> make_request_context(TimePoint now) {
  auto context = std::make_shared<RequestContext>(now);
  context->request_id = "req_" + os_random_text(kIdCharacters);
  return context;
}

RequestContext* context_of(const std::shared_ptr<void>& ticket) {
  return static_cast<RequestContext*>(ticket.get());
}

std::string make_message_id() { return "msg_" + os_random_text(kIdCharacters); }

}  // namespace zerohop
