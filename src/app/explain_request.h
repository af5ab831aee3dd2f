// Why was this request slow, refused, cut, or not in the cache? Answered from what is remembered of
// it, in sentences that say what to do. Pure; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "app/cache_misses.h"
#include "app/request_log.h"
#include "core/error.h"

namespace zerohop {

struct Finding {
  std::string_view about;  ///< refused, cut, slow, cache, retried, answer; static text
  std::string text;        ///< one sentence or two
};

/// What there is to say about a request, the most telling first. `miss`: what was recorded when its
/// prompt was looked up; may be null.
std::vector<Finding> explain_request(const RequestRecord& record, const RecordedMiss* miss);

/// A record for programs, without findings. Times in milliseconds.
boost::json::object describe_request(const RequestRecord& record);

/// The body of `GET /v1/requests/{id}`.
std::string explanation_body(const RequestRecord& record, const RecordedMiss* miss);

/// That body for people; ends in a line end. Errors: kInvalidRequest (it is none).
Result<std::string> explanation_text(std::string_view body);

/// The body of `GET /v1/requests` for people, one line each, the latest last. Errors: likewise.
Result<std::string> request_list_text(std::string_view body);

}  // namespace zerohop
