#include "prompt/token_cache.h"

#include <utility>

namespace zerohop {
namespace {

// A list node, a map node with its bucket, the control block of the tokens.
constexpr std::size_t kEntryBytes = 192;

}  // namespace

std::size_t TokenCache::cost(const Entry& entry) {
  return entry.text.size() + entry.tokens->size() * sizeof(Token) + kEntryBytes;
}

TokenCache::SharedTokens TokenCache::find(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  const auto found = by_text_.find(text);
  if (found == by_text_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->tokens;
}

void TokenCache::insert(std::string_view text, SharedTokens tokens) {
  Entry entry{std::string(text), std::move(tokens)};
  if (cost(entry) > limits_.bytes / 4 || limits_.entries == 0) return;
  const std::scoped_lock lock(mutex_);
  if (by_text_.contains(text)) return;  // another thread was faster
  bytes_ += cost(entry);
  entries_.push_front(std::move(entry));
  by_text_.emplace(entries_.front().text, entries_.begin());
  while (entries_.size() > limits_.entries || bytes_ > limits_.bytes) {
    bytes_ -= cost(entries_.back());
    by_text_.erase(entries_.back().text);
    entries_.pop_back();
  }
}

std::size_t TokenCache::size() const {
  const std::scoped_lock lock(mutex_);
  return entries_.size();
}

std::size_t TokenCache::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

}  // namespace zerohop
