// `zerohop explain`: why a request was slow, refused, cut, or not in the cache.
#include <algorithm>
#include <iostream>

#include "app/ask_server.h"
#include "app/commands.h"
#include "app/exit_code.h"
#include "app/explain_request.h"

namespace zerohop {
namespace {

// What a path may hold; ids are made of nothing else.
bool plain(std::string_view id) {
  return !id.empty() && id.size() <= 128 && std::ranges::all_of(id, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-';
  });
}

Result<std::string> explain(const ExplainOptions& options) {
  if (options.request_id.empty()) {
    ZH_ASSIGN_OR_RETURN(const std::string body, ask_server(options.server, "/v1/requests"));
    return options.json ? Result<std::string>(body + "\n") : request_list_text(body);
  }
  if (!plain(options.request_id)) {
    return invalid_request("", "'" + options.request_id + "' is no id of a request (req_…)");
  }
  ZH_ASSIGN_OR_RETURN(const std::string body,
                      ask_server(options.server, "/v1/requests/" + options.request_id));
  return options.json ? Result<std::string>(body + "\n") : explanation_text(body);
}

}  // namespace

int run_explain(const ExplainOptions& options) {
  const Result<std::string> text = explain(options);
  if (!text.ok()) return report_failure(text.error());
  std::cout << *text << std::flush;
  return std::cout ? kExitOk : kExitOther;
}

}  // namespace zerohop
