#include "app/live_requests.h"

#include <algorithm>

namespace zerohop {
namespace {

constexpr std::size_t kPathBytesMax = 128;
constexpr std::size_t kCleanMin = 64;

bool over(const RequestContext& request) { return is_final(request.life.state()); }

}  // namespace

// Ended ones go when there are as many as could be alive: a constant cost for each request.
void LiveRequests::add(const std::shared_ptr<RequestContext>& request, std::string_view path) {
  if (entries_.size() >= clean_at_) {
    std::erase_if(entries_, [](const Entry& entry) {
      const auto alive = entry.request.lock();
      return alive == nullptr || over(*alive);
    });
    clean_at_ = std::max(kCleanMin, 2 * entries_.size());
  }
  entries_.push_back({request, std::string(path.substr(0, kPathBytesMax))});
}

void LiveRequests::each(const See& see) const {
  for (const Entry& entry : entries_) {
    const auto alive = entry.request.lock();
    if (alive != nullptr && !over(*alive)) see(*alive, entry.path);
  }
}

}  // namespace zerohop
