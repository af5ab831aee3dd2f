// GET /admin/usage: sums of the ledger over HTTP, as `zerohop usage` prints them.
//
//   ?by=day,tenant,key   of day, tenant, key, model and label:NAME; empty: one sum over all
//   &key=ID &tenant=NAME only these
//   &from=2026-01-01 &until=2026-01-31   days in UTC, the last one included
//   &format=csv          or json; without it `Accept: text/csv` decides, else JSON
//
// I/O thread; the reader of the query is pure.
#pragma once

#include <string_view>

#include "app/service.h"
#include "app/usage_report.h"
#include "core/error.h"
#include "http/awaitable.h"
#include "http/exchange.h"

namespace zerohop {

/// `accept`: the header; empty: none. Errors: kInvalidRequest with the parameter as field: an
/// unknown one, or one that cannot be read.
Result<UsageOptions> read_usage_request(std::string_view query, std::string_view accept);

Awaitable<void> answer_usage(Service& service, Exchange& exchange);

}  // namespace zerohop
