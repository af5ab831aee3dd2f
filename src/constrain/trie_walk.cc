#include "constrain/trie_walk.h"

#include <algorithm>

namespace zerohop {

MachineState behind_word(ConstraintMachine& machine, MachineState state, const ContentRun& run,
                         std::string_view word, bool deep) {
  bool known = run.behind != kDeadState;
  if (known && run.forgets) {
    const bool escaped = word.find('\\') != std::string_view::npos;
    known = !deep &&
            (run.taken.empty() ||
             (!escaped && std::find(run.taken.begin(), run.taken.end(), word) == run.taken.end()));
  }
  if (known) return run.behind;
  const MachineState at = step_all(machine, state, word);
  return at == kDeadState ? kDeadState : machine.step(at, *run.leaving);
}

}  // namespace zerohop
