// What the application does around every exchange: ids, admission, error bodies, common response
// headers, metrics and the log line. I/O thread.
#pragma once

#include "app/service.h"
#include "http/server_options.h"

namespace zerohop {

/// `service` outlives the server.
ServerHooks make_server_hooks(Service& service);

}  // namespace zerohop
