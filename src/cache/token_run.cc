#include "cache/token_run.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace zerohop {

// memcmp compares a vector of tokens at a time, a loop with an early exit one token.
std::size_t common_length(TokenSpan a, TokenSpan b) {
  constexpr std::size_t kBlock = 64;
  const std::size_t end = std::min(a.size(), b.size());
  std::size_t at = 0;
  while (at + kBlock <= end &&
         std::memcmp(a.data() + at, b.data() + at, kBlock * sizeof(Token)) == 0) {
    at += kBlock;
  }
  while (at < end && a[at] == b[at]) ++at;
  return at;
}

TokenRun::TokenRun(TokenSpan tokens)
    : buffer_(std::make_shared<std::vector<Token>>(tokens.begin(), tokens.end())),
      size_(tokens.size()) {}

void TokenRun::append(TokenSpan tokens) {
  if (buffer_ == nullptr) {
    *this = TokenRun(tokens);
    return;
  }
  if (begin_ + size_ != buffer_->size()) {
    // Somebody else's tokens follow, or those of a run that is gone.
    const TokenSpan mine = span();
    buffer_ = std::make_shared<std::vector<Token>>(mine.begin(), mine.end());
    begin_ = 0;
  }
  buffer_->insert(buffer_->end(), tokens.begin(), tokens.end());
  size_ += tokens.size();
}

TokenRun TokenRun::take_front(std::size_t count) {
  ZH_DCHECK(count <= size_);
  TokenRun front = *this;
  front.size_ = count;
  begin_ += count;
  size_ -= count;
  return front;
}

void TokenRun::take_from(TokenRun& next, std::size_t count) {
  ZH_DCHECK(count <= next.size_);
  if (buffer_ == next.buffer_ && begin_ + size_ == next.begin_) {
    size_ += count;
  } else {
    const std::vector<Token> moved(next.span().begin(), next.span().begin() + count);
    append(moved);
  }
  next.begin_ += count;
  next.size_ -= count;
}

}  // namespace zerohop
