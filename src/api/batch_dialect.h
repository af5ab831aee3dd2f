// Message batches on the wire, both ways. Pure functions; any thread.
// Source: Message Batches API.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/message_batch.h"

namespace zerohop {

/// One request of a new batch.
struct BatchItem {
  std::string custom_id;  ///< 1 to 64 characters, unique in the batch
  std::string params;     ///< the body of a messages request, compact JSON
};

/// POST /v1/messages/batches. What stands in `params` is looked at when it is computed, and a fault
/// in it is the result of that request alone; only that it is an object and does not ask for a
/// stream is settled here. Errors: kInvalidRequest with the path.
Result<std::vector<BatchItem>> parse_batch_request(std::string_view body);

/// The batch object. `results_url` leads to the same server.
std::string batch_body(const MessageBatch& batch);

/// A page of batches.
struct BatchListFace {
  const std::vector<MessageBatch>& batches;
  bool has_more;
};
std::string batch_list_body(const BatchListFace& page);

/// The answer to DELETE.
std::string batch_deleted_body(std::string_view id);

/// One line of the results, with its line break. The text of a result is a message or an error
/// body, as JSON.
void append_batch_result(const BatchResult& result, std::string& out);

}  // namespace zerohop
