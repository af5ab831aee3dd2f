#include "api/openai_responses_stream.h"

#include <utility>
#include <variant>

#include "api/json_writer.h"
#include "base/check.h"

namespace zerohop {
namespace {

constexpr std::string_view kFrameEnd = "}\n\n";

// The frames inside an item, by its kind. An empty name: there is no such frame.
struct InnerNames {
  std::string_view part_added;
  std::string_view delta;
  std::string_view text_done;
  std::string_view part_done;
  std::string_view part_index;  // the member that counts parts
};

InnerNames names_of(ResponseItemKind kind) {
  switch (kind) {
    case ResponseItemKind::kReasoning:
      return {"response.reasoning_summary_part.added", "response.reasoning_summary_text.delta",
              "response.reasoning_summary_text.done", "response.reasoning_summary_part.done",
              "summary_index"};
    case ResponseItemKind::kMessage:
      return {"response.content_part.added", "response.output_text.delta",
              "response.output_text.done", "response.content_part.done", "content_index"};
    case ResponseItemKind::kFunctionCall:
      return {"", "response.function_call_arguments.delta", "response.function_call_arguments.done",
              "", ""};
  }
  return {};
}

}  // namespace

OpenAiResponsesStream::OpenAiResponsesStream(OpenAiResponsesReplyOptions options)
    : options_(std::move(options)), items_(options_.head.id) {}

void OpenAiResponsesStream::append(std::uint32_t choice, const Event& event, std::string& out) {
  ZH_CHECK(choice == 0 && state_ != State::kEnded);
  if (const auto* failed = std::get_if<Failed>(&event)) return fail(*failed, out);
  ZH_CHECK((state_ == State::kBeforeStart) == std::holds_alternative<Started>(event));
  if (std::holds_alternative<Started>(event)) {
    start(out);
  } else if (const auto* finished = std::get_if<Finished>(&event)) {
    finish(*finished, out);
  } else if (!std::holds_alternative<TokenLogprobs>(event)) {
    add(event, out);
  }
}

// ---- Frames ----

void OpenAiResponsesStream::begin_frame(std::string_view name, std::string& out) {
  out.append("event: ").append(name).append("\ndata: {\"type\":\"").append(name);
  out.append(R"(","sequence_number":)");
  append_json_integer(static_cast<std::int64_t>(next_sequence_number_++), out);
}

void OpenAiResponsesStream::write_response(std::string_view name, const ResponseState& state,
                                           std::string& out) {
  begin_frame(name, out);
  out.append(R"(,"response":)");
  append_response(options_, state, out);
  out.append(kFrameEnd);
}

void OpenAiResponsesStream::write_item(std::string_view name, std::string& out) {
  begin_frame(name, out);
  out.append(R"(,"output_index":)");
  append_json_integer(static_cast<std::int64_t>(items_.last_index()), out);
  out.append(R"(,"item":)");
  append_response_item(items_.last(), out);
  out.append(kFrameEnd);
}

// A frame about the inside of the last item, up to what it says.
void OpenAiResponsesStream::begin_inner_frame(std::string_view name, std::string& out) {
  begin_frame(name, out);
  out.append(R"(,"item_id":)");
  append_json_string(items_.last().id, out);
  out.append(R"(,"output_index":)");
  append_json_integer(static_cast<std::int64_t>(items_.last_index()), out);
  const std::string_view part_index = names_of(items_.last().kind).part_index;
  if (!part_index.empty()) out.append(",\"").append(part_index).append("\":0");
}

void OpenAiResponsesStream::write_part(std::string_view name, std::string_view text,
                                       std::string& out) {
  if (name.empty()) return;
  begin_inner_frame(name, out);
  out.append(R"(,"part":)");
  append_response_part(items_.last().kind, text, out);
  out.append(kFrameEnd);
}

// ---- Events ----

void OpenAiResponsesStream::start(std::string& out) {
  state_ = State::kStarted;
  const ResponseState state{.items = &items_.all()};
  write_response("response.created", state, out);
  write_response("response.in_progress", state, out);
}

void OpenAiResponsesStream::add(const Event& event, std::string& out) {
  if (!items_.continues(event)) {
    if (items_.any_open()) close_item(ResponseItemStatus::kCompleted, out);
    open_item(event, out);
  }
  items_.add(event);
  const std::string_view text = response_delta_text(event);
  if (!text.empty()) write_delta(text, out);
}

void OpenAiResponsesStream::open_item(const Event& event, std::string& out) {
  items_.open(event);
  write_item("response.output_item.added", out);
  write_part(names_of(items_.last().kind).part_added, {}, out);
}

void OpenAiResponsesStream::write_delta(std::string_view text, std::string& out) {
  const ResponseItemKind kind = items_.last().kind;
  begin_inner_frame(names_of(kind).delta, out);
  out.append(R"(,"delta":)");
  append_json_string(text, out);
  if (kind == ResponseItemKind::kMessage) out.append(R"(,"logprobs":[])");
  out.append(kFrameEnd);
}

void OpenAiResponsesStream::close_item(ResponseItemStatus status, std::string& out) {
  items_.close(status);
  write_text_done(out);
  write_part(names_of(items_.last().kind).part_done, items_.last().text, out);
  write_item("response.output_item.done", out);
}

void OpenAiResponsesStream::write_text_done(std::string& out) {
  const ResponseItem& item = items_.last();
  begin_inner_frame(names_of(item.kind).text_done, out);
  if (item.kind == ResponseItemKind::kFunctionCall) {
    out.append(R"(,"name":)");
    append_json_string(item.name, out);
    out.append(R"(,"arguments":)");
  } else {
    out.append(R"(,"text":)");
  }
  append_json_string(item.text, out);
  if (item.kind == ResponseItemKind::kMessage) out.append(R"(,"logprobs":[])");
  out.append(kFrameEnd);
}

void OpenAiResponsesStream::finish(const Finished& finished, std::string& out) {
  const ResponseState state{.items = &items_.all(), .finished = &finished};
  const bool whole = response_status(state) == "completed";
  if (items_.any_open()) {
    close_item(whole ? ResponseItemStatus::kCompleted : ResponseItemStatus::kIncomplete, out);
  }
  state_ = State::kEnded;
  write_response(whole ? "response.completed" : "response.incomplete", state, out);
}

// The items so far and the number of the next frame are in its last one.
void OpenAiResponsesStream::append_failure(const Error& error, std::string& out) const {
  OpenAiResponsesStream ending(*this);
  ending.fail(Failed{error}, out);
}

void OpenAiResponsesStream::fail(const Failed& failed, std::string& out) {
  if (state_ == State::kBeforeStart) {
    write_response("response.created", ResponseState{.items = &items_.all()}, out);
  }
  if (items_.any_open()) items_.close(ResponseItemStatus::kIncomplete);
  state_ = State::kEnded;
  write_response("response.failed", ResponseState{.items = &items_.all(), .error = &failed.error},
                 out);
}

}  // namespace zerohop
