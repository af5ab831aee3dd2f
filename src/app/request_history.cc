#include "app/request_history.h"

#include <algorithm>
#include <utility>

namespace zerohop {
namespace {

// The causes that the alert rules count as well (deploy/prometheus/rules/answers.yml).
bool is_turned_away(std::string_view error_code) {
  static constexpr std::string_view kCauses[] = {"permission", "rate_limited", "overloaded",
                                                 "shed"};
  return std::ranges::find(kCauses, error_code) != std::end(kCauses);
}

}  // namespace

void RequestHistory::add(RequestRecord record) {
  if (record.status >= 400) ++refused_;
  if (record.status >= 400 && is_turned_away(record.error_code)) ++turned_away_;
  if (record.status > 0 && record.status < 400) ++answered_;
  records_.push_back(std::move(record));
  if (records_.size() > kKept) records_.pop_front();
}

// Most questions are about what has just been.
const RequestRecord* RequestHistory::find(std::string_view id) const {
  const auto found = std::find_if(records_.rbegin(), records_.rend(),
                                  [id](const RequestRecord& record) { return record.id == id; });
  return found == records_.rend() ? nullptr : &*found;
}

void RequestHistory::latest(const std::function<bool(const RequestRecord&)>& see) const {
  static_cast<void>(std::all_of(records_.rbegin(), records_.rend(), see));
}

}  // namespace zerohop
