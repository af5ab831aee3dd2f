// Machines of texts that this program put together itself: that they make sense is certain, and
// anything else is a bug.
//
// Pure; any thread.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "constrain/grammar_machine.h"
#include "constrain/tag_machine.h"

namespace zerohop {

inline std::shared_ptr<const ConstraintMachine> sure_machine(TagSet set) {
  auto machine = make_tag_machine(std::move(set));
  ZH_CHECK(machine.ok());
  return std::move(machine).value();
}

/// Texts that the pattern matches as a whole.
inline std::shared_ptr<const ConstraintMachine> sure_pattern(std::string_view pattern) {
  auto machine = make_regex_machine(pattern);
  ZH_CHECK(machine.ok());
  return std::move(machine).value();
}

}  // namespace zerohop
