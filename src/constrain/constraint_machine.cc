#include "constrain/constraint_machine.h"

namespace zerohop {

MachineState step_all(ConstraintMachine& machine, MachineState state, std::string_view bytes) {
  for (const char byte : bytes) {
    state = machine.step(state, static_cast<unsigned char>(byte));
    if (state == kDeadState) break;
  }
  return state;
}

}  // namespace zerohop
