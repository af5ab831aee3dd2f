// The shortest array and object of an alternative, exactly as to whether there is one.
//
// Without counters that is a sum. With counters it is a path: from place to place (from name to
// name), each value moves some counters, and at the end all of them must have enough. The states on
// the way are the counters' values, cut off where more makes no difference.
#include <algorithm>

#include "base/utf8.h"
#include "constrain/schema_texts.h"
#include "constrain/schema_trim.h"

namespace zerohop {
namespace {

constexpr std::size_t kStatesMax = 20'000;

std::uint64_t add(std::uint64_t a, std::uint64_t b) {
  return a == kEndless || b == kEndless ? kEndless : a + b;
}

// The shortest of the choices; kEndless: none can be.
std::uint64_t shortest_choice(const std::vector<ValueChoice>& choices,
                              const std::vector<std::uint64_t>& nodes) {
  std::uint64_t best = kEndless;
  for (const ValueChoice& choice : choices) best = std::min(best, nodes[choice.node]);
  return best;
}

void refuse_counting(SchemaWork& work) {
  work.refuse({SchemaRefusal::Kind::kTooLarge, "", "", "too many conditions count at once"});
}

// Values of all counters as one number.
class CounterStates {
 public:
  explicit CounterStates(const std::vector<FormCounter>& counters) : counters_(counters) {
    for (const FormCounter& counter : counters) {
      const std::uint64_t top = counter.max == UINT32_MAX ? counter.min : counter.max;
      tops_.push_back(top);
      size_ = std::min<std::uint64_t>(size_ * (top + 1), kStatesMax + 1);
    }
  }

  std::size_t size() const { return static_cast<std::size_t>(size_); }

  /// The state after a value with `hits`; size() when a counter has too many.
  std::size_t move(std::size_t state, std::uint32_t hits) const {
    std::size_t scale = 1;
    std::size_t moved = state;
    for (std::size_t i = 0; i < tops_.size(); ++i) {
      const std::size_t radix = static_cast<std::size_t>(tops_[i]) + 1;
      const std::size_t value = state / scale % radix;
      if ((hits >> i & 1U) != 0) {
        if (value < tops_[i]) {
          moved += scale;
        } else if (counters_[i].max != UINT32_MAX) {
          return size();
        }
      }
      scale *= radix;
    }
    return moved;
  }

  bool enough(std::size_t state) const {
    for (std::size_t i = 0; i < tops_.size(); ++i) {
      const std::size_t radix = static_cast<std::size_t>(tops_[i]) + 1;
      if (state % radix < counters_[i].min) return false;
      state /= radix;
    }
    return true;
  }

 private:
  const std::vector<FormCounter>& counters_;
  std::vector<std::uint64_t> tops_;
  std::uint64_t size_ = 1;
};

std::uint64_t array_without_counters(const ArrayForm& form,
                                     const std::vector<std::uint64_t>& nodes) {
  std::uint64_t bytes = 2;
  const std::size_t places = std::min<std::size_t>(form.items_min, form.prefix.size());
  for (std::size_t i = 0; i < places && bytes != kEndless; ++i) {
    bytes = add(bytes, shortest_choice(form.prefix[i], nodes));
  }
  const std::uint64_t more = form.items_min - places;
  const std::uint64_t rest = more == 0 ? 0 : shortest_choice(form.rest, nodes);
  if (rest == kEndless || bytes == kEndless) return kEndless;
  const std::uint64_t commas = form.items_min == 0 ? 0 : form.items_min - 1;
  return bytes + commas + more * std::min<std::uint64_t>(rest, UINT32_MAX);
}

using States = std::vector<std::uint64_t>;

// One more value: from all states by all choices.
void extend(const CounterStates& counters, const States& from,
            const std::vector<ValueChoice>& choices, const std::vector<std::uint64_t>& nodes,
            std::uint64_t extra, States& to) {
  for (std::size_t state = 0; state < from.size(); ++state) {
    if (from[state] == kEndless) continue;
    for (const ValueChoice& choice : choices) {
      const std::size_t next = counters.move(state, choice.hits);
      if (next == counters.size()) continue;
      to[next] = std::min(to[next], add(add(from[state], extra), nodes[choice.node]));
    }
  }
}

std::uint64_t best_of(const CounterStates& counters, const States& states) {
  std::uint64_t best = kEndless;
  for (std::size_t state = 0; state < states.size(); ++state) {
    if (states[state] < best && counters.enough(state)) best = states[state];
  }
  return best;
}

// A declared property or a name of a class: in the object or not.
struct Optional {
  const std::vector<ValueChoice>* value;
  std::uint64_t extra;  // bytes of name, colon and comma
  bool required;
};

std::vector<Optional> properties_of(const ObjectForm& form,
                                    const std::vector<NameClassSize>& classes,
                                    std::uint64_t of_a_class) {
  std::vector<Optional> all;
  for (const ObjectForm::Property& property : form.declared) {
    const std::uint64_t name = json_string_bytes(utf8_decode(property.name));
    all.push_back({&property.value, name + 2, property.required});
  }
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const std::uint64_t names = std::min(classes[i].names, of_a_class);
    for (std::uint64_t k = 0; k < names; ++k) {
      all.push_back({&form.others[i].value, classes[i].bytes + (k > 0 ? 3 : 2), false});
    }
  }
  return all;
}

std::uint64_t object_without_counters(const ObjectForm& form,
                                      const std::vector<NameClassSize>& classes,
                                      const std::vector<std::uint64_t>& nodes) {
  std::uint64_t bytes = 2;
  std::uint64_t count = 0;
  for (const ObjectForm::Property& property : form.declared) {
    if (!property.required) continue;
    ++count;
    const std::uint64_t name = json_string_bytes(utf8_decode(property.name));
    bytes = add(add(bytes, name + 2), shortest_choice(property.value, nodes));
    if (bytes == kEndless) return kEndless;
  }
  if (count > form.properties_max) return kEndless;
  const std::uint64_t missing = form.properties_min > count ? form.properties_min - count : 0;
  if (missing > 0) {
    std::vector<std::uint64_t> more;
    for (const Optional& each : properties_of(form, classes, missing)) {
      const std::uint64_t value = each.required ? kEndless : shortest_choice(*each.value, nodes);
      if (value != kEndless) more.push_back(each.extra + value);
    }
    if (more.size() < missing) return kEndless;
    std::sort(more.begin(), more.end());
    for (std::uint64_t i = 0; i < missing; ++i) bytes += more[static_cast<std::size_t>(i)];
  }
  return count + missing > 0 ? bytes - 1 : bytes;  // no comma behind the last one
}

}  // namespace

std::uint64_t shortest_array(const ArrayForm& form, const std::vector<std::uint64_t>& nodes,
                             SchemaWork& work) {
  if (form.counters.empty()) return array_without_counters(form, nodes);
  const CounterStates counters(form.counters);
  std::uint64_t wanted = form.prefix.size() + form.items_min + 1;
  for (const FormCounter& counter : form.counters) wanted += counter.min;
  const std::uint64_t longest = std::min<std::uint64_t>(wanted, form.items_max);
  if (counters.size() > kStatesMax || longest > kStatesMax) {
    refuse_counting(work);
    return kEndless;
  }
  States states(counters.size(), kEndless);
  states[0] = 2;
  std::uint64_t best = kEndless;
  for (std::uint64_t count = 0;; ++count) {
    if (count >= form.items_min) best = std::min(best, best_of(counters, states));
    const auto index = static_cast<std::size_t>(count);
    const auto& place = index < form.prefix.size() ? form.prefix[index] : form.rest;
    if (count == longest || !work.charge(states.size() * (1 + place.size()))) return best;
    States next(counters.size(), kEndless);
    extend(counters, states, place, nodes, count == 0 ? 0 : 1, next);
    states = std::move(next);
  }
}

std::uint64_t shortest_object(const ObjectForm& form, const std::vector<NameClassSize>& classes,
                              const std::vector<std::uint64_t>& nodes, SchemaWork& work) {
  if (form.counters.empty()) return object_without_counters(form, classes, nodes);
  // How many properties there are is one more counter, which all of them move.
  std::vector<FormCounter> all = form.counters;
  all.push_back({form.properties_min, form.properties_max});
  const auto total = static_cast<std::uint32_t>(all.size() - 1);
  const CounterStates counters(all);
  if (counters.size() > kStatesMax) {
    refuse_counting(work);
    return kEndless;
  }
  States states(counters.size(), kEndless);
  states[0] = 2;
  const std::uint64_t of_a_class = form.counters.size() + form.properties_min;
  for (const Optional& each : properties_of(form, classes, of_a_class)) {
    if (!work.charge(states.size() * (1 + each.value->size()))) return kEndless;
    States next = each.required ? States(counters.size(), kEndless) : states;
    std::vector<ValueChoice> choices = *each.value;
    for (ValueChoice& choice : choices) choice.hits |= 1U << total;
    extend(counters, states, choices, nodes, each.extra, next);
    states = std::move(next);
  }
  const std::uint64_t best = best_of(counters, states);
  return best == kEndless ? kEndless : best - 1;  // counters demand a property, so a comma is over
}

}  // namespace zerohop
