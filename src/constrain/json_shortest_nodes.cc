// The shortest documents of nodes: with any room, and with little.
#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "constrain/json_shortest.h"

namespace zerohop {

namespace {

constexpr std::uint32_t kEndless = JsonShortest::kEndless;
constexpr std::uint32_t kNotKnown = UINT32_MAX;

template <typename Visit>
void for_each_node(const SchemaAlternative& alternative, const Visit& visit) {
  const auto all = [&](const std::vector<ValueChoice>& choices) {
    for (const ValueChoice& choice : choices) visit(choice.node);
  };
  if (const auto* array = std::get_if<ArrayForm>(&alternative)) {
    for (const std::vector<ValueChoice>& place : array->prefix) all(place);
    all(array->rest);
  } else if (const auto* object = std::get_if<ObjectForm>(&alternative)) {
    for (const ObjectForm::Property& property : object->declared) all(property.value);
    for (const ObjectForm::NameClass& others : object->others) all(others.value);
  }
}

}  // namespace

bool JsonShortest::is_container(AlternativeId id) const {
  const SchemaAlternative& alternative = world_.forms.alternative(id);
  return std::holds_alternative<ArrayForm>(alternative) ||
         std::holds_alternative<ObjectForm>(alternative);
}

// The container with nothing in it; kNoProgress: it cannot be finished.
ProgressId JsonShortest::begun(AlternativeId id) {
  const bool array = std::holds_alternative<ArrayForm>(world_.forms.alternative(id));
  return array ? world_.progress.begin_array(id) : world_.progress.begin_object(id);
}

std::uint32_t JsonShortest::measure_scalar(AlternativeId id) {
  std::uint32_t& bytes = scalar_bytes_[id];
  if (bytes != 0) return bytes;
  const SchemaAlternative& alternative = world_.forms.alternative(id);
  if (const auto* string = std::get_if<StringForm>(&alternative)) {
    const ContentAutomaton& content = *string->content;
    bytes =
        static_cast<std::uint32_t>(json_quoted(content.shortest_end(content.start(), 0)).size());
  } else if (const auto* number = std::get_if<NumberForm>(&alternative)) {
    const NumberLanguage& language = *number->language;
    bytes = static_cast<std::uint32_t>(language.shortest_end_bytes(language.start()));
  } else {
    const auto* boolean = std::get_if<BooleanForm>(&alternative);
    bytes = boolean == nullptr || boolean->allows_true ? 4 : 5;
  }
  return bytes;
}

// With what is known of the nodes so far.
std::uint32_t JsonShortest::measure_container(AlternativeId id) {
  const ProgressId empty = begun(id);
  if (empty == kNoProgress) return kEndless;
  const std::uint32_t inside = plan_bytes(empty, Items::kNone);
  return inside >= kEndless - 1 ? kEndless : inside + 1;
}

// The nodes that each node is a value in.
std::vector<std::vector<SchemaNodeId>> JsonShortest::users_of_nodes() const {
  const JsonForms& forms = world_.forms;
  std::vector<std::vector<SchemaNodeId>> users(forms.nodes());
  for (SchemaNodeId node = 0; node < users.size(); ++node) {
    for (AlternativeId id = forms.first(node); id < forms.end(node); ++id) {
      for_each_node(forms.alternative(id), [&](SchemaNodeId inner) {
        auto& list = users[inner];
        if (list.empty() || list.back() != node) list.push_back(node);
      });
    }
  }
  return users;
}

// Whether it has become shorter.
bool JsonShortest::measure_node(SchemaNodeId node) {
  bool shorter = false;
  for (AlternativeId id = world_.forms.first(node); id < world_.forms.end(node); ++id) {
    const std::uint32_t bytes = is_container(id) ? measure_container(id) : measure_scalar(id);
    if (bytes >= free_.bytes[node]) continue;
    free_.bytes[node] = bytes;
    free_.best[node] = id;
    shorter = true;
  }
  return shorter;
}

// Until nothing gets shorter, each node again only when something in it has. Nodes mostly lead to
// those with higher numbers, so two rounds usually do; a round settles at least all documents of
// one more container inside of one another, so kHeightMax of them are enough.
void JsonShortest::measure_nodes() {
  measured_ = true;
  const JsonForms& forms = world_.forms;
  const std::size_t nodes = forms.nodes();
  free_.bytes.assign(nodes, kEndless);
  free_.best.assign(nodes, 0);
  heights_.assign(nodes, 0);
  scalar_bytes_.assign(forms.end(static_cast<SchemaNodeId>(nodes - 1)), 0);
  needs_.assign(scalar_bytes_.size(), kNotKnown);
  const auto users = users_of_nodes();
  std::vector<bool> waits(nodes, true);
  settled_ = false;
  for (std::uint32_t round = 0; !settled_ && round <= kHeightMax + 1; ++round) {
    settled_ = true;
    world_.progress.forget_cheapest_ways();
    for (auto node = static_cast<SchemaNodeId>(nodes); node-- > 0;) {
      if (!waits[node]) continue;
      waits[node] = false;
      if (!measure_node(node)) continue;
      settled_ = false;
      for (const SchemaNodeId user : users[node]) waits[user] = true;
    }
  }
  measure_heights();
}

// What a document holds is shorter than it, so in this order all that is asked for is known.
void JsonShortest::measure_heights() {
  std::vector<SchemaNodeId> order(heights_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](SchemaNodeId a, SchemaNodeId b) { return free_.bytes[a] < free_.bytes[b]; });
  for (const SchemaNodeId node : order) {
    const AlternativeId id = free_.best[node];
    if (free_.bytes[node] >= kEndless || !is_container(id)) continue;
    const ProgressId empty = begun(id);
    std::uint32_t inside = 0;
    if (is_plain_array(empty)) {
      const ArrayForm& form = *world_.forms.array(id).form;
      const std::size_t places = std::min<std::size_t>(form.items_min, form.prefix.size() + 1);
      for (Slot slot = 0; slot < places; ++slot) {
        const auto& place = choices(empty, slot);
        const std::uint32_t choice = best_choice(place, JsonForms::kAnyRoom);
        inside = std::max(inside, heights_[place[choice].node]);
      }
    } else {
      for (const Step& step : plan(empty)) {
        inside = std::max(inside, heights_[choices(empty, step.slot)[step.choice].node]);
      }
    }
    heights_[node] = inside + 1;
  }
}

// The next table of what is shortest within a small room.
void JsonShortest::measure_room() {
  const JsonForms& forms = world_.forms;
  const auto room = static_cast<std::uint32_t>(rooms_.size());
  const auto nodes = static_cast<SchemaNodeId>(forms.nodes());
  Nodes table;
  table.bytes.assign(nodes, kEndless);
  table.best.assign(nodes, 0);
  for (SchemaNodeId node = 0; node < nodes; ++node) {
    for (AlternativeId id = forms.first(node); id < forms.end(node); ++id) {
      std::uint32_t bytes = kEndless;
      AlternativeId best = id;
      if (!is_container(id)) {
        bytes = measure_scalar(id);
      } else if (room > 0) {
        best = fitting(id, room - 1);
        bytes = measure_container(best);
      }
      if (bytes >= table.bytes[node]) continue;
      table.bytes[node] = bytes;
      table.best[node] = best;
    }
  }
  rooms_.push_back(std::move(table));
}

const JsonShortest::Nodes& JsonShortest::nodes_within(SchemaNodeId node, std::uint32_t room) {
  if (!measured_) measure_nodes();
  if (room >= heights_[node]) return free_;
  while (rooms_.size() <= room) measure_room();
  return rooms_[room];
}

// The height of the highest document that a shortest one inside of the container may need. While
// nodes are being measured nobody asks.
std::uint32_t JsonShortest::height_needed(AlternativeId id) {
  if (!measured_) measure_nodes();
  std::uint32_t& need = needs_[id];
  if (need == kNotKnown) {
    need = 0;
    for_each_node(world_.forms.alternative(id),
                  [&](SchemaNodeId node) { need = std::max(need, heights_[node]); });
  }
  return need;
}

AlternativeId JsonShortest::fitting(AlternativeId id, std::uint32_t room) {
  // In a shortest document no node comes again inside of itself.
  if (room >= world_.forms.nodes() || room >= height_needed(id)) return id;
  return world_.forms.narrowed(
      id, room, [&](SchemaNodeId node) { return node_bytes(node, room) < kEndless; });
}

bool JsonShortest::all_end_within(std::size_t bytes_max) {
  // Of one machine, at 16 bytes each: in the worst place of a document all are made at once.
  constexpr std::size_t kTableEntriesMax = 1'000'000;
  if (!measured_) measure_nodes();
  const std::size_t highest = *std::max_element(heights_.begin(), heights_.end());
  if (!settled_ || highest > kHeightMax || highest * heights_.size() > kTableEntriesMax) {
    return false;
  }
  return free_.bytes[SchemaForm::kRoot] <= bytes_max &&
         std::none_of(free_.bytes.begin(), free_.bytes.end(),
                      [](std::uint32_t bytes) { return bytes >= kEndless; });
}

std::uint32_t JsonShortest::depth_max() {
  if (depth_max_ == 0) {
    depth_max_ = options_.depth_max;
    if (depth_max_ < world_.forms.nodes()) {
      if (!measured_) measure_nodes();
      while (node_bytes(SchemaForm::kRoot, depth_max_) >= kEndless) ++depth_max_;
    }
  }
  return depth_max_;
}

void JsonShortest::append_node(SchemaNodeId node, std::uint32_t room, std::string& text) {
  const Nodes& nodes = nodes_within(node, room);
  ZH_CHECK(nodes.bytes[node] < kEndless);
  const AlternativeId id = nodes.best[node];
  const SchemaAlternative& alternative = world_.forms.alternative(id);
  if (is_container(id)) {
    text += std::holds_alternative<ArrayForm>(alternative) ? '[' : '{';
    text += finish_text(begun(id), Items::kNone);
  } else if (const auto* string = std::get_if<StringForm>(&alternative)) {
    text += json_quoted(string->content->shortest_end(string->content->start(), 0));
  } else if (const auto* number = std::get_if<NumberForm>(&alternative)) {
    text += number->language->shortest_end(number->language->start());
  } else if (const auto* boolean = std::get_if<BooleanForm>(&alternative)) {
    text += boolean->allows_true ? "true" : "false";
  } else {
    text += "null";
  }
}

// --- Items that differ.

// The shortest one that is none of `taken`.
JsonShortest::Value JsonShortest::new_item(SchemaNodeId node, TextSetId taken) {
  KnownTexts& texts = world_.texts;
  Value best;
  best.node = node;
  const auto offer = [&](std::string text, TextId item) {
    if (text.size() >= best.bytes || texts.contains(taken, item)) return;
    best.bytes = static_cast<std::uint32_t>(text.size());
    best.text = std::move(text);
    best.item = item;
  };
  for (AlternativeId id = world_.forms.first(node); id < world_.forms.end(node); ++id) {
    const SchemaAlternative& alternative = world_.forms.alternative(id);
    if (std::holds_alternative<NullForm>(alternative)) offer("null", texts.of_ascii("n"));
    if (const auto* boolean = std::get_if<BooleanForm>(&alternative)) {
      if (boolean->allows_true) offer("true", texts.of_ascii("t"));
      if (boolean->allows_false) offer("false", texts.of_ascii("f"));
    } else if (const auto* string = std::get_if<StringForm>(&alternative)) {
      const ContentAutomaton& content = *string->content;
      const TextId mark = texts.of_ascii("s");
      const WordPlace place{&content, content.start(), 0, mark};
      const auto word = shortest_other_word(texts, place, taken, {});
      if (word) offer(json_quoted(*word), texts.of(U"s" + *word));
    } else if (const auto* number = std::get_if<NumberForm>(&alternative)) {
      const NumberPlace place{number->language.get(), number->language->start(), ""};
      const auto text = world_.numbers.shortest(place, taken);
      if (text) offer(*text, number_value(texts, *text));
    }
  }
  return best;
}

}  // namespace zerohop
