// Values of `enum` and `const`: sets of scalars, and schemas for arrays and objects.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "constrain/schema_loading.h"
#include "constrain/schema_rules.h"
#include "constrain/schema_work.h"

namespace zerohop {

/// Adds `value` to `set`; an array or object becomes a schema with the pointer of `like`. False: a
/// number beyond what can be computed with.
bool add_value(SchemaLoading& loading, const JsonNode& value, SchemaId like, ValueSet& set);

/// Sorts and removes duplicates.
void sort_values(ValueSet& set);

/// What `schemas` allow together, when each of them is nothing but a list of scalars;
/// `exactly_one`: the values that one of them alone allows. nullptr: they say more than that.
std::shared_ptr<const ValueSet> united_values(const SchemaSet& set,
                                              const std::vector<SchemaId>& schemas,
                                              bool exactly_one);

/// The values that are in all of `lists` (at least one, each sorted): each list is merged with what
/// those before it left, and both lengths are charged. Meaningless once the work is stopped.
template <class T>
std::vector<T> common_values(SchemaWork& work, const std::vector<const std::vector<T>*>& lists) {
  std::vector<T> common = *lists.front();
  work.charge(common.size());
  for (std::size_t i = 1; i < lists.size() && !work.stopped(); ++i) {
    std::vector<T> both;
    std::set_intersection(common.begin(), common.end(), lists[i]->begin(), lists[i]->end(),
                          std::back_inserter(both));
    work.charge(common.size() + lists[i]->size());
    common = std::move(both);
  }
  return common;
}

}  // namespace zerohop
