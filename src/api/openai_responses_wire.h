// Response objects and output items of the Responses API, which the streamed and the whole reply
// share. Internal to api/, except OpenAiResponsesReplyOptions. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/openai_wire.h"
#include "core/error.h"
#include "core/event.h"

namespace zerohop {

/// What the two writers are told.
struct OpenAiResponsesReplyOptions {
  OpenAiReplyHead head;  ///< id `resp_…`
  std::string echo;      ///< OpenAiResponsesRequest::echo
};

enum class ResponseItemKind : std::uint8_t { kReasoning, kMessage, kFunctionCall };
enum class ResponseItemStatus : std::uint8_t { kInProgress, kCompleted, kIncomplete };

struct ResponseItem {
  ResponseItemKind kind = ResponseItemKind::kMessage;
  ResponseItemStatus status = ResponseItemStatus::kInProgress;
  std::string id;       ///< unique for ever
  std::string text;     ///< so far: reasoning, text or arguments
  std::string call_id;  ///< of a function call
  std::string name;     ///< of a function call
};

/// The output items of one answer, made from its events. An item is opened by its first event and
/// closed by one of another kind, so there is none without content, except for function calls.
class ResponseItems {
 public:
  /// `response_id` is what the ids of the items are derived from.
  explicit ResponseItems(const std::string& response_id);

  /// Whether `event` belongs to the open item.
  bool continues(const Event& event) const;
  /// Opens an item for `event`, a delta or the start of a call; none may be open.
  void open(const Event& event);
  /// Adds the text of `event` to the open item.
  void add(const Event& event);
  void close(ResponseItemStatus status);

  bool any_open() const { return open_; }
  /// The open item, or the one closed last.
  const ResponseItem& last() const { return items_.back(); }
  std::size_t last_index() const { return items_.size() - 1; }
  const std::vector<ResponseItem>& all() const { return items_; }

 private:
  std::string id_tail_;
  std::vector<ResponseItem> items_;
  bool open_ = false;
};

/// The text that a delta carries; empty for other events.
std::string_view response_delta_text(const Event& event);

/// `{"type":"output_text",…}` or `{"type":"summary_text",…}`: what is inside an item.
void append_response_part(ResponseItemKind kind, std::string_view text, std::string& out);
/// An item; one in progress is written empty, as it is when it is announced.
void append_response_item(const ResponseItem& item, std::string& out);

/// How an answer stands. Without `finished` and `error`: in progress.
struct ResponseState {
  const std::vector<ResponseItem>* items = nullptr;
  const Finished* finished = nullptr;
  const Error* error = nullptr;
};

/// `completed`, `incomplete` (the answer was cut off), `failed` or `in_progress`.
std::string_view response_status(const ResponseState& state);
/// The whole response object.
void append_response(const OpenAiResponsesReplyOptions& options, const ResponseState& state,
                     std::string& out);

}  // namespace zerohop
