#include "constrain/schema_tableau.h"

#include <algorithm>
#include <set>

#include "constrain/schema_tableau_run.h"

namespace zerohop {
namespace {

constexpr std::size_t kComparedAlternativesMax = 64;

// The same fact twice says nothing; the order of the first ones stays.
void drop_repeated(SchemaFacts& facts) {
  if (facts.size() < 2) return;
  std::set<SchemaFact> seen;
  std::erase_if(facts, [&](const SchemaFact& fact) { return !seen.insert(fact).second; });
}

bool includes_all(const SchemaFacts& more, const SchemaFacts& fewer) {
  return std::includes(more.begin(), more.end(), fewer.begin(), fewer.end());
}

// A branch with all the facts of another one and more of its own allows nothing new.
void drop_contained(std::vector<SchemaFacts>& branches) {
  std::vector<SchemaFacts> sorted = branches;
  for (SchemaFacts& facts : sorted) std::sort(facts.begin(), facts.end());
  std::vector<bool> drop(branches.size(), false);
  std::set<SchemaFacts> seen;
  const bool few = branches.size() <= kComparedAlternativesMax;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    drop[i] = !seen.insert(sorted[i]).second;
    for (std::size_t j = 0; few && j < branches.size() && !drop[i]; ++j) {
      const bool smaller = sorted[j].size() < sorted[i].size();
      drop[i] = j != i && smaller && includes_all(sorted[i], sorted[j]);
    }
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    if (drop[i]) continue;
    if (kept != i) branches[kept] = std::move(branches[i]);
    ++kept;
  }
  branches.resize(kept);
}

}  // namespace

SchemaTableau::SchemaTableau(SchemaSet& set, SchemaGoals& goals, SchemaWork& work,
                             TableauOptions options)
    : set_(set), goals_(goals), work_(work), options_(options) {}

std::vector<SchemaFacts> SchemaTableau::expand(GoalId goal, JsonNode::Type type) {
  constexpr int kLookAhead = 2;
  std::vector<SchemaFacts> branches =
      TableauRun(*this, type, TableauMode::kExact, kLookAhead).run(goal);
  for (SchemaFacts& facts : branches) drop_repeated(facts);
  if (branches.size() > 1) drop_contained(branches);
  return branches;
}

}  // namespace zerohop
