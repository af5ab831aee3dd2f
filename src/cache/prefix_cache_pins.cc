// Pinned prefixes, and states adopted from an earlier run.
//
// A pin remembers its tokens and the last edge of them that the tree has. It grows when more of
// them are computed (looked for when a sequence ends, before its cells can be evicted), and shrinks
// when cells are lost.
#include <algorithm>

#include "base/check.h"
#include "cache/prefix_cache_impl.h"

namespace zerohop {

void PrefixCache::Impl::extend_pin(Pin& pin) {
  const auto wanted = static_cast<std::int32_t>(pin.tokens.size());
  if (tree_[pin.end_node].end() == wanted) return;
  const TreeMatch match = tree_.match(pin.scope, pin.tokens);
  const TreePosition best = match.host.length > match.device.length ? match.host : match.device;
  if (best.length <= tree_[pin.end_node].end()) return;
  tree_.remove_pin(pin.end_node);
  joinable_.push_back(pin.end_node);
  pin.end_node = split(best);
  tree_.add_pin(pin.end_node);
}

void PrefixCache::Impl::extend_pins() {
  for (Pin& pin : pins_) extend_pin(pin);
}

// The edge of `node` goes away.
void PrefixCache::Impl::leave_pinned(NodeId node) {
  for (Pin& pin : pins_) {
    if (pin.end_node != node) continue;
    tree_.remove_pin(node);
    pin.end_node = tree_[node].parent;
    tree_.add_pin(pin.end_node);
  }
}

void PrefixCache::Impl::pin(ScopeId scope, TokenSpan tokens) {
  pins_.push_back(Pin{scope, {tokens.begin(), tokens.end()}, kRootNode});
  extend_pin(pins_.back());
  finish();
}

void PrefixCache::Impl::unpin(ScopeId scope, TokenSpan tokens) {
  const auto same = [&](const Pin& pin) {
    return pin.scope == scope &&
           std::equal(pin.tokens.begin(), pin.tokens.end(), tokens.begin(), tokens.end());
  };
  const auto found = std::find_if(pins_.begin(), pins_.end(), same);
  if (found == pins_.end()) return;
  tree_.remove_pin(found->end_node);
  joinable_.push_back(found->end_node);
  pins_.erase(found);
  finish();
}

std::optional<BlobId> PrefixCache::Impl::adopt(ScopeId scope, TokenSpan tokens,
                                               std::uint64_t bytes) {
  if (!host_.exists() || !host_.fits(bytes)) return std::nullopt;
  if (tokens.empty() || tokens.size() > capabilities_.slot_cells) return std::nullopt;
  const TreePosition known = tree_.walk(scope, tokens);
  NodeId end = split(known);
  const TokenSpan rest = tokens.subspan(static_cast<std::size_t>(known.length));
  if (rest.empty()) {
    if (is_saved(end)) return std::nullopt;
  } else {
    PieceFacts facts = new_facts(end, rest.front());
    reuse_.recall(facts);
    end = tree_.add_leaf(end, scope, rest);
    tree_[end].facts = facts;
    reuse_.note(tree_.facts(end));
  }
  const BlobIndex index = host_.add({0, static_cast<std::int32_t>(tokens.size())}, bytes);
  host_[index].end_node = end;
  tree_.attach_blob(end, index, 0);
  host_.report_bytes(index, bytes);
  extend_pins();
  finish();
  return host_[index].id;
}

}  // namespace zerohop
