#include "constrain/content_walk.h"

namespace zerohop {

ContentWalk::ContentWalk(const ContentAutomaton& automaton, TextCoding coding)
    : automaton_(automaton),
      decoder_(automaton, coding),
      row_of_(automaton.states(), 0),
      rows_(1),
      states_(ByteTrie::kDepthMax + 1),
      places_(ByteTrie::kDepthMax + 1) {}

const ContentWalk::Row& ContentWalk::make_row(std::uint32_t state) {
  row_of_[state] = static_cast<std::uint32_t>(rows_.size());
  Row& row = rows_.emplace_back();
  const bool json = decoder_.coding() != TextCoding::kUtf8;
  for (std::uint32_t byte = 0; byte < row.size(); ++byte) {
    if (json && (byte < 0x20 || byte == '"')) {
      row[byte] = ContentAutomaton::kNoState;
    } else {
      row[byte] = json && byte == '\\' ? kAsk : automaton_.step(state, byte);
    }
  }
  return row;
}

std::uint32_t ContentWalk::slow_step(const ByteTrie::Node& node, std::uint32_t count) {
  const std::size_t outside = node.depth - 1u;
  ContentPlace place = places_[outside];
  if (states_[outside] != kInside) place = {.state = states_[outside], .count = count};
  if (!decoder_.step(place, node.byte)) return ContentAutomaton::kNoState;
  if (decoder_.at_character_border(place)) return place.state;
  places_[node.depth] = place;
  return kInside;
}

}  // namespace zerohop
