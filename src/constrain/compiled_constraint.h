// A constraint that is ready to be followed, as all requests that ask for the same share it: made
// on a worker, given to the engine.
//
// Immutable; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "constrain/constraint_machine.h"

namespace zerohop {

struct CompiledConstraint {
  /// Never used for another one by this process: names its machine and masks in the engine.
  std::uint64_t id = 0;
  /// Only renew() is called; the engine follows a machine of its own.
  std::shared_ptr<const ConstraintMachine> machine;
  std::string shortest;          ///< a shortest text
  std::size_t memory_bytes = 0;  ///< of what is shared
};

}  // namespace zerohop
