// Objects: which properties may and must still come.
//
// A property is open while it may come, and due when it must (required, or needed by one that is
// there). When generation passes a property by, it is closed, and with it all that need it. So
// whether the others still fit together never has to be asked again: what is open can be added, and
// the due ones are those that any way to finish has. Bounds on the number of properties compare
// with both numbers; needs and bounds or counters do not come together in one form.
#include <algorithm>
#include <bit>
#include <utility>

#include "constrain/json_counting.h"
#include "constrain/json_progress.h"

namespace zerohop {

namespace {

constexpr std::uint32_t kMany = UINT32_MAX;

bool has(const std::vector<std::uint32_t>& words, std::size_t from, std::uint32_t property) {
  return (words[from + property / 32] >> (property % 32) & 1) != 0;
}

void set(std::vector<std::uint32_t>& words, std::size_t from, std::uint32_t property) {
  words[from + property / 32] |= 1u << (property % 32);
}

void clear(std::vector<std::uint32_t>& words, std::size_t from, std::uint32_t property) {
  words[from + property / 32] &= ~(1u << (property % 32));
}

std::uint64_t ones(const std::vector<std::uint32_t>& words, std::size_t from, std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t i = from; i < from + count; ++i) {
    sum += static_cast<std::uint64_t>(std::popcount(words[i]));
  }
  return sum;
}

// The first bit that is set; kMany: none.
std::uint32_t first_one(const std::vector<std::uint32_t>& words, std::size_t from,
                        std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (words[from + i] != 0) {
      return static_cast<std::uint32_t>(32 * i) +
             static_cast<std::uint32_t>(std::countr_zero(words[from + i]));
    }
  }
  return kMany;
}

}  // namespace

ProgressId JsonProgress::begin_object(AlternativeId form) {
  const auto begun = begun_.find(form);
  if (begun != begun_.end()) return begun->second;
  const ObjectFacts& facts = forms_.object(form);
  const auto& declared = facts.form->declared;
  Bits bits(2 * facts.words, 0);
  bool good = true;
  for (std::uint32_t i = 0; i < declared.size(); ++i) set(bits, 0, i);
  for (std::uint32_t i = 0; i < declared.size(); ++i) {
    if (declared[i].value.empty()) good = good && close_property(facts, bits, i);
  }
  for (std::uint32_t i = 0; i < declared.size(); ++i) {
    if (!declared[i].required) continue;
    good = good && has(bits, 0, i);
    make_due(facts, bits, i);
  }
  ProgressId id = kNoProgress;
  if (good) {
    const std::uint32_t zeros =
        intern_list(std::vector<std::uint32_t>(facts.form->counters.size(), 0));
    const std::uint32_t all = intern_list(bits);
    id = if_finishable({.kind = Progress::Kind::kObject, .form = form, .a = all, .b = zeros});
  }
  begun_.emplace(form, id);
  return id;
}

// False: it is due.
bool JsonProgress::close_property(const ObjectFacts& facts, Bits& bits,
                                  std::uint32_t property) const {
  std::vector<std::uint32_t> closing{property};
  while (!closing.empty()) {
    const std::uint32_t now = closing.back();
    closing.pop_back();
    if (!has(bits, 0, now)) continue;
    if (has(bits, facts.words, now)) return false;
    clear(bits, 0, now);
    if (!facts.has_needs) continue;
    for (const std::uint32_t needing : facts.needed_by[now]) closing.push_back(needing);
  }
  return true;
}

// False: one of them is due.
bool JsonProgress::close_below(const ObjectFacts& facts, Bits& bits, std::uint32_t property) const {
  if (facts.has_needs) {
    for (std::uint32_t i = 0; i < property; ++i) {
      if (has(bits, 0, i) && !close_property(facts, bits, i)) return false;
    }
    return true;
  }
  const std::uint32_t first_due = first_one(bits, facts.words, facts.words);
  if (first_due < property) return false;
  for (std::size_t word = 0; word < property / 32; ++word) bits[word] = 0;
  if (property % 32 != 0) bits[property / 32] &= ~((1u << (property % 32)) - 1);
  return true;
}

// With all that it needs.
void JsonProgress::make_due(const ObjectFacts& facts, Bits& bits, std::uint32_t property) const {
  std::vector<std::uint32_t> due{property};
  while (!due.empty()) {
    const std::uint32_t now = due.back();
    due.pop_back();
    if (!has(bits, 0, now) || has(bits, facts.words, now)) continue;
    set(bits, facts.words, now);
    for (const std::uint32_t needed : facts.form->declared[now].needs) due.push_back(needed);
  }
}

std::optional<JsonProgress::Bits> JsonProgress::take(const ObjectFacts& facts, Bits bits,
                                                     std::uint32_t property) const {
  if (!has(bits, 0, property)) return std::nullopt;
  if (order_ == JsonMachineOptions::KeyOrder::kDeclared && !close_below(facts, bits, property)) {
    return std::nullopt;
  }
  if (!has(bits, 0, property)) return std::nullopt;  // it needed one of those
  make_due(facts, bits, property);
  clear(bits, 0, property);
  clear(bits, facts.words, property);
  return bits;
}

// How many more names of the class there can be; kMany: enough.
std::uint32_t JsonProgress::names_left(const Progress& object, std::uint32_t name_class) {
  const ObjectFacts& facts = forms_.object(object.form);
  const std::uint32_t words = facts.class_words[name_class];
  if (words == kMany || words == 0) return words;
  const ContentAutomaton& names = *facts.form->others[name_class].names;
  std::uint32_t used = 0;
  for (const TextId name : texts_.beginning_with(object.c, kEmptyText)) {
    used += names.contains(texts_.text(name)) ? 1u : 0u;
  }
  return words - std::min(words, used);
}

bool JsonProgress::object_finishable(const Progress& object) {
  const ObjectFacts& facts = forms_.object(object.form);
  const std::vector<std::uint32_t>& bits = numbers(object.a);
  if (object.d + ones(bits, facts.words, facts.words) > facts.form->properties_max) return false;
  std::uint64_t most = object.d + ones(bits, 0, facts.words);
  for (std::uint32_t i = 0; i < facts.form->others.size() && most < facts.form->properties_min;
       ++i) {
    most += names_left(object, i);
  }
  if (most < facts.form->properties_min) return false;
  if (facts.form->counters.empty()) return true;
  ObjectGraph graph(*this, object.form, [](SchemaNodeId) { return 0u; });
  const PathSearch::State state = graph.state(object);
  return search(object.form).reaches(graph, state);
}

// A name of the class that is not used yet, where it makes a difference that it will be.
TextId JsonProgress::some_name(const Progress& object, std::uint32_t name_class) {
  const ObjectFacts& facts = forms_.object(object.form);
  if (facts.class_words[name_class] == kMany) return kNoText;
  const ContentAutomaton& names = *facts.form->others[name_class].names;
  const auto name = shortest_other_word(texts_, {&names, names.start(), 0}, object.c, {});
  return name ? texts_.of(*name) : kNoText;
}

ProgressId JsonProgress::property_added(const Progress& object, const Progress& keyed,
                                        std::uint32_t hits) {
  const ObjectFacts& facts = forms_.object(object.form);
  const auto declared = static_cast<std::uint32_t>(facts.form->declared.size());
  Progress next = object;
  if (keyed.b < declared) {
    std::optional<Bits> bits = take(facts, numbers(object.a), keyed.b);
    if (!bits) return kNoProgress;
    next.a = intern_list(*bits);
  } else {
    if (order_ == JsonMachineOptions::KeyOrder::kDeclared) {
      Bits bits = numbers(object.a);
      if (first_one(bits, facts.words, facts.words) != kMany) return kNoProgress;
      next.a = intern_list(Bits(2 * facts.words, 0));
    }
    if (keyed.c != kNoText) next.c = texts_.with(object.c, keyed.c);
  }
  const std::uint32_t most = facts.form->properties_max;
  if (object.d >= most) return kNoProgress;
  next.d = most == kMany ? std::min(object.d + 1, facts.form->properties_min) : object.d + 1;
  next.b = counted(facts.form->counters, object.b, hits);
  if (next.b == kNoCounters) return kNoProgress;
  return if_finishable(next);
}

ProgressId JsonProgress::keyed(ProgressId object, Slot slot, TextId name) {
  return intern({.kind = Progress::Kind::kKeyed,
                 .form = all_[object].form,
                 .a = object,
                 .b = slot,
                 .c = name});
}

const std::vector<std::uint64_t>& JsonProgress::next_declared(ProgressId object) {
  const auto known = next_declared_.find(object);
  if (known != next_declared_.end()) return known->second;
  return next_declared_.emplace(object, find_next_declared(object)).first->second;
}

std::vector<std::uint64_t> JsonProgress::find_next_declared(ProgressId object) {
  const Progress progress = all_[object];
  const ObjectFacts& facts = forms_.object(progress.form);
  const Bits bits = numbers(progress.a);
  std::uint32_t last = kMany;
  if (order_ == JsonMachineOptions::KeyOrder::kDeclared) {
    last = first_one(bits, facts.words, facts.words);
  }
  const bool alone = !facts.has_needs && facts.form->counters.empty();
  const Room room = alone ? room_for(object) : Room{};
  std::vector<std::uint64_t> ranks((facts.names.size() + 63) / 64, 0);
  for (std::uint32_t rank = 0; rank < facts.names.size(); ++rank) {
    const std::uint32_t property = facts.by_rank[rank];
    if (!has(bits, 0, property) || property > last) continue;
    const bool due = has(bits, facts.words, property);
    const bool good = alone ? room.least_with(due) <= facts.form->properties_max &&
                                  room.most_with(property) >= facts.form->properties_min
                            : can_take(object, property);
    if (good) ranks[rank / 64] |= std::uint64_t{1} << (rank % 64);
  }
  return ranks;
}

// With neither needs nor counters, only the number of properties decides whether one that passes by
// no due one may come. Asking each of many properties by itself would make a set of bits for each.
JsonProgress::Room JsonProgress::room_for(ProgressId object) {
  const Progress progress = all_[object];
  const ObjectFacts& facts = forms_.object(progress.form);
  const Bits bits = numbers(progress.a);
  const auto declared = static_cast<std::uint32_t>(facts.form->declared.size());
  Room room;
  room.there = progress.d;
  room.due = ones(bits, facts.words, facts.words);
  room.open_behind.assign(declared, 0);
  std::uint32_t open = 0;
  for (std::uint32_t property = declared; property-- > 0;) {
    room.open_behind[property] = open;
    open += has(bits, 0, property) ? 1 : 0;
  }
  if (order_ == JsonMachineOptions::KeyOrder::kAny) {
    for (std::uint32_t& behind : room.open_behind) behind = open - 1;
  }
  for (std::uint32_t i = 0;
       i < facts.form->others.size() && room.others < facts.form->properties_min; ++i) {
    room.others += names_left(progress, i);
  }
  return room;
}

bool JsonProgress::can_take(ProgressId object, std::uint32_t property) {
  const ProgressId named = keyed(object, property, kNoText);
  const std::vector<ValueChoice>& values = object_facts(object).form->declared[property].value;
  return std::any_of(values.begin(), values.end(), [&](const ValueChoice& value) {
    return behind_value(named, value.hits, kNoText) != kNoProgress;
  });
}

bool JsonProgress::can_have_declared(ProgressId object) {
  const std::vector<std::uint64_t>& ranks = next_declared(object);
  return std::any_of(ranks.begin(), ranks.end(), [](std::uint64_t word) { return word != 0; });
}

bool JsonProgress::can_have_other(ProgressId object, std::uint32_t name_class) {
  const std::uint64_t key = static_cast<std::uint64_t>(object) << 32 | name_class;
  if (const auto known = next_other_.find(key); known != next_other_.end()) return known->second;
  const Progress progress = all_[object];
  const ObjectFacts& facts = forms_.object(progress.form);
  bool good = false;
  if (names_left(progress, name_class) > 0) {
    const auto slot = static_cast<Slot>(facts.form->declared.size() + name_class);
    const ProgressId named = keyed(object, slot, some_name(progress, name_class));
    for (const ValueChoice& choice : facts.form->others[name_class].value) {
      good = good || behind_value(named, choice.hits, kNoText) != kNoProgress;
    }
  }
  next_other_.emplace(key, good);
  return good;
}

bool JsonProgress::can_have_key(ProgressId object) {
  if (can_have_declared(object)) return true;
  const auto classes = static_cast<std::uint32_t>(object_facts(object).form->others.size());
  for (std::uint32_t i = 0; i < classes; ++i) {
    if (can_have_other(object, i)) return true;
  }
  return false;
}

bool JsonProgress::is_open(ProgressId object, std::uint32_t property) const {
  return has(numbers(all_[object].a), 0, property);
}

bool JsonProgress::is_due(ProgressId object, std::uint32_t property) const {
  const std::vector<std::uint32_t>& bits = numbers(all_[object].a);
  return has(bits, bits.size() / 2, property);
}

}  // namespace zerohop
