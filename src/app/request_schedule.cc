#include "app/request_schedule.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "app/config_error.h"
#include "app/text_hash.h"
#include "base/whole_number.h"
#include "core/service_estimate.h"

namespace zerohop {
namespace {

constexpr std::string_view kCacheKeyHeader = "x-anthropic-cache-key";
constexpr std::string_view kDeadlineHeader = "anthropic-deadline-ms";
constexpr std::string_view kTimeoutHeader = "x-stainless-timeout";
constexpr std::size_t kCacheKeyBytesMax = 256;
constexpr std::uint64_t kDeadlineMillisecondsMax = 86'400'000;  // a day

Result<std::uint64_t> parse_affinity(const Headers& headers) {
  const auto key = headers.find(kCacheKeyHeader);
  if (!key) return std::uint64_t{0};
  const bool printable = std::ranges::all_of(*key, [](char c) { return c >= 0x20 && c < 0x7f; });
  if (key->empty() || key->size() > kCacheKeyBytesMax || !printable) {
    return invalid_request(std::string(kCacheKeyHeader),
                           "must be 1 to 256 printable ASCII characters");
  }
  return text_hash(*key);
}

Result<std::optional<TimePoint>> parse_deadline(const Headers& headers, TimePoint received_at) {
  using Deadline = std::optional<TimePoint>;
  const auto value = headers.find(kDeadlineHeader);
  if (!value) return Deadline();
  const auto number = whole_number<std::uint64_t>(*value);
  if (!number || *number == 0 || *number > kDeadlineMillisecondsMax) {
    return invalid_request(std::string(kDeadlineHeader),
                           "must be a whole number of milliseconds from 1 to 86400000");
  }
  return Deadline(received_at + std::chrono::milliseconds(*number));
}

std::optional<TimePoint> parse_timeout(const Headers& headers, TimePoint received_at) {
  const auto value = headers.find(kTimeoutHeader);
  const auto number = value ? whole_number<std::uint64_t>(*value) : std::nullopt;
  if (!number || *number == 0 || *number > kDeadlineMillisecondsMax / 1'000) return std::nullopt;
  return received_at + std::chrono::seconds(*number);
}

std::string milliseconds_of(Duration time) {
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(time).count()) + " ms";
}

}  // namespace

Result<RequestSchedule> read_schedule(const RequestTenant& tenant, const RequestHead& head,
                                      TimePoint received_at) {
  RequestSchedule schedule;
  schedule.tenant = tenant;
  ZH_ASSIGN_OR_RETURN(schedule.affinity, parse_affinity(head.headers));
  ZH_ASSIGN_OR_RETURN(schedule.deadline, parse_deadline(head.headers, received_at));
  schedule.client_gives_up = parse_timeout(head.headers, received_at);
  return schedule;
}

std::optional<TimePoint> deadline_of(const RequestSchedule& schedule, AnswerShape shape) {
  const auto& patience = schedule.client_gives_up;
  if (shape == AnswerShape::kStream || !patience) return schedule.deadline;
  return schedule.deadline ? std::min(*schedule.deadline, *patience) : *patience;
}

Result<ClassWaits> class_waits(const Config& config) {
  ClassWaits waits;
  waits.fill(std::chrono::seconds(config.scheduler.max_wait_seconds));
  const std::vector<double>& seconds = config.queue.class_wait_max_seconds;
  if (seconds.empty()) return waits;
  if (seconds.size() != kPriorityClasses) {
    return configuration_error(
        "queue.class_wait_max_seconds: needs three numbers, of priority, standard and batch, or "
        "none");
  }
  for (std::size_t i = 0; i < kPriorityClasses; ++i) {
    constexpr double kDay = 86'400;
    if (!(seconds[i] > 0) || seconds[i] > kDay) {
      return configuration_error("queue.class_wait_max_seconds: must be above 0 and at most 86400");
    }
    waits[i] = from_seconds(seconds[i]);
  }
  return waits;
}

namespace {

// Of the first of its answers, or of the one behind `behind` others of its own.
std::optional<ServiceEstimate> estimate_at(const DoorView& door, std::size_t behind = 0) {
  ServiceQuestion question;
  question.itl_objective = door.itl_objective;
  question.in_front = door.in_front;
  if (behind > 0) {
    const EngineSnapshot& engine = door.engine;
    InFront front = door.in_front.value_or(
        InFront{static_cast<double>(engine.queued), static_cast<double>(engine.queued_tokens)});
    front.requests += static_cast<double>(behind);
    question.in_front = front;
  }
  question.max_tokens = door.max_tokens;
  question.uncached_tokens = door.likely_uncached;
  return estimate_service(door.engine, question);
}

// Whether an answer that has to wait would end in time if it took as long as the last ones did, or
// as long as it may be where that is less. What starts at once is given the benefit of the doubt.
bool usually_ends_within(Duration left, const ServiceEstimate& estimate, const DoorView& door) {
  if (estimate.queue_wait == Duration::zero()) return true;
  const Duration longest = estimate.last_token - estimate.queue_wait;
  const Duration usual = from_seconds(door.engine.request_seconds);
  return estimate.queue_wait + std::min(longest, usual) <= left;
}

// By then the queue has room for as long a wait as is granted. Not at once: clients do as they are
// told.
std::chrono::milliseconds come_back_after(Duration excess) {
  constexpr std::chrono::milliseconds kLeast{500};
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(excess), kLeast);
}

}  // namespace

Result<void> check_wait(const DoorView& door, Duration wait_max) {
  const std::optional<ServiceEstimate> estimate = estimate_at(door);
  if (!estimate || estimate->place_free || estimate->queue_wait == Duration::zero()) return {};
  if (estimate->first_token <= wait_max) return {};
  return Error{ErrorCode::kOverloaded,
               "the first token would come after about " + milliseconds_of(estimate->first_token) +
                   ", and requests wait at most " + milliseconds_of(wait_max),
               "", come_back_after(estimate->first_token - wait_max), kWaitRefusal};
}

Result<void> check_deadline(const RequestSchedule& schedule, AnswerShape shape,
                            const DoorView& door) {
  const std::optional<TimePoint> deadline = deadline_of(schedule, shape);
  if (!deadline) return {};
  const Duration left = *deadline - door.now;
  const std::optional<ServiceEstimate> estimate = estimate_at(door, door.choices - 1);
  if (left > Duration::zero() && estimate && estimate->place_free) return {};
  const bool can = judge_deadline(estimate, left) != DeadlineVerdict::kCannot;
  if (can && (!estimate || usually_ends_within(left, *estimate, door))) return {};
  const std::string_view header = deadline == schedule.deadline ? kDeadlineHeader : kTimeoutHeader;
  const Duration wait = estimate ? estimate->first_token : Duration::zero();
  Error error{ErrorCode::kOverloaded, "", "", {}};
  error.message = "the deadline (" + std::string(header) + ") ";
  error.message +=
      left <= Duration::zero()
          ? "passed " + milliseconds_of(-left) + " before the request could be queued"
          : "cannot be met: the first token would come after about " + milliseconds_of(wait);
  error.retry_after = come_back_after(wait - left);
  error.detail = kDeadlineRefusal;
  return error;
}

void apply_schedule(const RequestSchedule& schedule, AnswerShape shape, EngineRequest& request) {
  request.scheduling.tenant = schedule.tenant.tenant;
  request.scheduling.tenant_weight = schedule.tenant.weight;
  request.scheduling.own_pool = schedule.tenant.own_pool;
  PriorityClass& priority = request.scheduling.priority;
  priority = served_class(schedule.tenant.priority, priority);
  request.scheduling.deadline = deadline_of(schedule, shape);
  request.cache.scope = schedule.tenant.scope;
  request.cache.affinity = schedule.affinity;
}

}  // namespace zerohop
