#include "constrain/constraint_machine.h"

namespace zerohop {

MachineState step_all(ConstraintMachine& machine, MachineState state, std::string_view bytes) {
  for (const char byte : bytes) {
    state = machine.step(state, static_cast<unsigned char>(byte));
    if (state == kDeadState) break;
  }
  return state;
}

bool accepts(ConstraintMachine& machine, std::string_view text) {
  const MachineState state = step_all(machine, machine.start(), text);
  return state != kDeadState && machine.accepting(state);
}

bool goes_on(ConstraintMachine& machine, MachineState state) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (machine.step(state, static_cast<unsigned char>(byte)) != kDeadState) return true;
  }
  return false;
}

}  // namespace zerohop
