#include "app/admin_usage.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "app/json_response.h"
#include "http/url.h"

namespace zerohop {
namespace {

struct TextParameter {
  std::string_view name;
  std::string UsageOptions::*text;
};
constexpr std::array<TextParameter, 5> kTextParameters{{{"by", &UsageOptions::by},
                                                        {"key", &UsageOptions::key},
                                                        {"tenant", &UsageOptions::tenant},
                                                        {"from", &UsageOptions::from},
                                                        {"until", &UsageOptions::until}}};
constexpr std::string_view kFormat = "format";

// A misspelled parameter would silently be a sum over everything.
Result<void> check_names(std::string_view query) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    const std::string_view name = pair.substr(0, std::min(pair.find('='), pair.size()));
    query.remove_prefix(std::min(end + 1, query.size()));
    const auto same = [name](const TextParameter& known) { return known.name == name; };
    if (pair.empty() || name == kFormat || std::ranges::any_of(kTextParameters, same)) continue;
    return invalid_request(std::string(name),
                           "there is no such parameter; there are by, key, tenant, from, until and "
                           "format");
  }
  return {};
}

Awaitable<Result<HttpResponse>> make_answer(Service& service, const RequestHead& head) {
  const std::string_view accept = head.headers.find("accept").value_or("");
  const Result<UsageOptions> options = read_usage_request(head.query, accept);
  if (!options.ok()) co_return options.error();
  const Result<LedgerQuery> query = usage_query(*options);
  if (!query.ok()) co_return query.error();
  const Result<std::vector<LedgerSum>> sums = co_await service.limits.usage(*query);
  if (!sums.ok()) co_return sums.error();
  if (options->json) co_return json_response(200, usage_json(query->by, *sums));
  HttpResponse response;
  response.headers.push_back(
      HeaderField{"content-type", "text/csv; charset=utf-8; header=present"});
  response.body = usage_csv(query->by, *sums);
  co_return response;
}

}  // namespace

Result<UsageOptions> read_usage_request(std::string_view query, std::string_view accept) {
  ZH_RETURN_IF_ERROR(check_names(query));
  UsageOptions options;
  for (const TextParameter& parameter : kTextParameters) {
    if (auto value = query_parameter(query, parameter.name)) {
      options.*parameter.text = std::move(*value);
    }
  }
  const bool wants_csv = accept.find("text/csv") != accept.npos;
  const std::string format = query_parameter(query, kFormat).value_or(wants_csv ? "csv" : "json");
  if (format != "json" && format != "csv") {
    return invalid_request(std::string(kFormat), "'" + format + "' is neither csv nor json");
  }
  options.json = format == "json";
  return options;
}

Awaitable<void> answer_usage(Service& service, Exchange& exchange) {
  Result<HttpResponse> response = co_await make_answer(service, exchange.request().head);
  if (!response.ok()) {
    co_await exchange.respond_error(std::move(response).error());
    co_return;
  }
  HttpResponse answer = std::move(response).value();
  co_await exchange.respond(std::move(answer));
}

}  // namespace zerohop
