// The last prompts that did not find in the cache what one would have hoped, for operators:
// `GET /v1/cache/misses` and `zerohop explain-miss`. I/O thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "core/cache_miss.h"
#include "core/tenant.h"

namespace zerohop {

struct RecordedMiss {
  std::int64_t unix_seconds = 0;
  std::string request_id;
  std::uint32_t prompt_tokens = 0;
  std::uint32_t cached_tokens = 0;
  CacheMiss miss;
  TenantId tenant = {};  ///< whose prompt it was
};

class CacheMisses {
 public:
  static constexpr std::size_t kKept = 100;

  /// A prompt without a miss is not kept.
  void record(RecordedMiss miss);

  /// What was kept of one request; null when nothing is, or no longer.
  const RecordedMiss* find(std::string_view request_id) const;

  /// `{"data":[…]}`, the latest first: time, request_id, cause, section, position, missed_tokens,
  /// prompt_tokens, cached_tokens, cap, advice. Of `tenant` alone; nothing: of everybody.
  std::string body(std::optional<TenantId> tenant) const;

 private:
  std::deque<RecordedMiss> misses_;  // oldest first
};

/// The part of the prompt that changed: "system", "tools" or "messages"; empty for other causes.
std::string_view miss_section(MissCause cause);

/// What an operator or a client can do about it, in one sentence.
std::string miss_advice(const CacheMiss& miss);

}  // namespace zerohop
