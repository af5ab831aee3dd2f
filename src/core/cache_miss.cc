#include "core/cache_miss.h"

namespace zerohop {

std::string_view miss_cause_name(MissCause cause) {
  switch (cause) {
    case MissCause::kNone: return "none";
    case MissCause::kCold: return "cold";
    case MissCause::kModelChanged: return "model_changed";
    case MissCause::kSystemChanged: return "system_changed";
    case MissCause::kToolsChanged: return "tools_changed";
    case MissCause::kMessagesChanged: return "messages_changed";
    case MissCause::kEvicted: return "evicted";
    case MissCause::kOtherTenant: return "other_tenant";
  }
  return "unknown";
}

std::string_view cache_cap_name(CacheCap cap) {
  switch (cap) {
    case CacheCap::kNone: return "none";
    case CacheCap::kCells: return "kv_cells";
    case CacheCap::kHolders: return "holders";
    case CacheCap::kHostBytes: return "host_bytes";
    case CacheCap::kHostEntries: return "host_entries";
    case CacheCap::kNotKept: return "not_kept";
  }
  return "unknown";
}

}  // namespace zerohop
