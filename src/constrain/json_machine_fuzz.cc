// Fuzz target: a schema, and bytes that go through its machine. Whatever they are, a state can be
// finished the way it says, forced bytes are possible, and a compiled schema has a machine that
// starts. Input: the schema text, a byte 0, one byte of options, then steps. A step is a byte that
// is taken where it lives; byte 0xff takes the first byte of the shortest end instead.
// Seeds: tests/corpus/json_machine/.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/check.h"
#include "constrain/json_machine.h"
#include "constrain/schema_compiler.h"

namespace zerohop {
namespace {

constexpr std::size_t kStepsMax = 300;
constexpr std::size_t kEndBytesMax = 4000;

JsonMachineOptions options_of(std::uint8_t bits) {
  JsonMachineOptions options;
  if ((bits & 1) != 0) options.coding = TextCoding::kJsonAny;
  if ((bits & 2) != 0) options.key_order = JsonMachineOptions::KeyOrder::kAny;
  if ((bits & 4) != 0) options.white_space = JsonMachineOptions::WhiteSpace::kCompact;
  if ((bits & 8) != 0) options.white_space = JsonMachineOptions::WhiteSpace::kSpaced;
  if ((bits & 16) != 0) options.depth_max = 2;
  return options;
}

void check_state(ConstraintMachine& machine, MachineState state) {
  const std::size_t bytes = machine.shortest_end_bytes(state);
  ZH_CHECK((bytes == 0) == machine.accepting(state));
  if (bytes > kEndBytesMax) return;
  const std::string end = machine.shortest_end(state);
  ZH_CHECK(end.size() == bytes);
  const MachineState last = step_all(machine, state, end);
  ZH_CHECK(last != kDeadState && machine.accepting(last));
  const std::string forced = machine.forced(state, 8);
  ZH_CHECK(step_all(machine, state, forced) != kDeadState);
  ZH_CHECK(end.starts_with(forced));
}

void follow(ConstraintMachine& machine, std::string_view bytes) {
  MachineState state = machine.start();
  ZH_CHECK(state != kDeadState);
  check_state(machine, state);
  for (const char each : bytes.substr(0, kStepsMax)) {
    auto byte = static_cast<unsigned char>(each);
    if (byte == 0xff && machine.shortest_end_bytes(state) <= kEndBytesMax) {
      const std::string end = machine.shortest_end(state);
      if (end.empty()) return;
      byte = static_cast<unsigned char>(end[0]);
      ZH_CHECK(machine.step(state, byte) != kDeadState);
    }
    const MachineState next = machine.step(state, byte);
    if (next == kDeadState) continue;
    state = next;
    check_state(machine, state);
  }
}

}  // namespace
}  // namespace zerohop

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerohop;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t border = input.find('\0');
  if (border == std::string_view::npos || border + 1 >= input.size()) return 0;
  SchemaOptions options;
  options.limits.work_max = 100'000;
  const CompiledSchema compiled = compile_schema(input.substr(0, border), options);
  const auto* form = std::get_if<std::shared_ptr<const SchemaForm>>(&compiled);
  if (form == nullptr) return 0;
  const auto machine = make_json_machine(*form, options_of(data[border + 1]));
  follow(*machine, input.substr(border + 2));
  return 0;
}
