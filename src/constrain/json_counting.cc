#include "constrain/json_counting.h"

#include <algorithm>
#include <utility>

namespace zerohop {

namespace {

constexpr std::uint32_t kMany = UINT32_MAX;
constexpr std::uint32_t kBrackets = 2;  // what a property costs beside name and value: ',' and ':'

// Counters below their minimum that `hits` would move.
int promise(const std::vector<FormCounter>& counters, const std::vector<std::uint32_t>& values,
            std::uint32_t hits) {
  int sum = 0;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    if ((hits >> i & 1) != 0) sum += values[i] < counters[i].min ? 1 : -1;
  }
  return sum;
}

// Of choices with the same hits the cheapest one.
std::vector<std::uint32_t> best_choices(const std::vector<ValueChoice>& choices,
                                        const NodeCost& cost) {
  std::vector<std::uint32_t> best;
  for (std::uint32_t i = 0; i < choices.size(); ++i) {
    const auto same = std::find_if(best.begin(), best.end(), [&](std::uint32_t other) {
      return choices[other].hits == choices[i].hits;
    });
    if (same == best.end()) {
      best.push_back(i);
    } else if (cost(choices[i].node) < cost(choices[*same].node)) {
      *same = i;
    }
  }
  return best;
}

struct Ranked {
  int promise = 0;
  PathSearch::Move move;
};

std::vector<PathSearch::Move> best_last(std::vector<Ranked> ranked) {
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return a.promise < b.promise; });
  std::vector<PathSearch::Move> moves;
  for (Ranked& each : ranked) moves.push_back(std::move(each.move));
  return moves;
}

}  // namespace

bool count_hits(const std::vector<FormCounter>& counters, std::vector<std::uint32_t>& values,
                std::uint32_t hits) {
  for (std::size_t i = 0; i < counters.size(); ++i) {
    if ((hits >> i & 1) == 0) continue;
    const FormCounter& counter = counters[i];
    if (counter.max == kMany) {
      values[i] = std::min(values[i] + 1, counter.min);
    } else if (++values[i] > counter.max) {
      return false;
    }
  }
  return true;
}

bool counts_suffice(const std::vector<FormCounter>& counters,
                    const std::vector<std::uint32_t>& values) {
  for (std::size_t i = 0; i < counters.size(); ++i) {
    if (values[i] < counters[i].min) return false;
  }
  return true;
}

// --- Arrays.

PathSearch::State JsonProgress::ArrayGraph::state(std::uint32_t items,
                                                  const std::vector<std::uint32_t>& counters) {
  PathSearch::State state{items};
  state.insert(state.end(), counters.begin(), counters.end());
  return state;
}

bool JsonProgress::ArrayGraph::goal(const PathSearch::State& state) {
  return state[0] >= facts_.form->items_min &&
         counts_suffice(facts_.form->counters, {state.begin() + 1, state.end()});
}

std::vector<PathSearch::Move> JsonProgress::ArrayGraph::moves(const PathSearch::State& now) {
  if (now[0] >= facts_.items_limit) return {};
  const std::vector<FormCounter>& counters = facts_.form->counters;
  const std::vector<std::uint32_t> values(now.begin() + 1, now.end());
  const std::vector<ValueChoice>& choices = facts_.place(now[0]);
  std::vector<Ranked> ranked;
  for (const std::uint32_t i : best_choices(choices, cost_)) {
    std::vector<std::uint32_t> next = values;
    if (!count_hits(counters, next, choices[i].hits)) continue;
    PathSearch::State behind = state(std::min(now[0] + 1, facts_.index_cap), next);
    if (behind == now) continue;
    ranked.push_back({promise(counters, values, choices[i].hits),
                      {std::move(behind), 1 + cost_(choices[i].node), i}});
  }
  return best_last(std::move(ranked));
}

// --- Objects.

PathSearch::State JsonProgress::ObjectGraph::state(const Progress& object) {
  Parts parts;
  parts.bits = object.a;
  parts.properties = object.d;
  parts.counters = progress_.numbers(object.b);
  for (std::uint32_t i = 0; i < facts_.form->others.size(); ++i) {
    const std::uint32_t left = progress_.names_left(object, i);
    parts.left.push_back(left > facts_.counted_min ? kMany : left);
  }
  return settled(std::move(parts));
}

JsonProgress::ObjectGraph::Parts JsonProgress::ObjectGraph::parts(
    const PathSearch::State& state) const {
  const auto classes = static_cast<std::ptrdiff_t>(facts_.form->others.size());
  Parts parts{state[0], state[1], state[2], {}, {}};
  parts.left.assign(state.begin() + 3, state.begin() + 3 + classes);
  parts.counters.assign(state.begin() + 3 + classes, state.end());
  return parts;
}

// Stands at the first slot that leaves a choice, so that what is the same has one state.
PathSearch::State JsonProgress::ObjectGraph::settled(Parts parts) {
  const auto declared = static_cast<std::uint32_t>(facts_.form->declared.size());
  const auto slots = declared + static_cast<std::uint32_t>(parts.left.size());
  const Bits& bits = progress_.numbers(parts.bits);
  const auto decided = [&](std::uint32_t slot) {
    if (slot >= declared) return parts.left[slot - declared] == 0;
    return (bits[slot / 32] >> (slot % 32) & 1) == 0;
  };
  while (parts.slot < slots && decided(parts.slot)) ++parts.slot;
  for (std::uint32_t i = 0; i < parts.left.size() && declared + i < parts.slot; ++i) {
    parts.left[i] = 0;
  }
  PathSearch::State state{parts.slot, parts.bits, parts.properties};
  state.insert(state.end(), parts.left.begin(), parts.left.end());
  state.insert(state.end(), parts.counters.begin(), parts.counters.end());
  return state;
}

bool JsonProgress::ObjectGraph::goal(const PathSearch::State& state) {
  const Parts now = parts(state);
  if (now.properties < facts_.form->properties_min) return false;
  const Bits& bits = progress_.numbers(now.bits);
  const auto due = bits.begin() + static_cast<std::ptrdiff_t>(facts_.words);
  return std::all_of(due, bits.end(), [](std::uint32_t word) { return word == 0; }) &&
         counts_suffice(facts_.form->counters, now.counters);
}

// False: it is due.
bool JsonProgress::ObjectGraph::leave(Parts& parts) {
  const auto declared = static_cast<std::uint32_t>(facts_.form->declared.size());
  if (parts.slot < declared) {
    Bits bits = progress_.numbers(parts.bits);
    if (!progress_.close_property(facts_, bits, parts.slot)) return false;
    parts.bits = progress_.intern_list(bits);
  }
  ++parts.slot;
  return true;
}

std::vector<PathSearch::Move> JsonProgress::ObjectGraph::moves(const PathSearch::State& now) {
  const Parts from = parts(now);
  const std::size_t slots = facts_.form->declared.size() + facts_.form->others.size();
  if (from.slot >= slots) return {};
  std::vector<PathSearch::Move> moves;
  Parts left = from;
  if (leave(left)) moves.push_back({settled(std::move(left)), 0, kLeave});
  if (from.properties < facts_.form->properties_max) add_takes(from, moves);
  std::erase_if(moves, [&](const PathSearch::Move& move) { return move.next == now; });
  return moves;
}

void JsonProgress::ObjectGraph::add_takes(const Parts& from, std::vector<PathSearch::Move>& moves) {
  const ObjectForm& form = *facts_.form;
  const auto declared = static_cast<std::uint32_t>(form.declared.size());
  const bool other = from.slot >= declared;
  Parts taken = from;
  std::uint32_t name_bytes = 2;
  if (other) {
    std::uint32_t& left = taken.left[from.slot - declared];
    if (left != kMany) --left;
    const ContentAutomaton& names = *form.others[from.slot - declared].names;
    name_bytes += names.shortest_length(names.start(), 0);
  } else {
    const auto bits = progress_.take(facts_, progress_.numbers(from.bits), from.slot);
    if (!bits) return;
    taken.bits = progress_.intern_list(*bits);
    taken.slot = from.slot + 1;
    name_bytes = facts_.name_bytes[from.slot];
  }
  const bool bounded = form.properties_max != kMany;
  taken.properties =
      bounded ? from.properties + 1 : std::min(from.properties + 1, form.properties_min);
  const std::vector<ValueChoice>& values =
      other ? form.others[from.slot - declared].value : form.declared[from.slot].value;
  std::vector<Ranked> ranked;
  for (const std::uint32_t i : best_choices(values, cost_)) {
    Parts next = taken;
    if (!count_hits(form.counters, next.counters, values[i].hits)) continue;
    ranked.push_back({promise(form.counters, from.counters, values[i].hits),
                      {settled(std::move(next)), kBrackets + name_bytes + cost_(values[i].node),
                       std::uint64_t{from.slot} << 32 | i}});
  }
  for (PathSearch::Move& move : best_last(std::move(ranked))) moves.push_back(std::move(move));
}

}  // namespace zerohop
