// Whether a document is in a form, found out the plain way: for tests. It looks at the whole value,
// with no regard for the order of anything unless it is asked to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "constrain/schema_document.h"
#include "constrain/schema_form.h"

namespace zerohop {

class SchemaFormOracle {
 public:
  /// kDeclared: declared properties must come in their order, and in front of all others.
  enum class Order : std::uint8_t { kAny, kDeclared };
  explicit SchemaFormOracle(const SchemaForm& form, Order order = Order::kAny)
      : form_(form), order_(order) {}

  bool accepts(const JsonNode& value) const { return accepts(SchemaForm::kRoot, value); }

  bool accepts(SchemaNodeId node, const JsonNode& value) const {
    const auto& alternatives = form_.nodes[node];
    return std::any_of(alternatives.begin(), alternatives.end(),
                       [&](const SchemaAlternative& each) { return in(each, value); });
  }

 private:
  using Type = JsonNode::Type;
  using Sums = std::set<std::vector<std::uint32_t>>;  // of counters, each way to get there

  bool in(const SchemaAlternative& alternative, const JsonNode& value) const {
    if (std::holds_alternative<NullForm>(alternative)) return value.is(Type::kNull);
    if (const auto* boolean = std::get_if<BooleanForm>(&alternative)) {
      return (boolean->allows_false && value.is(Type::kFalse)) ||
             (boolean->allows_true && value.is(Type::kTrue));
    }
    if (const auto* number = std::get_if<NumberForm>(&alternative)) {
      return value.is(Type::kNumber) && number_in(*number->language, value.text);
    }
    if (const auto* string = std::get_if<StringForm>(&alternative)) {
      return value.is(Type::kString) && string->content->contains(utf8_decode(value.text));
    }
    if (const auto* array = std::get_if<ArrayForm>(&alternative)) {
      return value.is(Type::kArray) && array_in(*array, value);
    }
    return value.is(Type::kObject) && object_in(std::get<ObjectForm>(alternative), value);
  }

  static bool number_in(const NumberLanguage& language, const std::string& text) {
    std::uint32_t state = language.start();
    for (const char byte : text) {
      state = language.step(state, static_cast<unsigned char>(byte));
      if (state == NumberLanguage::kNoState) return false;
    }
    return language.accepts(state);
  }

  // All sums after one more value; empty: it fits nowhere.
  Sums moved(const Sums& from, const std::vector<ValueChoice>& place, const JsonNode& value) const {
    Sums to;
    for (const ValueChoice& choice : place) {
      if (!accepts(choice.node, value)) continue;
      for (std::vector<std::uint32_t> sum : from) {
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += choice.hits >> i & 1U;
        to.insert(std::move(sum));
      }
    }
    return to;
  }

  static bool enough(const Sums& sums, const std::vector<FormCounter>& counters) {
    return std::any_of(sums.begin(), sums.end(), [&](const std::vector<std::uint32_t>& sum) {
      for (std::size_t i = 0; i < sum.size(); ++i) {
        if (sum[i] < counters[i].min || sum[i] > counters[i].max) return false;
      }
      return true;
    });
  }

  bool array_in(const ArrayForm& form, const JsonNode& value) const {
    const std::size_t count = value.items.size();
    if (count < form.items_min || count > form.items_max) return false;
    Sums sums{std::vector<std::uint32_t>(form.counters.size(), 0)};
    for (std::size_t i = 0; i < count; ++i) {
      sums = moved(sums, i < form.prefix.size() ? form.prefix[i] : form.rest, value.items[i]);
      for (std::size_t j = 0; form.unique && j < i; ++j) {
        if (json_equal(value.items[i], value.items[j])) return false;
      }
    }
    return enough(sums, form.counters);
  }

  bool object_in(const ObjectForm& form, const JsonNode& value) const {
    const std::size_t count = value.members.size();
    if (count < form.properties_min || count > form.properties_max) return false;
    Sums sums{std::vector<std::uint32_t>(form.counters.size(), 0)};
    for (const auto& property : form.declared) {
      const bool there = value.find(property.name) != nullptr;
      if (property.required && !there) return false;
      for (const std::uint32_t needed : property.needs) {
        if (there && value.find(form.declared[needed].name) == nullptr) return false;
      }
    }
    auto last = form.declared.begin();
    for (const auto& [name, member] : value.members) {
      const auto declared =
          std::find_if(form.declared.begin(), form.declared.end(),
                       [&](const ObjectForm::Property& each) { return each.name == name; });
      if (order_ == Order::kDeclared && declared < last) return false;
      last = declared;
      Sums next;
      if (declared != form.declared.end()) {
        next = moved(sums, declared->value, member);
      } else {
        const std::u32string word = utf8_decode(name);
        for (const auto& others : form.others) {
          if (others.names->contains(word)) next = moved(sums, others.value, member);
        }
      }
      sums = std::move(next);
    }
    return enough(sums, form.counters);
  }

  const SchemaForm& form_;
  const Order order_;
};

}  // namespace zerohop
