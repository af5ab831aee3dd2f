// Permits: a move-only right to be in the system, from a pool of so many.
//
// No permit, no work: the holder of a Permit may hold a connection, a request, a buffer. Dropping
// it returns it, on every path. The pool must outlive its permits and says so when it is destroyed.
// Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/check.h"

namespace zerohop {

class PermitPool;

class [[nodiscard]] Permit {
 public:
  Permit() = default;
  Permit(Permit&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)) {}
  Permit& operator=(Permit&& other) noexcept {
    if (this != &other) {
      release();
      pool_ = std::exchange(other.pool_, nullptr);
    }
    return *this;
  }
  ~Permit() { release(); }

  bool held() const { return pool_ != nullptr; }
  void release();

 private:
  friend class PermitPool;
  explicit Permit(PermitPool* pool) : pool_(pool) {}
  PermitPool* pool_ = nullptr;
};

class PermitPool {
 public:
  explicit PermitPool(std::size_t capacity) : capacity_(capacity) {}
  ~PermitPool() { ZH_CHECK(in_use() == 0); }
  PermitPool(const PermitPool&) = delete;
  PermitPool& operator=(const PermitPool&) = delete;

  /// Nothing when all permits are out.
  std::optional<Permit> try_acquire() {
    std::size_t current = in_use_.load(std::memory_order_relaxed);
    do {
      if (current >= capacity()) return std::nullopt;
    } while (!in_use_.compare_exchange_weak(current, current + 1, std::memory_order_acq_rel));
    return Permit(this);
  }

  std::size_t in_use() const { return in_use_.load(std::memory_order_acquire); }
  std::size_t capacity() const { return capacity_.load(std::memory_order_relaxed); }
  /// From now on. Permits that are out beyond it stay with their holders.
  void set_capacity(std::size_t capacity) { capacity_.store(capacity, std::memory_order_relaxed); }

 private:
  friend class Permit;
  std::atomic<std::size_t> capacity_;
  std::atomic<std::size_t> in_use_{0};
};

inline void Permit::release() {
  if (pool_ == nullptr) return;
  const std::size_t before = pool_->in_use_.fetch_sub(1, std::memory_order_acq_rel);
  ZH_CHECK(before > 0);
  pool_ = nullptr;
}

}  // namespace zerohop
