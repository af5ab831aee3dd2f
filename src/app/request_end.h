// What is done with a request that is over: it is counted, logged and remembered.
#pragma once

#include "app/service.h"
#include "http/server_options.h"

namespace zerohop {

/// Once for each exchange, when its state and its limits are settled. I/O thread.
void finish_request(Service& service, const ExchangeSummary& summary);

}  // namespace zerohop
