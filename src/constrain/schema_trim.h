// Which nodes of a form can be satisfied at all, by how short a document, and the form without the
// rest.
//
// The shortest document of a node is the least fixpoint of: the shortest of its alternatives, which
// is the sum of the shortest values that it must hold. A node that stays without one has no
// document (a list that needs another list for ever). Then everything that leads to such nodes is
// cut away. One compilation, one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "constrain/schema_form.h"
#include "constrain/schema_work.h"

namespace zerohop {

/// The form of `nodes` (root: 0), or nothing satisfies it: a form without nodes. May stop the work:
/// counters that are too many to tell.
SchemaForm trimmed_form(std::vector<std::vector<SchemaAlternative>> nodes, SchemaWork& work);

inline constexpr std::uint64_t kEndless = UINT64_MAX;  ///< no document

/// Bytes of the shortest value of an alternative that holds others, given those of the nodes.
std::uint64_t shortest_array(const ArrayForm& form, const std::vector<std::uint64_t>& nodes,
                             SchemaWork& work);
/// The names of a class: bytes of the shortest one, quotes included, and how many there are (70,000
/// stand for more).
struct NameClassSize {
  std::uint64_t bytes = 0;
  std::uint64_t names = 0;
};
std::uint64_t shortest_object(const ObjectForm& form, const std::vector<NameClassSize>& classes,
                              const std::vector<std::uint64_t>& nodes, SchemaWork& work);

}  // namespace zerohop
