// The requests that hold a permit now, for the console: who they are and how far they have come.
// It keeps none of them alive. I/O thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/request_context.h"

namespace zerohop {

class LiveRequests {
 public:
  /// `path`: of the request, without its query.
  void add(const std::shared_ptr<RequestContext>& request, std::string_view path);

  using See = std::function<void(const RequestContext& request, const std::string& path)>;
  /// Those that are not over, the oldest first.
  void each(const See& see) const;

 private:
  struct Entry {
    std::weak_ptr<const RequestContext> request;
    std::string path;
  };

  std::vector<Entry> entries_;  // in the order of their arrival, ended ones among them
  std::size_t clean_at_ = 0;    // entries, with which ended ones are dropped
};

}  // namespace zerohop
