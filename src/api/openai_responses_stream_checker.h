// For tests: reads the bytes of a responses stream as the strictest client would and names the
// first rule that they break. Written against the protocol, not against OpenAiResponsesStream.
// Source: Responses API, streaming events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json_place.h"
#include "api/json_value_writer.h"
#include "api/openai_sse_frames.h"

namespace zerohop {

class OpenAiResponsesStreamChecker {
 public:
  struct Item {
    std::string type;
    std::string id;
    std::string text;     // the deltas, joined
    std::string name;     // of a function call
    std::string call_id;  // of a function call
  };

  /// `stream` holds whole frames. May be called again with what follows.
  void feed(std::string_view stream) {
    OpenAiFrameCutter frames(stream);
    while (!frames.done() && fault_.empty()) {
      const OpenAiFrame frame = frames.next();
      if (!frames.fault().empty()) return fail(frames.fault());
      if (!frame.comment) read_frame(frame);
    }
  }

  const std::string& fault() const { return fault_; }
  bool ended() const { return !end_.empty(); }
  /// `completed`, `incomplete` or `failed`.
  const std::string& end() const { return end_; }
  const std::vector<Item>& items() const { return items_; }
  const std::string& usage() const { return usage_; }
  const std::string& error_code() const { return error_code_; }

 private:
  enum class Phase : std::uint8_t { kNoItem, kItemAdded, kPartOpen, kTextDone, kPartDone };

  void fail(std::string what) {
    if (fault_.empty()) fault_ = std::move(what);
  }

  static std::string text_at(const JsonPlace& place, std::string_view key) {
    const auto member = place.find(key);
    return member && member->is_string() ? std::string(member->string().value()) : std::string();
  }

  static std::int64_t number_at(const JsonPlace& place, std::string_view key) {
    const auto member = place.find(key);
    return member && member->value().is_int64() ? member->value().as_int64() : -1;
  }

  void read_frame(const OpenAiFrame& frame) {
    if (ended()) return fail("nothing may follow the end");
    const auto document = parse_json(frame.data);
    if (!document.ok()) return fail(document.error().message);
    const JsonPlace root(document->root());
    const std::string type = text_at(root, "type");
    if (type != frame.name) return fail("the type must equal the event's name");
    if (number_at(root, "sequence_number") != next_number_++) {
      return fail("sequence numbers must run without gaps");
    }
    constexpr std::string_view kPrefix = "response.";
    if (!type.starts_with(kPrefix)) return fail("unknown event " + type);
    read_event(type.substr(kPrefix.size()), root);
  }

  void read_event(const std::string& name, const JsonPlace& root) {
    if (name == "created") return read_created(root);
    if (response_id_.empty()) return fail("response.created must come first");
    if (name == "in_progress") return check_response(root, "in_progress");
    if (name == "completed" || name == "incomplete" || name == "failed") {
      return read_end(name, root);
    }
    if (name == "output_item.added") return read_item_added(root);
    if (name == "output_item.done") return read_item_done(root);
    if (phase_ == Phase::kNoItem) return fail(name + " without an item");
    if (text_at(root, "item_id") != items_.back().id ||
        number_at(root, "output_index") != static_cast<std::int64_t>(items_.size()) - 1) {
      return fail(name + " of another item");
    }
    const std::string& type = items_.back().type;
    if (type == "message") return read_inside(name, root, kMessage);
    if (type == "reasoning") return read_inside(name, root, kReasoning);
    read_call(name, root);
  }

  void read_created(const JsonPlace& root) {
    if (next_number_ != 1) return fail("response.created must come first");
    const auto response = root.find("response");
    if (!response) return fail("response.created needs a response");
    response_id_ = text_at(*response, "id");
    if (response_id_.empty()) return fail("a response needs an id");
    check_response(root, "in_progress");
    const auto output = response->find("output");
    if (!output || !output->is_array() || !output->value().as_array().empty()) {
      fail("output must be [] at the start");
    }
  }

  void check_response(const JsonPlace& root, std::string_view status) {
    const auto response = root.find("response");
    if (!response) return fail("the response is missing");
    if (text_at(*response, "object") != "response" || text_at(*response, "id") != response_id_ ||
        text_at(*response, "status") != status) {
      return fail("a response needs its object, id and status");
    }
    for (const char* key : {"created_at", "model", "output", "parallel_tool_calls", "tool_choice",
                            "tools", "usage", "error", "incomplete_details", "instructions",
                            "metadata", "temperature", "top_p", "store"}) {
      if (response->value().as_object().if_contains(key) == nullptr) {
        return fail(std::string("a response needs ") + key);
      }
    }
  }

  void read_item_added(const JsonPlace& root) {
    if (phase_ != Phase::kNoItem) return fail("an item is still open");
    if (number_at(root, "output_index") != static_cast<std::int64_t>(items_.size())) {
      return fail("output indices must run without gaps");
    }
    const auto item = root.find("item");
    if (!item) return fail("the item is missing");
    Item added{text_at(*item, "type"),
               text_at(*item, "id"),
               {},
               text_at(*item, "name"),
               text_at(*item, "call_id")};
    if (added.type != "message" && added.type != "reasoning" && added.type != "function_call") {
      return fail("unknown item " + added.type);
    }
    if (added.id.empty() || !ids_.insert(added.id).second) return fail("ids must be unique");
    if (text_at(*item, "status") != "in_progress") return fail("a new item is in progress");
    if (added.type == "function_call" &&
        (added.name.empty() || added.call_id.empty() || !text_at(*item, "arguments").empty())) {
      return fail("a call needs call_id, name and no arguments yet");
    }
    items_.push_back(std::move(added));
    phase_ = items_.back().type == "function_call" ? Phase::kPartOpen : Phase::kItemAdded;
  }

  struct Names {
    std::string_view part_added;
    std::string_view delta;
    std::string_view text_done;
    std::string_view part_done;
    std::string_view index;
    std::string_view part_type;
  };
  static constexpr Names kMessage{"content_part.added", "output_text.delta", "output_text.done",
                                  "content_part.done",  "content_index",     "output_text"};
  static constexpr Names kReasoning{"reasoning_summary_part.added",
                                    "reasoning_summary_text.delta",
                                    "reasoning_summary_text.done",
                                    "reasoning_summary_part.done",
                                    "summary_index",
                                    "summary_text"};

  void read_inside(const std::string& name, const JsonPlace& root, const Names& names) {
    if (number_at(root, names.index) != 0) return fail(name + " needs its part's index");
    if (name == names.delta) return read_delta(root);
    if (name == names.text_done) return read_text_done(root, "text");
    const auto part = root.find("part");
    if (!part || text_at(*part, "type") != names.part_type) return fail(name + " needs a part");
    if (name == names.part_added) {
      if (phase_ != Phase::kItemAdded) return fail("a part opens once");
      if (!text_at(*part, "text").empty()) return fail("a new part is empty");
      phase_ = Phase::kPartOpen;
    } else if (name == names.part_done) {
      if (phase_ != Phase::kTextDone) return fail("a part closes after its text");
      if (text_at(*part, "text") != items_.back().text) return fail("the part has another text");
      phase_ = Phase::kPartDone;
    } else {
      fail("unexpected " + name);
    }
  }

  void read_call(const std::string& name, const JsonPlace& root) {
    if (name == "function_call_arguments.delta") return read_delta(root);
    if (name != "function_call_arguments.done") return fail("unexpected " + name);
    read_text_done(root, "arguments");
    const auto document = parse_json(items_.back().text);
    if (!document.ok() || !document->root().is_object()) fail("arguments must be one object");
    phase_ = Phase::kPartDone;
  }

  void read_delta(const JsonPlace& root) {
    if (phase_ != Phase::kPartOpen) return fail("a delta needs an open part");
    if (text_at(root, "delta").empty()) return fail("an empty delta");
    items_.back().text += text_at(root, "delta");
  }

  void read_text_done(const JsonPlace& root, std::string_view member) {
    if (phase_ != Phase::kPartOpen) return fail("a text ends once");
    if (text_at(root, member) != items_.back().text) return fail("the deltas make another text");
    phase_ = Phase::kTextDone;
  }

  void read_item_done(const JsonPlace& root) {
    if (phase_ != Phase::kPartDone) return fail("an item closes after its parts");
    const auto item = root.find("item");
    if (!item || text_at(*item, "id") != items_.back().id) return fail("another item closes");
    if (number_at(root, "output_index") != static_cast<std::int64_t>(items_.size()) - 1) {
      return fail("output_item.done of another index");
    }
    const std::string status = text_at(*item, "status");
    if (status != "completed" && status != "incomplete") return fail("a closed item has a status");
    done_items_.push_back(json_text(item->value()));
    phase_ = Phase::kNoItem;
  }

  void read_end(const std::string& name, const JsonPlace& root) {
    check_response(root, name);
    const auto response = root.find("response");
    if (!response || !fault_.empty()) return;
    end_ = name;
    if (const auto error = response->find("error")) error_code_ = text_at(*error, "code");
    if (name == "failed") {
      if (error_code_.empty()) fail("a failure needs a code");
      return;
    }
    if (phase_ != Phase::kNoItem) return fail("an item is still open at the end");
    if (!error_code_.empty()) return fail("an error without a failure");
    if ((name == "incomplete") != response->find("incomplete_details").has_value()) {
      return fail("incomplete_details go with an incomplete response");
    }
    const auto usage = response->find("usage");
    if (!usage) return fail("the usage is missing");
    if (number_at(*usage, "input_tokens") + number_at(*usage, "output_tokens") !=
        number_at(*usage, "total_tokens")) {
      return fail("the counts must add up");
    }
    usage_ = json_text(usage->value());
    check_output(*response);
  }

  void check_output(const JsonPlace& response) {
    const auto& output = response.value().at("output").as_array();
    if (output.size() != done_items_.size()) return fail("output must hold every item");
    for (std::size_t i = 0; i < output.size(); ++i) {
      if (json_text(output[i]) != done_items_[i]) return fail("output differs from what was sent");
    }
  }

  std::string fault_;
  std::string response_id_;
  std::int64_t next_number_ = 0;
  Phase phase_ = Phase::kNoItem;
  std::vector<Item> items_;
  std::vector<std::string> done_items_;
  std::set<std::string> ids_;
  std::string end_;
  std::string usage_;
  std::string error_code_;
};

}  // namespace zerohop
