#include "constrain/json_progress.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"
#include "constrain/json_counting.h"

namespace zerohop {

namespace {

std::uint64_t hash_of(const Progress& progress) {
  std::uint64_t hash = static_cast<std::uint64_t>(progress.kind) << 32 | progress.form;
  hash = hash_more(hash, static_cast<std::uint64_t>(progress.a) << 32 | progress.b);
  return hash_more(hash, static_cast<std::uint64_t>(progress.c) << 32 | progress.d);
}

bool any_hits(const std::vector<ValueChoice>& choices, const auto& good) {
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i > 0 && choices[i].hits == choices[i - 1].hits) continue;
    if (good(choices[i].hits)) return true;
  }
  return false;
}

}  // namespace

JsonProgress::JsonProgress(JsonForms& forms, KnownTexts& texts, JsonMachineOptions::KeyOrder order)
    : forms_(forms), texts_(texts), order_(order), root_choices_{{SchemaForm::kRoot, 0}} {
  for (const Progress::Kind kind : {Progress::Kind::kNone, Progress::Kind::kRoot,
                                    Progress::Kind::kDone, Progress::Kind::kLiteral}) {
    intern({.kind = kind});
  }
  intern_list({});
}

JsonProgress::~JsonProgress() = default;

ProgressId JsonProgress::intern(const Progress& progress) {
  const std::uint64_t hash = hash_of(progress);
  const std::uint32_t found =
      index_.find(hash, [&](std::uint32_t id) { return all_[id] == progress; });
  if (found != HashIndex::kNone) return found;
  const auto id = static_cast<ProgressId>(all_.size());
  all_.push_back(progress);
  verdicts_.push_back(Verdict::kUnknown);
  index_.insert(hash, id);
  return id;
}

std::uint32_t JsonProgress::intern_list(const std::vector<std::uint32_t>& list) {
  std::uint64_t hash = list.size();
  for (const std::uint32_t number : list) hash = hash_more(hash, number);
  const std::uint32_t found =
      list_index_.find(hash, [&](std::uint32_t id) { return *lists_[id] == list; });
  if (found != HashIndex::kNone) return found;
  const auto id = static_cast<std::uint32_t>(lists_.size());
  lists_.push_back(std::make_unique<std::vector<std::uint32_t>>(list));
  list_index_.insert(hash, id);
  list_bytes_ += sizeof(list) + list.size() * sizeof(std::uint32_t) + 16;
  return id;
}

ProgressId JsonProgress::if_finishable(const Progress& progress) {
  const ProgressId id = intern(progress);
  if (verdicts_[id] == Verdict::kUnknown) {
    const bool good = finishable(progress);
    verdicts_[id] = good ? Verdict::kYes : Verdict::kNo;
  }
  return verdicts_[id] == Verdict::kYes ? id : kNoProgress;
}

bool JsonProgress::finishable(const Progress& progress) {
  return progress.kind == Progress::Kind::kArray ? array_finishable(progress)
                                                 : object_finishable(progress);
}

PathSearch& JsonProgress::search(AlternativeId form) {
  std::unique_ptr<PathSearch>& search = searches_[form];
  if (search == nullptr) search = std::make_unique<PathSearch>(search_budget_);
  return *search;
}

void JsonProgress::forget_cheapest_ways() {
  for (auto& [form, search] : searches_) search->forget_cheapest();
}

// --- Counters.

std::uint32_t JsonProgress::counted(const std::vector<FormCounter>& counters, std::uint32_t values,
                                    std::uint32_t hits) {
  if (counters.empty() || hits == 0) return values;
  std::vector<std::uint32_t> next = numbers(values);
  if (!count_hits(counters, next, hits)) return kNoCounters;
  return intern_list(next);
}

bool JsonProgress::counters_met(const std::vector<FormCounter>& counters,
                                std::uint32_t values) const {
  return counters.empty() || counts_suffice(counters, numbers(values));
}

bool JsonProgress::is_counted(ProgressId container) {
  const Progress& progress = all_[container];
  if (progress.kind == Progress::Kind::kArray) {
    return !forms_.array(progress.form).form->counters.empty();
  }
  return !forms_.object(progress.form).form->counters.empty();
}

// --- Arrays.

ProgressId JsonProgress::begin_array(AlternativeId form) {
  const auto begun = begun_.find(form);
  if (begun != begun_.end()) return begun->second;
  const ArrayFacts& facts = forms_.array(form);
  const std::uint32_t zeros =
      intern_list(std::vector<std::uint32_t>(facts.form->counters.size(), 0));
  const ProgressId id = if_finishable({.kind = Progress::Kind::kArray, .form = form, .b = zeros});
  begun_.emplace(form, id);
  return id;
}

bool JsonProgress::array_finishable(const Progress& progress) {
  const ArrayFacts& facts = forms_.array(progress.form);
  if (std::max(progress.a, facts.form->items_min) > facts.items_limit) return false;
  if (facts.form->counters.empty()) return true;
  ArrayGraph graph(facts, [](SchemaNodeId) { return 0u; });
  return search(progress.form).reaches(graph, ArrayGraph::state(progress.a, numbers(progress.b)));
}

ProgressId JsonProgress::item_added(const Progress& array, std::uint32_t hits, TextId value) {
  const ArrayFacts& facts = forms_.array(array.form);
  if (array.a >= facts.items_limit) return kNoProgress;
  Progress next = array;
  next.a = std::min(array.a + 1, facts.index_cap);
  next.b = counted(facts.form->counters, array.b, hits);
  if (next.b == kNoCounters) return kNoProgress;
  if (facts.form->unique && value != kNoText) next.c = texts_.with(array.c, value);
  return if_finishable(next);
}

bool JsonProgress::tracks_values(ProgressId outer) const {
  const Progress& progress = all_[outer];
  return progress.kind == Progress::Kind::kArray && forms_.array(progress.form).form->unique;
}

bool JsonProgress::can_have_item(ProgressId array) {
  return any_hits(choices(array), [&](std::uint32_t hits) {
    return behind_value(array, hits, kNoText) != kNoProgress;
  });
}

bool JsonProgress::can_close(ProgressId container) {
  const Progress& progress = all_[container];
  if (progress.kind == Progress::Kind::kArray) {
    const ArrayFacts& facts = forms_.array(progress.form);
    return progress.a >= facts.form->items_min && counters_met(facts.form->counters, progress.b);
  }
  const ObjectFacts& facts = forms_.object(progress.form);
  if (progress.d < facts.form->properties_min) return false;
  const std::vector<std::uint32_t>& bits = numbers(progress.a);
  const auto due = bits.begin() + static_cast<std::ptrdiff_t>(bits.size() / 2);
  return std::all_of(due, bits.end(), [](std::uint32_t word) { return word == 0; }) &&
         counters_met(facts.form->counters, progress.b);
}

// --- Values.

const std::vector<ValueChoice>& JsonProgress::choices(ProgressId outer) {
  const Progress& progress = all_[outer];
  if (progress.kind == Progress::Kind::kRoot) return root_choices_;
  if (progress.kind == Progress::Kind::kArray) return forms_.array(progress.form).place(progress.a);
  ZH_CHECK(progress.kind == Progress::Kind::kKeyed);
  const ObjectForm& form = *forms_.object(progress.form).form;
  if (progress.b < form.declared.size()) return form.declared[progress.b].value;
  return form.others[progress.b - form.declared.size()].value;
}

ProgressId JsonProgress::behind_value(ProgressId outer, std::uint32_t hits, TextId value) {
  const Progress progress = all_[outer];
  if (progress.kind == Progress::Kind::kRoot) return kDoneProgress;
  if (progress.kind == Progress::Kind::kArray) return item_added(progress, hits, value);
  ZH_CHECK(progress.kind == Progress::Kind::kKeyed);
  return property_added(all_[progress.a], progress, hits);
}

std::size_t JsonProgress::memory_bytes() const {
  std::size_t bytes = all_.capacity() * sizeof(Progress) + verdicts_.capacity();
  bytes += index_.memory_bytes() + list_index_.memory_bytes() + list_bytes_;
  constexpr std::size_t kMapNode = 64;
  bytes += (next_declared_.size() + next_other_.size() + begun_.size()) * kMapNode;
  for (const auto& [object, ranks] : next_declared_) bytes += ranks.size() * sizeof(ranks[0]);
  for (const auto& [form, search] : searches_) bytes += search->memory_bytes();
  return bytes;
}

}  // namespace zerohop
