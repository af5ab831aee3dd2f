#include "prompt/parameter_cache.h"

#include <utility>

namespace zerohop {
namespace {

// With their sizes, so that no two lists make one text.
std::string key_of(const std::vector<ToolDefinition>& tools) {
  std::string key;
  for (const ToolDefinition& tool : tools) {
    for (const std::string* text : {&tool.name, &tool.input_schema}) {
      key += std::to_string(text->size());
      key += ' ';
      key += *text;
    }
  }
  return key;
}

}  // namespace

ParameterCache::Offered ParameterCache::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  order_.splice(order_.begin(), order_, found->second);
  return found->second->offered;
}

void ParameterCache::keep(std::string key, const Offered& offered) {
  const std::lock_guard lock(mutex_);
  if (key.size() > bytes_max_ || entries_.contains(key)) return;
  while (bytes_ + key.size() > bytes_max_) {
    bytes_ -= order_.back().key.size();
    entries_.erase(order_.back().key);
    order_.pop_back();
  }
  bytes_ += key.size();
  order_.push_front({std::move(key), offered});
  entries_.emplace(order_.front().key, order_.begin());
}

Result<ParameterCache::Offered> ParameterCache::get(const std::vector<ToolDefinition>& tools,
                                                    const std::function<Result<Offered>()>& make) {
  std::string key = key_of(tools);
  if (Offered known = find(key)) return known;
  ZH_ASSIGN_OR_RETURN(Offered made, make());
  keep(std::move(key), made);
  return made;
}

std::size_t ParameterCache::size() const {
  const std::lock_guard lock(mutex_);
  return order_.size();
}

}  // namespace zerohop
