#include "api/batch_dialect.h"

#include <chrono>
#include <unordered_set>
#include <utility>

#include "api/json_place.h"
#include "api/json_reader.h"
#include "api/json_value_writer.h"
#include "api/json_writer.h"
#include "api/page_query.h"
#include "api/rfc3339.h"
#include "core/limits.h"

namespace zerohop {
namespace {

Result<std::string> parse_custom_id(const JsonPlace& item) {
  ZH_ASSIGN_OR_RETURN(const JsonPlace place, item.require("custom_id"));
  ZH_ASSIGN_OR_RETURN(const std::string_view id, place.string());
  if (id.empty() || id.size() > limits::kCustomIdBytesMax) {
    return place.error("must be 1 to " + std::to_string(limits::kCustomIdBytesMax) +
                       " characters long");
  }
  return std::string(id);
}

Result<BatchItem> parse_item(const JsonPlace& place) {
  ZH_RETURN_IF_ERROR(place.expect_object());
  BatchItem item;
  ZH_ASSIGN_OR_RETURN(item.custom_id, parse_custom_id(place));
  ZH_ASSIGN_OR_RETURN(const JsonPlace params, place.require("params"));
  ZH_RETURN_IF_ERROR(params.expect_object());
  if (const auto stream = params.find("stream")) {
    ZH_ASSIGN_OR_RETURN(const bool streams, stream->boolean());
    if (streams) return stream->error("must be false: requests of a batch are not streamed");
  }
  item.params = json_text(params.value());
  return item;
}

void append_time(std::string_view key, const std::optional<WallTime>& time, std::string& out) {
  out.append(",\"").append(key).append("\":");
  if (!time) {
    out.append("null");
    return;
  }
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time->time_since_epoch()).count();
  out.append("\"").append(rfc3339(seconds)).append("\"");
}

std::string_view status_name(BatchStatus status) {
  switch (status) {
    case BatchStatus::kInProgress: return "in_progress";
    case BatchStatus::kCanceling: return "canceling";
    case BatchStatus::kEnded: break;
  }
  return "ended";
}

void append_counts(const BatchCounts& counts, std::string& out) {
  const std::pair<std::string_view, std::uint64_t> entries[]{{"processing", counts.processing},
                                                             {"succeeded", counts.succeeded},
                                                             {"errored", counts.errored},
                                                             {"canceled", counts.canceled},
                                                             {"expired", counts.expired}};
  out.append(R"(,"request_counts":{)");
  for (const auto& [name, count] : entries) {
    if (out.back() != '{') out.push_back(',');
    out.append("\"").append(name).append("\":");
    append_json_integer(static_cast<std::int64_t>(count), out);
  }
  out.push_back('}');
}

void append_batch(const MessageBatch& batch, std::string& out) {
  out.append(R"({"id":)");
  append_json_string(batch.id, out);
  out.append(R"(,"type":"message_batch","processing_status":")").append(status_name(batch.status));
  out.push_back('"');
  append_counts(batch.counts, out);
  append_time("created_at", batch.created_at, out);
  append_time("expires_at", batch.expires_at, out);
  append_time("ended_at", batch.ended_at, out);
  append_time("cancel_initiated_at", batch.cancel_initiated_at, out);
  append_time("archived_at", batch.archived_at, out);
  out.append(R"(,"results_url":)");
  if (batch.status == BatchStatus::kEnded && !batch.archived_at) {
    append_json_string("/v1/messages/batches/" + batch.id + "/results", out);
  } else {
    out.append("null");
  }
  out.push_back('}');
}

}  // namespace

Result<std::vector<BatchItem>> parse_batch_request(std::string_view body) {
  ZH_ASSIGN_OR_RETURN(const JsonDocument document, parse_json(body));
  const JsonPlace root(document.root());
  ZH_RETURN_IF_ERROR(root.expect_object());
  ZH_ASSIGN_OR_RETURN(const JsonPlace requests, root.require("requests"));
  ZH_ASSIGN_OR_RETURN(const std::size_t count, requests.array_size(limits::kBatchRequestsMax));
  if (count == 0) return requests.error("at least one request is required");
  std::vector<BatchItem> items;
  items.reserve(count);
  std::unordered_set<std::string> ids;
  for (std::size_t i = 0; i < count; ++i) {
    const JsonPlace place = requests.element(i);
    ZH_ASSIGN_OR_RETURN(BatchItem item, parse_item(place));
    if (!ids.insert(item.custom_id).second) {
      return place.member("custom_id", place.value()).error("occurs twice in this batch");
    }
    items.push_back(std::move(item));
  }
  return items;
}

std::string batch_body(const MessageBatch& batch) {
  std::string body;
  append_batch(batch, body);
  return body;
}

std::string batch_list_body(const BatchListFace& page) {
  std::string body = R"({"data":[)";
  for (const MessageBatch& batch : page.batches) {
    if (body.back() == '}') body.push_back(',');
    append_batch(batch, body);
  }
  PageEdges edges;
  edges.has_more = page.has_more;
  if (!page.batches.empty()) {
    edges.first_id = page.batches.front().id;
    edges.last_id = page.batches.back().id;
  }
  body.append("],");
  append_page_edges(edges, body);
  body.push_back('}');
  return body;
}

std::string batch_deleted_body(std::string_view id) {
  std::string body = R"({"id":)";
  append_json_untrusted(id, body);
  body.append(R"(,"type":"message_batch_deleted"})");
  return body;
}

void append_batch_result(const BatchResult& result, std::string& out) {
  out.append(R"({"custom_id":)");
  append_json_string(result.custom_id, out);
  out.append(R"(,"result":{"type":")");
  switch (result.outcome) {
    case BatchOutcome::kSucceeded:
      out.append(R"(succeeded","message":)").append(result.text);
      break;
    case BatchOutcome::kErrored: out.append(R"(errored","error":)").append(result.text); break;
    case BatchOutcome::kCanceled: out.append(R"(canceled")"); break;
    case BatchOutcome::kExpired: out.append(R"(expired")"); break;
  }
  out.append("}}\n");
}

}  // namespace zerohop
