#include "walks.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/random.h"

namespace zerohop::bench {
namespace {

// How often a byte is chosen where it may come, beside the others.
unsigned weight_of(unsigned char byte) {
  if ((byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9')) return 20;
  if ((byte >= 'A' && byte <= 'Z') || byte == ' ') return 5;
  if (byte == '"') return 60;  // an end of a string about every tenth character
  if (byte == ',') return 60;
  if (byte == '\\' || byte == '\n' || byte == '\r' || byte == '\t') return 1;
  return byte < 0x20 || byte == 0x7f ? 0 : byte < 0x80 ? 3 : 1;
}

}  // namespace

std::string random_walk(ConstraintMachine& machine, std::uint64_t seed, std::size_t bytes) {
  Random random(seed);
  std::string text;
  MachineState state = machine.start();
  while (text.size() < bytes) {
    std::vector<std::pair<unsigned char, MachineState>> ways;
    unsigned total = 0;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const auto letter = static_cast<unsigned char>(byte);
      if (weight_of(letter) == 0) continue;
      const MachineState next = machine.step(state, letter);
      if (next == kDeadState) continue;
      ways.emplace_back(letter, next);
      total += weight_of(letter);
    }
    if (ways.empty()) break;
    std::uint64_t chosen = random.below(total);
    for (const auto& [byte, next] : ways) {
      if (chosen >= weight_of(byte)) {
        chosen -= weight_of(byte);
        continue;
      }
      text.push_back(static_cast<char>(byte));
      state = next;
      break;
    }
  }
  return text + machine.shortest_end(state);
}

}  // namespace zerohop::bench
