// A prefix that is in the prompt cache before the first request asks for it: a system prompt that a
// deployment names in its configuration. It is computed at start, when nobody else waits, or taken
// from the bytes that an earlier run of the server saved, and it is pinned: never evicted for good.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/tenant.h"
#include "core/token.h"

namespace zerohop {

struct WarmPrefix {
  std::vector<Token> tokens;  ///< 1 ≤ size ≤ window
  ScopeId scope = kPublicScope;
  /// What `on_computed` gave for the same tokens on the same model with the same context options;
  /// empty, or not fitting: computed.
  std::vector<std::byte> state = {};
  /// Called once on the engine thread when the prefix has been computed, with the state to be
  /// saved; it must hand the work on and return at once. Not called for a state that was taken as
  /// it is.
  std::function<void(std::vector<std::byte> state)> on_computed = {};
};

}  // namespace zerohop
