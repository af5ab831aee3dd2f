#include "constrain/byte_trie.h"

#include <algorithm>

#include "base/check.h"

namespace zerohop {

ByteTrie::ByteTrie(std::vector<Entry> entries) {
  const auto before = [](const Entry& a, const Entry& b) { return a.bytes < b.bytes; };
  if (!std::is_sorted(entries.begin(), entries.end(), before)) {
    std::stable_sort(entries.begin(), entries.end(), before);
  }
  values_.reserve(entries.size());
  std::vector<std::uint32_t> path;  // the nodes of the last string
  std::string_view last;
  for (const Entry& entry : entries) {
    ZH_CHECK(entry.bytes.size() <= kDepthMax);
    const auto [end, ignored] =
        std::mismatch(last.begin(), last.end(), entry.bytes.begin(), entry.bytes.end());
    const auto common = static_cast<std::size_t>(end - last.begin());
    const auto here = static_cast<std::uint32_t>(nodes_.size());
    for (std::size_t i = common; i < path.size(); ++i) nodes_[path[i]].skip = here;
    path.resize(common);
    for (std::size_t i = common; i < entry.bytes.size(); ++i) {
      path.push_back(static_cast<std::uint32_t>(nodes_.size()));
      nodes_.push_back(Node{.values_begin = static_cast<std::uint32_t>(values_.size()),
                            .depth = static_cast<std::uint16_t>(i + 1),
                            .byte = static_cast<std::uint8_t>(entry.bytes[i])});
    }
    values_.push_back(entry.value);
    last = entry.bytes;
  }
  const auto behind = static_cast<std::uint32_t>(nodes_.size());
  for (const std::uint32_t node : path) nodes_[node].skip = behind;
  nodes_.push_back(
      Node{.skip = behind, .values_begin = static_cast<std::uint32_t>(values_.size())});
  nodes_.shrink_to_fit();
  roots_.fill(kNoNode);
  for (std::size_t i = 0; i < size(); i = nodes_[i].skip) {
    roots_[nodes_[i].byte] = static_cast<std::uint32_t>(i);
  }
}

std::uint32_t ByteTrie::child(std::uint32_t parent, unsigned char byte) const {
  if (parent == kNoNode) return roots_[byte];
  const std::size_t begin = parent + 1;
  const std::size_t end = nodes_[parent].skip;
  for (std::size_t i = begin; i < end && nodes_[i].byte <= byte; i = nodes_[i].skip) {
    if (nodes_[i].byte == byte) return static_cast<std::uint32_t>(i);
  }
  return kNoNode;
}

std::size_t ByteTrie::memory_bytes() const {
  return sizeof(roots_) + nodes_.capacity() * sizeof(Node) +
         values_.capacity() * sizeof(std::uint32_t);
}

}  // namespace zerohop
