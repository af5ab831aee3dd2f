// Values of `enum` and `const`: sets of scalars, and schemas for arrays and objects.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "constrain/schema_loading.h"
#include "constrain/schema_rules.h"

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

}  // namespace zerohop
