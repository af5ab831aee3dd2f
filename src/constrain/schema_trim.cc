#include "constrain/schema_trim.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "constrain/schema_texts.h"

namespace zerohop {
namespace {

using Nodes = std::vector<std::vector<SchemaAlternative>>;

class Trimmer {
 public:
  Trimmer(Nodes nodes, SchemaWork& work)
      : work_(work),
        nodes_(std::move(nodes)),
        bytes_(nodes_.size(), kEndless),
        users_(nodes_.size()) {}

  SchemaForm run() {
    find_users();
    solve();
    if (work_.stopped() || bytes_.empty() || bytes_[0] == kEndless) return {};
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (bytes_[i] != kEndless) cut(nodes_[i]);
    }
    return renumbered();
  }

 private:
  template <class Visit>
  static void for_all_choices(SchemaAlternative& alternative, const Visit& visit) {
    if (auto* array = std::get_if<ArrayForm>(&alternative)) {
      for (auto& place : array->prefix) visit(place);
      visit(array->rest);
    } else if (auto* object = std::get_if<ObjectForm>(&alternative)) {
      for (auto& property : object->declared) visit(property.value);
      for (auto& names : object->others) visit(names.value);
    }
  }

  void find_users() {
    for (SchemaNodeId id = 0; id < nodes_.size(); ++id) {
      for (SchemaAlternative& alternative : nodes_[id]) {
        for_all_choices(alternative, [&](std::vector<ValueChoice>& choices) {
          for (const ValueChoice& choice : choices) {
            auto& users = users_[choice.node];
            if (users.empty() || users.back() != id) users.push_back(id);
          }
        });
      }
    }
  }

  // Numbers only fall, and each of them finally is the length of a real document.
  void solve() {
    std::deque<SchemaNodeId> pending;
    std::vector<bool> waiting(nodes_.size(), true);
    for (std::size_t i = nodes_.size(); i-- > 0;) pending.push_back(static_cast<SchemaNodeId>(i));
    while (!pending.empty() && work_.charge()) {
      const SchemaNodeId id = pending.front();
      pending.pop_front();
      waiting[id] = false;
      std::uint64_t best = kEndless;
      for (const SchemaAlternative& alternative : nodes_[id]) {
        best = std::min(best, shortest(alternative));
      }
      if (best >= bytes_[id]) continue;
      bytes_[id] = best;
      for (const SchemaNodeId user : users_[id]) {
        if (waiting[user]) continue;
        waiting[user] = true;
        pending.push_back(user);
      }
    }
  }

  std::uint64_t shortest(const SchemaAlternative& alternative) {
    if (std::holds_alternative<NullForm>(alternative)) return 4;
    if (const auto* boolean = std::get_if<BooleanForm>(&alternative)) {
      return boolean->allows_true ? 4 : 5;
    }
    if (const auto* number = std::get_if<NumberForm>(&alternative)) {
      return number->language->shortest_end_bytes(number->language->start());
    }
    if (const auto* string = std::get_if<StringForm>(&alternative)) {
      return class_size(*string->content).bytes;
    }
    if (const auto* array = std::get_if<ArrayForm>(&alternative)) {
      work_.charge(1 + array->prefix.size());
      return shortest_array(*array, bytes_, work_);
    }
    const ObjectForm& object = std::get<ObjectForm>(alternative);
    work_.charge(1 + object.declared.size());
    std::vector<NameClassSize> classes;
    for (const auto& others : object.others) classes.push_back(class_size(*others.names));
    return shortest_object(object, classes, bytes_, work_);
  }

  NameClassSize class_size(const ContentAutomaton& content) {
    const auto known = sizes_.find(&content);
    if (known != sizes_.end()) return known->second;
    constexpr std::size_t kCountedNames = 70'000;
    // The shortest string may have a million characters, and each machine of the form writes it
    // again.
    constexpr std::size_t kStepsPerCharacter = 3;
    NameClassSize size;
    const std::size_t characters = content.shortest_length(content.start(), 0);
    if (!work_.charge(kStepsPerCharacter * characters)) return size;
    size.bytes = json_string_bytes(content.shortest_end(content.start(), 0));
    size.names = content.count_words(content.start(), 0, kCountedNames);
    sizes_.emplace(&content, size);
    return size;
  }

  void cut(std::vector<SchemaAlternative>& alternatives) {
    std::erase_if(alternatives, [&](const SchemaAlternative& alternative) {
      return shortest(alternative) == kEndless;
    });
    for (SchemaAlternative& alternative : alternatives) {
      for_all_choices(alternative, [&](std::vector<ValueChoice>& choices) {
        std::erase_if(choices,
                      [&](const ValueChoice& each) { return bytes_[each.node] == kEndless; });
      });
      if (auto* array = std::get_if<ArrayForm>(&alternative)) cut_array(*array);
      if (auto* object = std::get_if<ObjectForm>(&alternative)) cut_object(*object);
    }
  }

  static void cut_array(ArrayForm& form) {
    std::size_t places = form.prefix.size();
    for (std::size_t i = 0; i < form.prefix.size(); ++i) {
      if (form.prefix[i].empty()) places = std::min(places, i);
    }
    const bool shortened = places < form.prefix.size();
    if (shortened) form.prefix.resize(places);
    if (shortened || form.rest.empty()) {
      form.rest.clear();
      form.items_max = std::min(form.items_max, static_cast<std::uint32_t>(places));
    }
    if (form.items_max <= 1) form.unique = false;
  }

  // Without the properties that cannot have a value, and those that need one of these.
  static void cut_object(ObjectForm& form) {
    std::vector<bool> gone(form.declared.size(), false);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < form.declared.size(); ++i) {
        const ObjectForm::Property& property = form.declared[i];
        const bool lacks = std::any_of(property.needs.begin(), property.needs.end(),
                                       [&](std::uint32_t needed) { return gone[needed]; });
        if (gone[i] || !(property.value.empty() || lacks)) continue;
        ZH_CHECK(!property.required);
        gone[i] = true;
        changed = true;
      }
    }
    std::vector<std::uint32_t> place(form.declared.size(), 0);
    std::vector<ObjectForm::Property> kept;
    for (std::size_t i = 0; i < form.declared.size(); ++i) {
      place[i] = static_cast<std::uint32_t>(kept.size());
      if (!gone[i]) kept.push_back(std::move(form.declared[i]));
    }
    for (ObjectForm::Property& property : kept) {
      for (std::uint32_t& needed : property.needs) needed = place[needed];
    }
    form.declared = std::move(kept);
    std::erase_if(form.others, [](const auto& others) { return others.value.empty(); });
  }

  // Only what the document can reach, in the order in which it is met.
  SchemaForm renumbered() {
    std::vector<SchemaNodeId> number(nodes_.size(), UINT32_MAX);
    std::vector<SchemaNodeId> order{0};
    number[0] = 0;
    SchemaForm form;
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (SchemaAlternative& alternative : nodes_[order[i]]) {
        for_all_choices(alternative, [&](std::vector<ValueChoice>& choices) {
          for (ValueChoice& choice : choices) {
            if (number[choice.node] == UINT32_MAX) {
              number[choice.node] = static_cast<SchemaNodeId>(order.size());
              order.push_back(choice.node);
            }
            choice.node = number[choice.node];
          }
        });
      }
    }
    for (const SchemaNodeId id : order) {
      form.nodes.push_back(std::move(nodes_[id]));
      form.shortest_bytes.push_back(
          static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes_[id], UINT32_MAX - 1)));
    }
    return form;
  }

  SchemaWork& work_;
  Nodes nodes_;
  std::vector<std::uint64_t> bytes_;
  std::vector<std::vector<SchemaNodeId>> users_;
  std::unordered_map<const ContentAutomaton*, NameClassSize> sizes_;
};

}  // namespace

SchemaForm trimmed_form(std::vector<std::vector<SchemaAlternative>> nodes, SchemaWork& work) {
  return Trimmer(std::move(nodes), work).run();
}

}  // namespace zerohop
