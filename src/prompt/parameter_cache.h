// What the reader of calls has to know of a set of tools, most recently used first, within a limit:
// the kinds of their parameters come from their schemas, and a conversation brings the same ones
// with every turn.
//
// Any thread; the lock is held for a look-up or an insertion, never while schemas are read. Two
// threads may read the same ones at the same time; the results are equal.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "core/request.h"
#include "prompt/output_plan.h"

namespace zerohop {

class ParameterCache {
 public:
  using Offered = std::shared_ptr<const OfferedTools>;

  /// `bytes_max`: of all names and schemas that are kept.
  explicit ParameterCache(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  /// What `make` made of tools with these names and schemas in this order; it depends on nothing
  /// else. Its errors are handed back, and not kept.
  Result<Offered> get(const std::vector<ToolDefinition>& tools,
                      const std::function<Result<Offered>()>& make);

  std::size_t size() const;

 private:
  struct Entry {
    std::string key;
    Offered offered;
  };
  using Order = std::list<Entry>;

  Offered find(const std::string& key);
  void keep(std::string key, const Offered& offered);

  const std::size_t bytes_max_;

  mutable std::mutex mutex_;
  Order order_;  // guarded by mutex_; last used first
  std::unordered_map<std::string_view, Order::iterator> entries_;  // likewise; keys are in order_
  std::size_t bytes_ = 0;                                          // likewise
};

}  // namespace zerohop
