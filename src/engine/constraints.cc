#include "engine/constraints.h"

#include <algorithm>

#include "base/check.h"

namespace zerohop {

Constraints::Constraints(Parts parts, ConstraintsOptions options)
    : parts_(std::move(parts)), options_(std::move(options)) {}

void Constraints::set_marker_texts(std::vector<std::pair<Token, std::string>> markers) {
  ZH_CHECK(trie_ == nullptr);
  markers_ = std::move(markers);
}

Result<void> Constraints::prepare() {
  std::call_once(made_, [this] { make_trie(); });
  return able_;
}

void Constraints::make_trie() {
  const TokenTable& table = *parts_.table;
  std::erase_if(markers_, [&](const auto& marker) {
    return marker.second.empty() || !table.contains(marker.first) ||
           table.is_end_of_generation(marker.first);
  });
  trie_ = TokenTrie::of(table, markers_);
  able_ = trie_->covers_bytes();
}

std::unique_ptr<ConstraintSession> Constraints::follow(const CompiledConstraint& constraint,
                                                       std::size_t tokens_max) {
  ZH_CHECK(trie_ != nullptr && able_.ok());
  if (!masks_) {
    masks_ = std::make_unique<MaskCache>(trie_, options_.mask_bytes_max, parts_.clock);
    machines_ = std::make_unique<LiveMachines>(*masks_, options_.machines);
  }
  ConstraintSession::Parts session;
  session.machine = machines_->follow(constraint);
  session.masks = masks_.get();
  if (parts_.tokenize) session.tokenize = [this](std::string_view text) { return write(text); };
  session.tokens_max = tokens_max;
  session.statistics = &statistics_;
  return std::make_unique<ConstraintSession>(std::move(session));
}

std::unique_ptr<SoftBias> Constraints::favour(
    std::shared_ptr<const std::vector<SoftRule>> rules) const {
  ZH_CHECK(trie_ != nullptr);
  return std::make_unique<SoftBias>(trie_, std::move(rules));
}

void Constraints::tidy() {
  if (machines_) machines_->tidy();
}

// As the model itself would write it, marks included.
std::vector<Token> Constraints::write(std::string_view text) const {
  std::vector<Token> tokens;
  while (!text.empty()) {
    const auto [marker, begin] = find_marker(text);
    if (begin > 0) {
      const std::vector<Token> plain = parts_.tokenize(text.substr(0, begin));
      tokens.insert(tokens.end(), plain.begin(), plain.end());
    }
    if (marker == nullptr) break;
    tokens.push_back(marker->first);
    text.remove_prefix(begin + marker->second.size());
  }
  return tokens;
}

std::pair<const std::pair<Token, std::string>*, std::size_t> Constraints::find_marker(
    std::string_view text) const {
  const std::pair<Token, std::string>* first = nullptr;
  std::size_t begin = text.size();
  for (const auto& marker : markers_) {
    const std::size_t at = text.find(marker.second);
    if (at == std::string_view::npos || at > begin) continue;
    if (at == begin && first != nullptr && first->second.size() >= marker.second.size()) continue;
    first = &marker;
    begin = at;
  }
  return {first, begin};
}

void Constraints::count(ConstraintCounts& counts) const {
  counts.checks = statistics_.checks;
  counts.misses = statistics_.misses;
  counts.redraws = statistics_.redraws;
  counts.closings = statistics_.closings;
  counts.legal_mass = statistics_.legal_mass;
  if (!masks_) return;
  const MaskStatistics& masks = masks_->statistics();
  counts.masks_built = masks.built;
  counts.mask_hits = masks.cache_hits;
  counts.mask_time = std::chrono::nanoseconds(masks.nanoseconds);
  counts.mask_time_max = std::chrono::nanoseconds(masks.nanoseconds_max);
  counts.mask_bytes = masks_->memory_bytes();
  counts.machines = static_cast<std::uint32_t>(machines_->size());
  counts.machine_bytes = machines_->memory_bytes();
}

}  // namespace zerohop
