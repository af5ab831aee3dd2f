#include "constrain/json_forms.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/utf8.h"
#include "constrain/content_coding.h"

namespace zerohop {

namespace {

constexpr std::uint32_t kMany = UINT32_MAX;
constexpr std::size_t kNarrowedBytes = 200;  // of the tables, about, for a narrowed alternative

std::unique_ptr<ArrayFacts> array_facts(const ArrayForm& form) {
  auto facts = std::make_unique<ArrayFacts>();
  facts->form = &form;
  const auto places = static_cast<std::uint32_t>(form.prefix.size());
  std::uint32_t limit = form.rest.empty() ? places : kMany;
  for (std::uint32_t i = places; i-- > 0;) {
    if (form.prefix[i].empty()) limit = i;
  }
  facts->items_limit = std::min(limit, form.items_max);
  const std::uint32_t settled = std::max({places, form.items_min, 1u});
  facts->index_cap = facts->items_limit == kMany ? settled : kMany;
  return facts;
}

void sort_names(const ObjectForm& form, ObjectFacts& facts) {
  std::vector<std::u32string> names;
  for (const ObjectForm::Property& property : form.declared) {
    names.push_back(utf8_decode(property.name));
    facts.name_bytes.push_back(static_cast<std::uint32_t>(
        2 + encode_content(names.back(), TextCoding::kJsonCanonical).size()));
  }
  facts.by_rank.resize(names.size());
  std::iota(facts.by_rank.begin(), facts.by_rank.end(), 0u);
  std::sort(facts.by_rank.begin(), facts.by_rank.end(),
            [&](std::uint32_t a, std::uint32_t b) { return names[a] < names[b]; });
  for (const std::uint32_t index : facts.by_rank) facts.names.push_back(std::move(names[index]));
}

void note_needs(const ObjectForm& form, ObjectFacts& facts) {
  facts.has_needs =
      std::any_of(form.declared.begin(), form.declared.end(),
                  [](const ObjectForm::Property& property) { return !property.needs.empty(); });
  if (!facts.has_needs) return;
  facts.needed_by.resize(form.declared.size());
  for (std::uint32_t i = 0; i < form.declared.size(); ++i) {
    for (const std::uint32_t needed : form.declared[i].needs) facts.needed_by[needed].push_back(i);
  }
}

std::unique_ptr<ObjectFacts> object_facts(const ObjectForm& form) {
  auto facts = std::make_unique<ObjectFacts>();
  facts->form = &form;
  facts->words = (form.declared.size() + 31) / 32;
  sort_names(form, *facts);
  note_needs(form, *facts);
  facts->counted_min = form.properties_min;
  for (const FormCounter& counter : form.counters) facts->counted_min += counter.min;
  for (const ObjectForm::NameClass& others : form.others) {
    // So many that however many of the needed ones are used up, a needed one is left.
    const std::size_t limit = std::size_t{2} * facts->counted_min + 256;
    std::size_t words = 0;
    if (!others.names->empty() && !others.value.empty()) {
      words = others.names->count_words(others.names->start(), 0, limit);
    }
    facts->class_words.push_back(words >= limit ? kMany : static_cast<std::uint32_t>(words));
  }
  return facts;
}

// The smallest count from which on no minimum is left, or a few more.
std::uint32_t find_count_cap(const ContentAutomaton& automaton) {
  if (automaton.characters_max(0) != ContentAutomaton::kUnbounded) return kMany;
  constexpr std::uint32_t kFar = 1u << 30;
  const std::uint32_t start = automaton.start();
  const std::uint32_t shortest = automaton.shortest_length(start, kFar);
  std::uint32_t low = 0;
  std::uint32_t high = kFar;
  while (low < high) {  // the first count at which the shortest word of all is long enough
    const std::uint32_t middle = low + (high - low) / 2;
    if (!automaton.live(start, middle) || automaton.shortest_length(start, middle) > shortest) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low + shortest;
}

}  // namespace

JsonForms::JsonForms(std::shared_ptr<const SchemaForm> form) : form_(std::move(form)) {
  first_.reserve(form_->nodes.size() + 1);
  for (const std::vector<SchemaAlternative>& node : form_->nodes) {
    first_.push_back(static_cast<AlternativeId>(alternatives_.size()));
    for (const SchemaAlternative& alternative : node) alternatives_.push_back(&alternative);
  }
  first_.push_back(static_cast<AlternativeId>(alternatives_.size()));
  facts_.resize(alternatives_.size());
}

AlternativeId JsonForms::narrowed(AlternativeId id, std::uint32_t room,
                                  const std::function<bool(SchemaNodeId)>& fits) {
  if (const auto known = narrowed_ids_.find({id, room}); known != narrowed_ids_.end()) {
    return known->second;
  }
  SchemaAlternative copy = alternative(id);
  std::size_t bytes = sizeof(SchemaAlternative) + kNarrowedBytes;
  const auto narrow = [&](std::vector<ValueChoice>& choices) {
    bytes += sizeof(choices) + choices.capacity() * sizeof(ValueChoice);
    std::erase_if(choices, [&](const ValueChoice& choice) { return !fits(choice.node); });
  };
  if (auto* array = std::get_if<ArrayForm>(&copy)) {
    for (std::vector<ValueChoice>& place : array->prefix) narrow(place);
    narrow(array->rest);
  } else if (auto* object = std::get_if<ObjectForm>(&copy)) {
    for (ObjectForm::Property& property : object->declared) {
      bytes += sizeof(property) + property.name.capacity() +
               property.needs.capacity() * sizeof(property.needs[0]);
      narrow(property.value);
    }
    for (ObjectForm::NameClass& others : object->others) narrow(others.value);
  }
  // `fits` may have narrowed others, so it has its number only now.
  const auto narrowed = static_cast<AlternativeId>(alternatives_.size());
  alternatives_.push_back(&narrowed_.emplace_back(std::move(copy)));
  facts_.emplace_back();
  rooms_.push_back(room);
  narrowed_bytes_ += bytes;
  narrowed_ids_.emplace(std::pair{id, room}, narrowed);
  return narrowed;
}

const ArrayFacts& JsonForms::array(AlternativeId id) {
  std::unique_ptr<ArrayFacts>& facts = facts_[id].array;
  if (facts == nullptr) {
    facts = array_facts(std::get<ArrayForm>(alternative(id)));
    facts_bytes_ += sizeof(ArrayFacts);
  }
  return *facts;
}

const ObjectFacts& JsonForms::object(AlternativeId id) {
  std::unique_ptr<ObjectFacts>& facts = facts_[id].object;
  if (facts == nullptr) {
    facts = object_facts(std::get<ObjectForm>(alternative(id)));
    facts_bytes_ += sizeof(ObjectFacts) + facts->names.size() * 64;
  }
  return *facts;
}

std::uint32_t JsonForms::count_cap(const ContentAutomaton& automaton) {
  const auto place = std::lower_bound(
      caps_.begin(), caps_.end(), &automaton,
      [](const CountCap& cap, const ContentAutomaton* wanted) { return cap.automaton < wanted; });
  if (place != caps_.end() && place->automaton == &automaton) return place->cap;
  const std::uint32_t cap = find_count_cap(automaton);
  caps_.insert(place, {&automaton, cap});
  return cap;
}

std::size_t JsonForms::memory_bytes() const {
  return first_.capacity() * sizeof(AlternativeId) + alternatives_.capacity() * sizeof(void*) +
         facts_.capacity() * sizeof(Facts) + narrowed_bytes_ + caps_.capacity() * sizeof(CountCap) +
         facts_bytes_;
}

}  // namespace zerohop
