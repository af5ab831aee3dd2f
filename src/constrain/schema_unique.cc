#include "constrain/schema_unique.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "constrain/content_coding.h"
#include "constrain/schema_trim.h"

namespace zerohop {
namespace {

constexpr std::uint64_t kInfinite = UINT64_MAX;
constexpr std::size_t kWordsMax = 4'000;
constexpr std::size_t kListedArraysMax = 300;
// Items that must differ. A way to the end writes all that are missing, anew at each of them.
constexpr std::uint32_t kDifferentMin = 32;

class UniqueItems {
 public:
  UniqueItems(SchemaForm& form, SchemaBuilder& builder) : form_(form), builder_(builder) {}

  // True: some alternative went away or was replaced, so the form must be trimmed again.
  bool run() {
    bool changed = false;
    const std::size_t nodes = form_.nodes.size();
    for (std::size_t i = 0; i < nodes && !builder_.work().stopped(); ++i) {
      std::vector<SchemaAlternative> kept;
      for (SchemaAlternative& alternative : form_.nodes[i]) {
        auto* array = std::get_if<ArrayForm>(&alternative);
        if (array == nullptr || !array->unique) {
          kept.push_back(std::move(alternative));
        } else {
          changed |= settle(std::move(*array), kept);
        }
      }
      form_.nodes[i] = std::move(kept);
    }
    return changed;
  }

 private:
  void refuse(std::string reason) {
    builder_.refuse(SchemaRefusal::Kind::kUnsupported, blame_, std::move(reason));
  }

  bool settle(ArrayForm array, std::vector<SchemaAlternative>& to) {
    const SchemaRule& rule = builder_.set().rules[array.unique_rule];
    blame_ = {rule.owner, rule.keyword};
    if (!array.counters.empty()) {
      refuse("cannot be enforced together with what is counted");
      return false;
    }
    bool endless = true;
    for (const auto& place : array.prefix) endless = endless && values(place) == kInfinite;
    if (builder_.work().stopped()) return false;
    if (!array.prefix.empty() && !endless) return list_arrays(array, to);
    const std::uint64_t rest = array.rest.empty() ? 0 : values(array.rest);
    if (builder_.work().stopped()) return false;
    if (!array.prefix.empty() && rest != kInfinite && !array.rest.empty()) {
      return list_arrays(array, to);
    }
    bool changed = false;
    if (rest != kInfinite && array.prefix.empty() && rest < array.items_max) {
      array.items_max = static_cast<std::uint32_t>(rest);
      changed = true;
    }
    if (array.items_min > array.items_max) return true;
    if (array.items_min > kDifferentMin) {
      refuse("cannot be enforced for so many items");
      return false;
    }
    array.unique = array.items_max > 1;
    to.emplace_back(std::move(array));
    return changed;
  }

  // How many different values a place can have.
  std::uint64_t values(const std::vector<ValueChoice>& place) {
    std::uint64_t sum = 0;
    for (const ValueChoice& choice : place) {
      const std::uint64_t more = values_of(choice.node);
      if (more == kInfinite || sum == kInfinite) {
        sum = kInfinite;
      } else {
        sum += more;
      }
    }
    return sum;
  }

  std::uint64_t values_of(SchemaNodeId node) {
    std::uint64_t sum = 0;
    bool infinite = false;
    bool many_numbers = false;
    bool uncounted_numbers = false;
    std::size_t number_forms = 0;
    std::set<std::u32string> strings;
    for (const SchemaAlternative& alternative : form_.nodes[node]) {
      if (std::holds_alternative<NullForm>(alternative)) {
        ++sum;
      } else if (const auto* boolean = std::get_if<BooleanForm>(&alternative)) {
        sum += (boolean->allows_false ? 1U : 0U) + (boolean->allows_true ? 1U : 0U);
      } else if (const auto* number = std::get_if<NumberForm>(&alternative)) {
        const auto count = builder_.number_values(*number->language);
        ++number_forms;
        uncounted_numbers |= !count;
        many_numbers |= count && *count != 1 && *count != kInfinite;
        infinite |= count == kInfinite;
        sum += count.value_or(0) == kInfinite ? 0 : count.value_or(0);
      } else if (const auto* string = std::get_if<StringForm>(&alternative)) {
        auto words = string->content->words(string->content->start(), 0, kWordsMax);
        infinite |= !words;
        if (words) strings.insert(words->begin(), words->end());
      } else {
        refuse("can be enforced for scalar items only");
        return 0;
      }
    }
    if (infinite) return kInfinite;
    if (uncounted_numbers || (many_numbers && number_forms > 1)) {
      refuse("the number of different items cannot be told");
      return 0;
    }
    return sum + strings.size();
  }

  // --- Listing all arrays.

  // Nodes of one value each, of all values that a place can have; false: too many.
  bool singles(const std::vector<ValueChoice>& place, std::vector<SchemaNodeId>& to) {
    for (const ValueChoice& choice : place) {
      const std::size_t alternatives = form_.nodes[choice.node].size();
      for (std::size_t i = 0; i < alternatives; ++i) {
        if (!add_singles(choice.node, i, to)) return false;
      }
    }
    std::sort(to.begin(), to.end());
    to.erase(std::unique(to.begin(), to.end()), to.end());
    return to.size() <= kListedArraysMax;
  }

  bool add_singles(SchemaNodeId node, std::size_t index, std::vector<SchemaNodeId>& to) {
    const SchemaAlternative alternative = form_.nodes[node][index];
    if (std::holds_alternative<NullForm>(alternative)) {
      to.push_back(single("null", NullForm{}));
    } else if (const auto* boolean = std::get_if<BooleanForm>(&alternative)) {
      if (boolean->allows_false) to.push_back(single("false", BooleanForm{true, false}));
      if (boolean->allows_true) to.push_back(single("true", BooleanForm{false, true}));
    } else if (const auto* string = std::get_if<StringForm>(&alternative)) {
      const auto words = string->content->words(string->content->start(), 0, kListedArraysMax);
      if (!words) return false;
      for (const std::u32string& word : *words) {
        const RegexTerm term = builder_.texts().pool().text(word);
        auto automaton = builder_.texts().automaton({term, {}}, blame_);
        if (automaton == nullptr) return false;
        to.push_back(single("\"" + encode_content(word, TextCoding::kUtf8),
                            StringForm{std::move(automaton)}));
      }
    } else if (const auto* number = std::get_if<NumberForm>(&alternative)) {
      if (builder_.number_values(*number->language) != std::uint64_t{1}) return false;
      const std::string text = number->language->shortest_end(number->language->start());
      to.push_back(single(text, *number));
    } else {
      return false;
    }
    return true;
  }

  SchemaNodeId single(const std::string& key, SchemaAlternative alternative) {
    const auto [found, added] =
        singles_.emplace(key, static_cast<SchemaNodeId>(form_.nodes.size()));
    if (added) {
      form_.nodes.emplace_back().push_back(std::move(alternative));
    }
    return found->second;
  }

  bool list_arrays(const ArrayForm& array, std::vector<SchemaAlternative>& to) {
    std::vector<std::vector<SchemaNodeId>> places;
    const std::uint64_t length = array.items_max;
    bool good = length <= 8;
    for (std::uint64_t i = 0; i < length && good; ++i) {
      const bool inside = i < array.prefix.size();
      good = singles(inside ? array.prefix[i] : array.rest, places.emplace_back());
    }
    std::vector<std::vector<SchemaNodeId>> found;
    std::vector<SchemaNodeId> chosen;
    if (good) good = choose(places, array.items_min, chosen, found);
    if (!good) {
      refuse("cannot be enforced where the places of an array differ");
      return false;
    }
    for (const auto& items : found) {
      ArrayForm one;
      for (const SchemaNodeId item : items) one.prefix.push_back({{item, 0}});
      one.items_min = static_cast<std::uint32_t>(items.size());
      one.items_max = one.items_min;
      to.emplace_back(std::move(one));
    }
    return true;
  }

  bool choose(const std::vector<std::vector<SchemaNodeId>>& places, std::size_t least,
              std::vector<SchemaNodeId>& chosen, std::vector<std::vector<SchemaNodeId>>& found) {
    if (found.size() > kListedArraysMax || !builder_.work().charge()) return false;
    if (chosen.size() >= least) found.push_back(chosen);
    if (chosen.size() == places.size()) return true;
    for (const SchemaNodeId item : places[chosen.size()]) {
      if (std::find(chosen.begin(), chosen.end(), item) != chosen.end()) continue;
      chosen.push_back(item);
      const bool good = choose(places, least, chosen, found);
      chosen.pop_back();
      if (!good) return false;
    }
    return true;
  }

  SchemaForm& form_;
  SchemaBuilder& builder_;
  SchemaBlame blame_;  // of the array that is being settled
  std::map<std::string, SchemaNodeId> singles_;
};

}  // namespace

void settle_unique_items(SchemaForm& form, SchemaBuilder& builder) {
  if (!UniqueItems(form, builder).run() || builder.work().stopped()) return;
  form = trimmed_form(std::move(form.nodes), builder.work());
}

}  // namespace zerohop
