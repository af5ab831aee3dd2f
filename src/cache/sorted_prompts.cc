#include "cache/sorted_prompts.h"

#include <algorithm>

#include "base/check.h"
#include "cache/token_run.h"

namespace zerohop {

std::size_t common_prefix(TokenSpan a, TokenSpan b, std::size_t known) {
  return known + common_length(a.subspan(known), b.subspan(known));
}

std::size_t common_suffix(TokenSpan a, TokenSpan b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t count = 0;
  while (count < most && a[a.size() - 1 - count] == b[b.size() - 1 - count]) ++count;
  return count;
}

// low is less than `tokens`, high is not; both borders' common beginnings are kept, and everything
// between the borders shares the smaller of them (Manber and Myers, suffix arrays, 1990).
SortedPrompts::Place SortedPrompts::find(TokenSpan tokens) const {
  std::size_t low = 0;
  std::size_t high = order_.size();
  Place place;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const TokenSpan other = order_[middle]->tokens;
    const std::size_t common = common_prefix(other, tokens, std::min(place.before, place.at));
    const bool less =
        common < tokens.size() && (common == other.size() || other[common] < tokens[common]);
    if (less) {
      low = middle + 1;
      place.before = common;
    } else {
      high = middle;
      place.at = common;
    }
  }
  place.index = low;
  return place;
}

void SortedPrompts::insert(const RememberedTokens& prompt) {
  const Place place = find(prompt.tokens);
  order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(place.index), &prompt);
}

void SortedPrompts::erase(const RememberedTokens& prompt) {
  auto at = order_.begin() + static_cast<std::ptrdiff_t>(find(prompt.tokens).index);
  // Equal prompts stand side by side.
  at = std::find(at, order_.end(), &prompt);
  ZH_CHECK(at != order_.end());
  order_.erase(at);
}

SortedPrompts::Match SortedPrompts::best(TokenSpan tokens) const {
  if (order_.empty()) return {};
  const Place place = find(tokens);
  const bool first = place.index == 0;
  const bool last = place.index == order_.size();
  if (last || (!first && place.before > place.at)) {
    return {order_[place.index - 1], place.before};
  }
  return {order_[place.index], place.at};
}

}  // namespace zerohop
