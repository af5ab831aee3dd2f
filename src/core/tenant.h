// Whose request it is, what it may share, and how urgent it is. Plain values; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/strong_id.h"

namespace zerohop {

struct TenantTag;
/// Who is charged for computed tokens. 0 is the tenant of requests that name nobody.
using TenantId = StrongId<TenantTag, std::uint64_t>;

struct ScopeTag;
/// Within which cached prefixes are shared. A request sees its own scope and the public one.
using ScopeId = StrongId<ScopeTag, std::uint64_t>;

/// The scope whose prefixes everybody may use.
inline constexpr ScopeId kPublicScope{0};

enum class PriorityClass : std::uint8_t {
  kPriority,  ///< goes first
  kStandard,
  kBatch,  ///< computed when nobody else waits
};

inline constexpr std::size_t kPriorityClasses = 3;

/// Its place in arrays of so many.
constexpr std::size_t index_of(PriorityClass priority) {
  return static_cast<std::size_t>(priority);
}

/// "priority", "standard" or "batch".
std::string_view priority_class_name(PriorityClass priority);
/// Nothing for other texts.
std::optional<PriorityClass> priority_class_named(std::string_view name);

}  // namespace zerohop
