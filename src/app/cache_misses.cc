#include "app/cache_misses.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "api/rfc3339.h"

namespace zerohop {
namespace {

namespace json = boost::json;

// A change this early spoils nearly everything behind it.
constexpr std::uint32_t kNearBeginning = 64;

json::value text_or_null(std::string_view text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

json::object describe(const RecordedMiss& entry) {
  const CacheMiss& miss = entry.miss;
  json::object object;
  object["time"] = rfc3339(entry.unix_seconds);
  object["request_id"] = entry.request_id;
  object["cause"] = miss_cause_name(miss.cause);
  object["section"] = text_or_null(miss_section(miss.cause));
  object["position"] = miss.position;
  object["missed_tokens"] = miss.missed_tokens;
  object["prompt_tokens"] = entry.prompt_tokens;
  object["cached_tokens"] = entry.cached_tokens;
  object["cap"] =
      text_or_null(miss.cap == CacheCap::kNone ? std::string_view() : cache_cap_name(miss.cap));
  object["advice"] = miss_advice(miss);
  return object;
}

std::string_view evicted_advice(CacheCap cap) {
  switch (cap) {
    case CacheCap::kCells:
      return "the KV cells were needed: give the cache more of them (engine.kv_cells) or host "
             "memory (engine.host_cache_bytes)";
    case CacheCap::kHolders:
      return "all ids for parked prefixes were taken: allow more (engine.parked_sequences) or give "
             "the cache host memory (engine.host_cache_bytes)";
    case CacheCap::kHostBytes: return "host memory was full: allow more (engine.host_cache_bytes)";
    case CacheCap::kHostEntries:
      return "host memory held as many states as it may: allow more "
             "(cache.kv_cache_max_entries)";
    case CacheCap::kNotKept:
      return "it was not kept: cache.keep keeps only what stands in front of a cache_control mark";
    case CacheCap::kNone: break;
  }
  return "it was dropped";
}

}  // namespace

std::string_view miss_section(MissCause cause) {
  switch (cause) {
    case MissCause::kSystemChanged: return "system";
    case MissCause::kToolsChanged: return "tools";
    case MissCause::kMessagesChanged: return "messages";
    default: return {};
  }
}

std::string miss_advice(const CacheMiss& miss) {
  const std::string at = "at token " + std::to_string(miss.position);
  switch (miss.cause) {
    case MissCause::kSystemChanged:
      return "the system prompt changes " +
             (miss.position < kNearBeginning ? "near its beginning, " + at : at) +
             "; what changes with every request (a time stamp?) belongs behind what stays the "
             "same: "
             "a rule of prompt.volatile moves it there, or send it as metadata.context";
    case MissCause::kToolsChanged:
      return "the tool definitions change " + at +
             "; send the same tools in the same order with the same texts";
    case MissCause::kMessagesChanged:
      return "an earlier message changes " + at +
             "; add to a conversation at its end and leave earlier turns as they were";
    case MissCause::kEvicted: return std::string(evicted_advice(miss.cap));
    case MissCause::kOtherTenant:
      return "another tenant sent this prompt before; a system prompt that all share can be one of "
             "cache.warm_prefixes";
    case MissCause::kModelChanged: return "the same client asked another model before";
    case MissCause::kCold:
      return "nothing like it was seen lately; a system prompt that comes often can be one of "
             "cache.warm_prefixes";
    case MissCause::kNone: break;
  }
  return "everything that could be shared was found";
}

void CacheMisses::record(RecordedMiss miss) {
  if (miss.miss.cause == MissCause::kNone) return;
  misses_.push_back(std::move(miss));
  if (misses_.size() > kKept) misses_.pop_front();
}

const RecordedMiss* CacheMisses::find(std::string_view request_id) const {
  const auto found = std::ranges::find(misses_, request_id, &RecordedMiss::request_id);
  return found == misses_.end() ? nullptr : &*found;
}

std::string CacheMisses::body(std::optional<TenantId> tenant) const {
  json::array data;
  std::for_each(misses_.rbegin(), misses_.rend(), [&](const RecordedMiss& entry) {
    if (!tenant || entry.tenant == *tenant) data.push_back(describe(entry));
  });
  return json::serialize(json::object{{"data", std::move(data)}});
}

}  // namespace zerohop
