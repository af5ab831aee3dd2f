// Fuzz target: any bytes as a grammar. A fault has a place; a grammar that is read makes a machine
// or a reason, and whatever the machine allows can be finished. Seeds:
// tests/corpus/grammar_syntax/.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/check.h"
#include "constrain/grammar_machine.h"
#include "constrain/grammar_syntax.h"

namespace zerohop {
namespace {

void follow(ConstraintMachine& machine) {
  MachineState state = machine.start();
  constexpr int kSteps = 8;
  constexpr unsigned kStride = 37;  // coprime to 256: all bytes, from a different one each time
  for (int i = 0; i < kSteps; ++i) {
    const std::string end = machine.shortest_end(state);
    ZH_CHECK(end.size() == machine.shortest_end_bytes(state));
    ZH_CHECK(end.empty() == machine.accepting(state));
    const MachineState last = step_all(machine, state, end);
    ZH_CHECK(last != kDeadState && machine.accepting(last));
    MachineState next = kDeadState;
    for (unsigned n = 0; n < 256 && next == kDeadState; ++n) {
      const unsigned byte = (n * kStride + static_cast<unsigned>(i) * 101 + 'a') % 256;
      next = machine.step(state, static_cast<unsigned char>(byte));
    }
    if (next == kDeadState) {
      ZH_CHECK(machine.accepting(state));
      return;
    }
    state = next;
  }
}

}  // namespace
}  // namespace zerohop

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerohop;
  if (size > 4096) return 0;
  auto parsed = parse_grammar(std::string(data, data + size));
  if (!parsed.ok()) {
    ZH_CHECK(!parsed.error().message.empty());
    return 0;
  }
  auto machine = make_grammar_machine(std::move(parsed->grammar));
  if (machine.ok()) {
    follow(**machine);
  } else {
    ZH_CHECK(!machine.error().message.empty());
  }
  return 0;
}
