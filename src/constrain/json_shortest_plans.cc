// Plans: the items and properties that a container still gets on the shortest way to its end.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"
#include "constrain/json_counting.h"
#include "constrain/json_shortest.h"

namespace zerohop {

namespace {

constexpr std::uint32_t kEndless = JsonShortest::kEndless;
// What a node counts for in a search at most, so that sums stay small.
constexpr std::uint32_t kExpensive = 1u << 24;

std::uint32_t sum(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(a + b, kEndless));
}

}  // namespace

const std::vector<ValueChoice>& JsonShortest::choices(ProgressId container, Slot slot) {
  const Progress& progress = world_.progress[container];
  if (progress.kind == Progress::Kind::kArray) {
    return world_.forms.array(progress.form).place(slot);
  }
  const ObjectForm& form = *world_.forms.object(progress.form).form;
  if (slot < form.declared.size()) return form.declared[slot].value;
  return form.others[slot - form.declared.size()].value;
}

std::uint32_t JsonShortest::best_choice(const std::vector<ValueChoice>& choices,
                                        std::uint32_t room) {
  std::uint32_t best = 0;
  for (std::uint32_t i = 1; i < choices.size(); ++i) {
    if (node_bytes(choices[i].node, room) < node_bytes(choices[best].node, room)) best = i;
  }
  return best;
}

JsonShortest::Plan JsonShortest::plan(ProgressId container) {
  if (world_.progress.is_counted(container)) return counted_plan(container);
  if (world_.progress[container].kind == Progress::Kind::kObject) return object_plan(container);
  if (world_.progress.tracks_values(container)) return unique_plan(container);
  return array_plan(container);
}

// --- Arrays.

JsonShortest::Plan JsonShortest::array_plan(ProgressId array) {
  const std::uint32_t items = world_.progress[array].a;
  const std::uint32_t wanted = world_.progress.array_facts(array).form->items_min;
  const std::uint32_t room = room_of(array);
  Plan plan;
  for (std::uint32_t i = items; i < wanted; ++i) {
    plan.push_back({i, best_choice(choices(array, i), room), {}, {}});
  }
  return plan;
}

bool JsonShortest::is_plain_array(ProgressId container) {
  return world_.progress[container].kind == Progress::Kind::kArray &&
         !world_.progress.is_counted(container) && !world_.progress.tracks_values(container);
}

// Without a plan: an array may have to hold a million items that are all the same.
std::uint32_t JsonShortest::plain_array_bytes(ProgressId array, Items items) {
  const ArrayForm& form = *world_.progress.array_facts(array).form;
  const std::uint32_t from = world_.progress[array].a;
  const std::uint32_t room = room_of(array);
  const auto item_bytes = [&](const std::vector<ValueChoice>& place) {
    const std::uint32_t bytes = node_bytes(place[best_choice(place, room)].node, room);
    return bytes >= kEndless ? std::uint64_t{kEndless} : bytes + options_.comma.size();
  };
  std::uint32_t bytes = 1;
  std::uint32_t at = from;
  for (; at < std::min<std::size_t>(form.items_min, form.prefix.size()); ++at) {
    bytes = sum(bytes, item_bytes(form.prefix[at]));
  }
  if (at < form.items_min) bytes = sum(bytes, item_bytes(form.rest) * (form.items_min - at));
  const bool comma_over = items == Items::kNone && from < form.items_min && bytes < kEndless;
  return comma_over ? bytes - static_cast<std::uint32_t>(options_.comma.size()) : bytes;
}

JsonShortest::Plan JsonShortest::unique_plan(ProgressId array) {
  TextSetId taken = world_.progress[array].c;
  Plan plan = array_plan(array);
  for (Step& step : plan) {
    const std::vector<ValueChoice>& options = choices(array, step.slot);
    Value best;
    for (std::uint32_t i = 0; i < options.size(); ++i) {
      Value item = new_item(options[i].node, taken);
      if (item.bytes >= best.bytes) continue;
      best = std::move(item);
      step.choice = i;
    }
    ZH_CHECK(best.bytes < kEndless);
    step.item = best.text;
    taken = world_.texts.with(taken, best.item);
  }
  return plan;
}

JsonShortest::Plan JsonShortest::counted_plan(ProgressId container) {
  const Progress progress = world_.progress[container];
  const bool array = progress.kind == Progress::Kind::kArray;
  const std::uint32_t room = room_of(container);
  const auto extra = static_cast<std::uint32_t>(options_.comma.size() - 1 +
                                                (array ? 0 : options_.colon.size() - 1));
  const NodeCost cost = [this, extra, room](SchemaNodeId node) -> std::uint32_t {
    return std::min(node_bytes(node, room), kExpensive) + extra;
  };
  PathSearch& search = world_.progress.search(progress.form);
  std::vector<PathSearch::Move> way;
  if (array) {
    JsonProgress::ArrayGraph graph(world_.forms.array(progress.form), cost);
    way = search.cheapest(
        graph, JsonProgress::ArrayGraph::state(progress.a, world_.progress.numbers(progress.b)));
  } else {
    JsonProgress::ObjectGraph graph(world_.progress, progress.form, cost);
    const PathSearch::State from = graph.state(progress);
    way = search.cheapest(graph, from);
  }
  Plan plan;
  for (const PathSearch::Move& move : way) {
    const auto choice = static_cast<std::uint32_t>(move.what);
    if (array) {
      plan.push_back({progress.a + static_cast<Slot>(plan.size()), choice, {}, {}});
    } else if (move.what != JsonProgress::ObjectGraph::kLeave) {
      plan.push_back({static_cast<Slot>(move.what >> 32), choice, {}, {}});
    }
  }
  if (!array) name_others(container, plan);
  return plan;
}

// --- Objects.

// All due properties, and the cheapest others that are needed to have enough.
JsonShortest::Plan JsonShortest::object_plan(ProgressId object) {
  const ObjectForm& form = *world_.progress.object_facts(object).form;
  const std::uint32_t room = room_of(object);
  Plan plan;
  for (Slot slot = 0; slot < form.declared.size(); ++slot) {
    if (!world_.progress.is_due(object, slot)) continue;
    plan.push_back({slot, best_choice(form.declared[slot].value, room), {}, {}});
  }
  const std::size_t there = world_.progress[object].d + plan.size();
  if (there < form.properties_min) {
    add_optional(object, form.properties_min - there, plan);
    std::stable_sort(plan.begin(), plan.end(),
                     [](const Step& a, const Step& b) { return a.slot < b.slot; });
  }
  return plan;
}

void JsonShortest::add_optional(ProgressId object, std::size_t wanted, Plan& plan) {
  const ObjectForm& form = *world_.progress.object_facts(object).form;
  const std::uint32_t room = room_of(object);
  std::vector<std::pair<std::uint32_t, Step>> found;
  const auto offer = [&](Step step) {
    step.choice = best_choice(choices(object, step.slot), room);
    const SchemaNodeId node = choices(object, step.slot)[step.choice].node;
    const std::uint32_t bytes = sum(name_bytes(object, step), node_bytes(node, room));
    found.emplace_back(bytes, std::move(step));
  };
  for (Slot slot = 0; slot < form.declared.size(); ++slot) {
    const bool open = world_.progress.is_open(object, slot);
    if (open && !world_.progress.is_due(object, slot)) offer({slot, 0, {}, {}});
  }
  for (std::uint32_t i = 0; i < form.others.size(); ++i) {
    TextSetId used = world_.progress[object].c;
    const ContentAutomaton& names = *form.others[i].names;
    if (names.empty() || form.others[i].value.empty()) continue;
    for (std::size_t k = 0; k < wanted; ++k) {
      const auto name = shortest_other_word(world_.texts, {&names, names.start(), 0}, used, {});
      if (!name) break;
      used = world_.texts.with(used, world_.texts.of(*name));
      offer({static_cast<Slot>(form.declared.size()) + i, 0, *name, {}});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  ZH_CHECK(found.size() >= wanted);
  for (std::size_t i = 0; i < wanted; ++i) plan.push_back(std::move(found[i].second));
}

// Gives names to properties that are none of the declared ones.
void JsonShortest::name_others(ProgressId object, Plan& plan) {
  const ObjectForm& form = *world_.progress.object_facts(object).form;
  TextSetId used = world_.progress[object].c;
  for (Step& step : plan) {
    if (step.slot < form.declared.size()) continue;
    const ContentAutomaton& names = *form.others[step.slot - form.declared.size()].names;
    const auto name = shortest_other_word(world_.texts, {&names, names.start(), 0}, used, {});
    ZH_CHECK(name.has_value());
    step.name = *name;
    used = world_.texts.with(used, world_.texts.of(*name));
  }
}

std::uint32_t JsonShortest::name_bytes(ProgressId object, const Step& step) {
  const ObjectFacts& facts = world_.progress.object_facts(object);
  if (step.slot < facts.name_bytes.size()) return facts.name_bytes[step.slot];
  return static_cast<std::uint32_t>(json_quoted(step.name).size());
}

// --- Plans as bytes.

std::uint32_t JsonShortest::plan_bytes(ProgressId container, Items items) {
  if (is_plain_array(container)) return plain_array_bytes(container, items);
  return plan_bytes(container, plan(container), items);
}

std::uint32_t JsonShortest::plan_bytes(ProgressId container, const Plan& plan, Items items) {
  const bool object = world_.progress[container].kind == Progress::Kind::kObject;
  const std::uint32_t room = room_of(container);
  std::uint32_t bytes = 1;
  for (const Step& step : plan) {
    const SchemaNodeId node = choices(container, step.slot)[step.choice].node;
    bytes = sum(bytes, step.item.empty() ? node_bytes(node, room) : step.item.size());
    bytes = sum(bytes, options_.comma.size());
    if (object) bytes = sum(bytes, name_bytes(container, step) + options_.colon.size());
  }
  if (items == Items::kNone && !plan.empty() && bytes < kEndless) {
    bytes -= static_cast<std::uint32_t>(options_.comma.size());
  }
  return bytes;
}

std::string JsonShortest::step_text(ProgressId container, const Step& step) {
  const Progress progress = world_.progress[container];
  std::string text;
  if (progress.kind == Progress::Kind::kObject) {
    const ObjectForm& form = *world_.forms.object(progress.form).form;
    const bool declared = step.slot < form.declared.size();
    text =
        declared ? json_quoted(utf8_decode(form.declared[step.slot].name)) : json_quoted(step.name);
    text += options_.colon;
  }
  if (step.item.empty()) {
    append_node(choices(container, step.slot)[step.choice].node, room_of(container), text);
  } else {
    text += step.item;
  }
  return text;
}

std::uint32_t JsonShortest::finish_bytes(ProgressId container, Items items) {
  if (items == Items::kNone) return plan_bytes(container, items);
  const auto known = finish_.find(container);
  if (known != finish_.end()) return known->second;
  const std::uint32_t bytes = plan_bytes(container, items);
  finish_.emplace(container, bytes);
  return bytes;
}

std::string JsonShortest::finish_text(ProgressId container, Items items) {
  const bool object = world_.progress[container].kind == Progress::Kind::kObject;
  std::string text;
  const auto add = [&](const Step& step) {
    if (items == Items::kSome) text += options_.comma;
    items = Items::kSome;
    text += step_text(container, step);
  };
  if (is_plain_array(container)) {
    const std::uint32_t room = room_of(container);
    const std::uint32_t wanted = world_.progress.array_facts(container).form->items_min;
    for (std::uint32_t i = world_.progress[container].a; i < wanted; ++i) {
      add({i, best_choice(choices(container, i), room), {}, {}});
    }
  } else {
    for (const Step& step : plan(container)) add(step);
  }
  text += object ? '}' : ']';
  return text;
}

JsonShortest::Property JsonShortest::best_property(ProgressId object) {
  JsonProgress& progress = world_.progress;
  const ObjectFacts& facts = progress.object_facts(object);
  if (!progress.is_counted(object)) {
    const Plan plan = object_plan(object);
    if (!plan.empty()) {
      return {plan_bytes(object, plan, Items::kNone), step_text(object, plan[0])};
    }
  }
  Property best;
  const auto offer = [&](std::string name, ProgressId keyed) {
    const std::uint32_t bytes = sum(name.size() + options_.colon.size(), keyed_bytes(keyed));
    if (bytes < best.bytes) best = {bytes, std::move(name)};
  };
  const std::vector<std::uint64_t>& possible = progress.next_declared(object);
  for (std::uint32_t rank = 0; rank < facts.by_rank.size(); ++rank) {
    if ((possible[rank / 64] >> (rank % 64) & 1) == 0) continue;
    const Slot slot = facts.by_rank[rank];
    offer(json_quoted(facts.names[rank]), progress.keyed(object, slot, kNoText));
  }
  for (std::uint32_t i = 0; i < facts.form->others.size(); ++i) {
    if (!progress.can_have_other(object, i)) continue;
    const ContentAutomaton& names = *facts.form->others[i].names;
    const auto name =
        shortest_other_word(world_.texts, {&names, names.start(), 0}, progress[object].c, {});
    if (!name) continue;
    const auto slot = static_cast<Slot>(facts.form->declared.size()) + i;
    offer(json_quoted(*name), progress.keyed(object, slot, world_.texts.of(*name)));
  }
  best.text += options_.colon;
  return best;
}

}  // namespace zerohop
