// A run of tokens that can be split without copying and appended to cheaply: a window onto a buffer
// that several runs share. Edges of the prefix tree are made of these.
//
//   buffer  | t0 t1 t2 t3 t4 t5 t6 t7 |
//   runs    |<-- first -->|<- second->|     after take_front(4); only `second` can grow in place
//
// A short run may keep a long buffer alive. That is cheap: a token is 4 bytes here and some 20,000
// in its cell. Not thread-safe: runs of one cache share buffers.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/token.h"

namespace zerohop {

/// Tokens at the beginning of `a` and `b` that are the same.
std::size_t common_length(TokenSpan a, TokenSpan b);

class TokenRun {
 public:
  TokenRun() = default;
  explicit TokenRun(TokenSpan tokens);

  TokenSpan span() const {
    return size_ == 0 ? TokenSpan() : TokenSpan(buffer_->data() + begin_, size_);
  }
  std::size_t size() const { return size_; }
  Token front() const { return (*buffer_)[begin_]; }

  void append(TokenSpan tokens);
  /// The first `count` tokens; this run keeps the rest. No copy.
  TokenRun take_front(std::size_t count);
  /// Moves the first `count` tokens of `next` behind this one. No copy when the two are neighbours
  /// in one buffer.
  void take_from(TokenRun& next, std::size_t count);

 private:
  std::shared_ptr<std::vector<Token>> buffer_;
  std::size_t begin_ = 0;
  std::size_t size_ = 0;
};

}  // namespace zerohop
