#include "app/request_history.h"

#include <algorithm>
#include <utility>

namespace zerohop {

void RequestHistory::add(RequestRecord record) {
  if (record.status >= 400) ++refused_;
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
