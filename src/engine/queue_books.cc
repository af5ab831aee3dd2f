#include "engine/queue_books.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace zerohop {
std::size_t QueueBooks::Tenant::all() const {
  return std::accumulate(requests.begin(), requests.end(), std::size_t{0});
}

std::optional<QueueBound> QueueBooks::bound_of(TenantId tenant, const Load& load) const {
  if (requests_ + load.requests > limits_.requests_max) return QueueBound::kRequests;
  if (requests_ > 0 && tokens_ + load.tokens > limits_.tokens_max) return QueueBound::kTokens;
  const auto found = tenants_.find(tenant);
  if (tenant == TenantId{}) return std::nullopt;
  const auto share = [this](auto whole) {
    return static_cast<double>(whole) * limits_.tenant_share;
  };
  const std::size_t own = found == tenants_.end() ? 0 : found->second.all();
  if (static_cast<double>(own + load.requests) > std::max(share(limits_.requests_max), 1.0)) {
    return QueueBound::kTenantRequests;
  }
  if (found == tenants_.end()) return std::nullopt;
  if (static_cast<double>(found->second.tokens + load.tokens) > share(limits_.tokens_max)) {
    return QueueBound::kTenantTokens;
  }
  return std::nullopt;
}

std::optional<QueueBound> QueueBooks::enter(const QueueEntry& entry) {
  return enter_all({&entry, 1});
}

std::optional<QueueBound> QueueBooks::enter_all(std::span<const QueueEntry> answers) {
  Load load{answers.size(), 0};
  for (const QueueEntry& answer : answers) load.tokens += answer.tokens;
  const std::scoped_lock lock(mutex_);
  if (const auto bound = bound_of(answers.front().tenant, load)) return bound;
  for (const QueueEntry& answer : answers) add(answer);
  return std::nullopt;
}

// Under mutex_.
void QueueBooks::add(const QueueEntry& entry) {
  Tenant& tenant = tenants_[entry.tenant];
  Class& books = classes_[index_of(entry.priority)];
  const std::size_t before = tenant.requests[index_of(entry.priority)]++;
  if (books.tenants_with.size() <= before) books.tenants_with.resize(before + 1);
  ++books.tenants_with[before];
  ++books.requests;
  ++requests_;
  books.tokens += entry.tokens;
  tenant.tokens += entry.tokens;
  tokens_ += entry.tokens;
}

void QueueBooks::leave(const QueueEntry& entry) {
  const std::scoped_lock lock(mutex_);
  const auto found = tenants_.find(entry.tenant);
  ZH_CHECK(found != tenants_.end());
  Tenant& tenant = found->second;
  Class& books = classes_[index_of(entry.priority)];
  ZH_CHECK(tenant.requests[index_of(entry.priority)] > 0 && books.tokens >= entry.tokens);
  const std::size_t left = --tenant.requests[index_of(entry.priority)];
  --books.tenants_with[left];
  --books.requests;
  --requests_;
  books.tokens -= entry.tokens;
  tenant.tokens -= entry.tokens;
  tokens_ -= entry.tokens;
  if (tenant.all() == 0) tenants_.erase(found);
}

void QueueBooks::recount(QueueEntry& entry, std::uint32_t tokens) {
  const std::scoped_lock lock(mutex_);
  const auto found = tenants_.find(entry.tenant);
  ZH_CHECK(found != tenants_.end());
  for (std::uint64_t* sum :
       {&found->second.tokens, &classes_[index_of(entry.priority)].tokens, &tokens_}) {
    *sum += tokens;
    *sum -= entry.tokens;
  }
  entry.tokens = tokens;
}

std::optional<QueueBound> QueueBooks::full_for(TenantId tenant, std::size_t requests) const {
  const std::scoped_lock lock(mutex_);
  return bound_of(tenant, {requests, 0});
}

// Of the class of a request of whose tenant `own` wait there.
double QueueBooks::in_front_of_class(const Class& books, std::size_t own) const {
  const std::size_t most = std::min(own + 1, books.tenants_with.size());
  const auto end = books.tenants_with.begin() + static_cast<std::ptrdiff_t>(most);
  return static_cast<double>(std::accumulate(books.tenants_with.begin(), end, std::uint64_t{0}));
}

InFront QueueBooks::in_front(TenantId tenant, PriorityClass priority) const {
  const std::scoped_lock lock(mutex_);
  InFront front;
  const std::size_t own_class = index_of(priority);
  for (std::size_t i = 0; i < own_class; ++i) {
    front.requests += classes_[i].requests;
    front.tokens += static_cast<double>(classes_[i].tokens);
  }
  const Class& books = classes_[own_class];
  if (books.requests == 0) return front;
  const auto found = tenants_.find(tenant);
  const std::size_t own = found == tenants_.end() ? 0 : found->second.requests[own_class];
  const double requests = in_front_of_class(books, own);
  front.requests += requests;
  front.tokens += static_cast<double>(books.tokens) * requests / books.requests;
  return front;
}

double QueueBooks::part_in_front(TenantId tenant, PriorityClass priority) const {
  const double front = in_front(tenant, priority).requests;
  const std::size_t all = requests();
  return all == 0 ? 0 : std::min(1.0, front / static_cast<double>(all));
}

QueueBooks::Totals QueueBooks::totals() const {
  const std::scoped_lock lock(mutex_);
  Totals totals;
  for (std::size_t i = 0; i < kPriorityClasses; ++i) {
    totals.requests[i] = classes_[i].requests;
    totals.tokens[i] = classes_[i].tokens;
  }
  return totals;
}

std::size_t QueueBooks::requests() const {
  const std::scoped_lock lock(mutex_);
  return requests_;
}

std::string_view queue_bound_text(QueueBound bound) {
  switch (bound) {
    case QueueBound::kRequests: return "the queue is full";
    case QueueBound::kTokens: return "the queue holds as many prompt tokens as it may";
    case QueueBound::kTenantRequests: return "this tenant has its share of the queue's places";
    case QueueBound::kTenantTokens: return "this tenant has its share of the queue's tokens";
  }
  return "the queue is full";
}

std::string_view queue_bound_detail(QueueBound bound) {
  switch (bound) {
    case QueueBound::kRequests: return "queue;requests";
    case QueueBound::kTokens: return "queue;tokens";
    case QueueBound::kTenantRequests: return "queue;tenant_requests";
    case QueueBound::kTenantTokens: return "queue;tenant_tokens";
  }
  return "queue;requests";
}

}  // namespace zerohop
