// A message batch as its owner sees it: many requests that are computed when there is time. Typed,
// free of any dialect. Plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"

namespace zerohop {

enum class BatchStatus : std::uint8_t {
  kInProgress,
  kCanceling,  ///< requests that run now are being stopped
  kEnded,      ///< every request has a result
};

/// Requests by what became of them. All but `processing` stay 0 until the batch has ended.
struct BatchCounts {
  std::uint64_t processing = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t errored = 0;
  std::uint64_t canceled = 0;
  std::uint64_t expired = 0;
  friend bool operator==(const BatchCounts&, const BatchCounts&) = default;
};

struct MessageBatch {
  std::string id;
  BatchStatus status = BatchStatus::kInProgress;
  BatchCounts counts;
  WallTime created_at{};
  WallTime expires_at{};  ///< requests without a result by then expire
  std::optional<WallTime> ended_at;
  std::optional<WallTime> cancel_initiated_at;
  std::optional<WallTime> archived_at;  ///< since then the results are gone
};

enum class BatchOutcome : std::uint8_t {
  kSucceeded,
  kErrored,
  kCanceled,  ///< the batch was cancelled before there was an answer
  kExpired,   ///< the batch expired before there was an answer
};

struct BatchResult {
  std::string custom_id;
  BatchOutcome outcome = BatchOutcome::kSucceeded;
  std::string text;  ///< of kSucceeded: the message; of kErrored: the error; else empty
};

}  // namespace zerohop
