#include "chain/plan.h"

#include <array>

#include "base/whole_number.h"

namespace zerohop::bench {
namespace {

bool read_seconds(std::string_view text, double& seconds) {
  const auto number = whole_number<double>(text);
  if (number) seconds = *number;
  return number && seconds >= 0;
}

bool parse_line(std::string_view line, PlannedRequest& request) {
  std::array<std::string_view, 3> fields;
  for (std::string_view& field : fields) {
    const std::size_t end = line.find('\t');
    if (end == std::string_view::npos) return false;
    field = line.substr(0, end);
    line.remove_prefix(end + 1);
  }
  if (!read_seconds(fields[0], request.due) || !read_seconds(fields[1], request.give_up)) {
    return false;
  }
  request.kind = fields[2];
  request.body = line;
  return !request.kind.empty() && !request.body.empty();
}

}  // namespace

bool PlannedRequest::streamed() const { return body.find(R"("stream":true)") != std::string::npos; }

std::vector<PlannedRequest> parse_plan(std::string_view text, std::string& fault) {
  std::vector<PlannedRequest> plan;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    PlannedRequest request;
    const bool good = parse_line(text.substr(0, end), request);
    if (!good || (!plan.empty() && request.due < plan.back().due)) {
      fault = "line " + std::to_string(number) +
              (good ? " is due before the one in front of it" : " is no planned request");
      return {};
    }
    plan.push_back(std::move(request));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (plan.empty()) fault = "the plan is empty";
  return plan;
}

}  // namespace zerohop::bench
