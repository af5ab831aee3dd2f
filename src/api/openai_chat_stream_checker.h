// For tests: reads the bytes of a chat completions stream as the strictest client would and names
// the first rule that they break. Written against the protocol, not against OpenAiChatStream.
// Source: Chat Completions API, streaming.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json_place.h"
#include "api/json_value_writer.h"
#include "api/openai_sse_frames.h"

namespace zerohop {

/// What was asked for, so what must come.
struct OpenAiStreamExpectation {
  std::size_t choices = 1;
  bool include_usage = false;
  bool logprobs = false;
};

class OpenAiChatStreamChecker {
 public:
  struct Call {
    std::string id;
    std::string name;
    std::string arguments;
  };
  struct Choice {
    bool has_role = false;
    std::string text;
    std::string thinking;
    std::vector<Call> calls;
    std::string finish_reason;
    std::string logprob_tokens;  // the tokens of logprobs.content, joined
  };

  explicit OpenAiChatStreamChecker(OpenAiStreamExpectation expected) : expected_(expected) {}

  /// `stream` holds whole frames. May be called again with what follows.
  void feed(std::string_view stream) {
    OpenAiFrameCutter frames(stream);
    while (!frames.done() && fault_.empty()) {
      const OpenAiFrame frame = frames.next();
      if (!frames.fault().empty()) return fail(frames.fault());
      if (!frame.comment) read_frame(frame);
    }
  }

  /// Empty while every rule holds.
  const std::string& fault() const { return fault_; }
  /// [DONE] or an error has been seen.
  bool ended() const { return done_ || failed_; }
  bool failed() const { return failed_; }
  const Choice& choice(std::size_t index) { return choices_[index]; }
  std::string usage() const { return usage_; }
  const std::string& error() const { return error_; }

 private:
  void fail(std::string what) {
    if (fault_.empty()) fault_ = std::move(what);
  }

  static std::string text_at(const JsonPlace& place, std::string_view key) {
    const auto member = place.find(key);
    return member && member->is_string() ? std::string(member->string().value()) : std::string();
  }

  static bool has(const JsonPlace& place, std::string_view key) {
    const auto* object = place.value().if_object();
    return object != nullptr && object->if_contains(key) != nullptr;
  }

  void read_frame(const OpenAiFrame& frame) {
    if (ended()) return fail("nothing may follow the end");
    if (!frame.name.empty()) return fail("frames have no names");
    if (frame.data == "[DONE]") return read_done();
    const auto document = parse_json(frame.data);
    if (!document.ok()) return fail(document.error().message);
    const JsonPlace root(document->root());
    if (root.find("error")) return read_error(root);
    read_chunk(root);
  }

  void read_done() {
    if (finished_ != expected_.choices) return fail("[DONE] before every choice has finished");
    if (expected_.include_usage && usage_.empty()) return fail("the usage is missing");
    done_ = true;
  }

  void read_error(const JsonPlace& root) {
    const auto error = root.find("error");
    if (text_at(*error, "message").empty() || text_at(*error, "type").empty() ||
        !has(*error, "param") || !has(*error, "code")) {
      return fail("an error needs message, type, param and code");
    }
    error_ = text_at(*error, "message");
    failed_ = true;
  }

  void read_chunk(const JsonPlace& root) {
    if (text_at(root, "object") != "chat.completion.chunk") return fail("wrong object");
    const std::string head = text_at(root, "id") + "|" + text_at(root, "model") + "|" +
                             text_at(root, "system_fingerprint");
    if (!text_at(root, "id").starts_with("chatcmpl-")) return fail("wrong id");
    const auto created = root.find("created");
    if (!created || !created->value().is_int64()) return fail("created must be a number");
    if (head_.empty()) head_ = head;
    if (head != head_) return fail("id, model and fingerprint must stay the same");
    const auto choices = root.find("choices");
    if (!choices || !choices->is_array()) return fail("choices must be an array");
    const std::size_t count = choices->value().as_array().size();
    if (count == 0) return read_usage(root);
    if (has(root, "usage") != expected_.include_usage || root.find("usage")) {
      return fail("usage must be null when it was asked for, else absent");
    }
    for (std::size_t i = 0; i < count && fault_.empty(); ++i) read_choice(choices->element(i));
  }

  void read_usage(const JsonPlace& root) {
    if (!expected_.include_usage) return fail("a usage that nobody asked for");
    if (finished_ != expected_.choices) return fail("the usage comes last");
    if (!usage_.empty()) return fail("the usage came twice");
    const auto usage = root.find("usage");
    if (!usage || !usage->value().is_object()) return fail("usage must be an object");
    const auto& object = usage->value().as_object();
    const auto number = [&](const char* key) {
      const auto* value = object.if_contains(key);
      return value != nullptr && value->is_int64() ? value->as_int64() : -1;
    };
    if (number("prompt_tokens") < 0 || number("completion_tokens") < 0 ||
        number("prompt_tokens") + number("completion_tokens") != number("total_tokens")) {
      return fail("the counts must add up");
    }
    usage_ = json_text(usage->value());
  }

  void read_choice(const JsonPlace& place) {
    const auto index = place.find("index");
    if (!index || !index->value().is_int64()) return fail("a choice needs an index");
    const auto position = static_cast<std::size_t>(index->value().as_int64());
    if (position >= expected_.choices) return fail("an index out of range");
    Choice& choice = choices_[position];
    if (!choice.finish_reason.empty()) return fail("nothing may follow the finish reason");
    if (!has(place, "finish_reason")) return fail("finish_reason must be there");
    const auto delta = place.find("delta");
    if (!delta || !delta->value().is_object()) return fail("a choice needs a delta");
    read_logprobs(place, choice);
    read_delta(*delta, choice);
    const auto reason = place.find("finish_reason");
    if (!reason) {
      if (delta->value().as_object().empty()) fail("an empty delta before the end");
      return;
    }
    read_finish(*delta, text_at(place, "finish_reason"), choice);
  }

  void read_finish(const JsonPlace& delta, std::string reason, Choice& choice) {
    constexpr std::array<std::string_view, 4> kReasons{"stop", "length", "tool_calls",
                                                       "content_filter"};
    bool known = false;
    for (const std::string_view one : kReasons) known = known || one == reason;
    if (!known) return fail("unknown finish reason " + reason);
    if (!delta.value().as_object().empty()) return fail("the last delta must be empty");
    if (!choice.has_role) return fail("a choice must begin with its role");
    if (reason == "tool_calls" && choice.calls.empty()) return fail("tool_calls without calls");
    if (reason == "stop" && !choice.calls.empty()) return fail("calls must end with tool_calls");
    check_arguments(choice);
    choice.finish_reason = std::move(reason);
    ++finished_;
  }

  void read_delta(const JsonPlace& delta, Choice& choice) {
    constexpr std::array<std::string_view, 4> kMembers{"role", "content", "reasoning_content",
                                                       "tool_calls"};
    for (const auto& member : delta.value().as_object()) {
      bool known = false;
      for (const std::string_view one : kMembers) known = known || one == member.key();
      if (!known) return fail("unknown member of a delta");
    }
    if (has(delta, "role")) {
      if (choice.has_role) return fail("the role came twice");
      if (text_at(delta, "role") != "assistant") return fail("the role must be assistant");
      choice.has_role = true;
    } else if (!choice.has_role) {
      return fail("the first delta must carry the role");
    }
    choice.text += text_at(delta, "content");
    choice.thinking += text_at(delta, "reasoning_content");
    if (const auto calls = delta.find("tool_calls")) read_calls(*calls, choice);
  }

  void read_calls(const JsonPlace& calls, Choice& choice) {
    if (!calls.is_array() || calls.value().as_array().size() != 1) {
      return fail("tool_calls must hold one entry");
    }
    const JsonPlace call = calls.element(0);
    const auto index = call.find("index");
    const auto function = call.find("function");
    if (!index || !index->value().is_int64() || !function) {
      return fail("a tool call needs index and function");
    }
    const auto position = static_cast<std::size_t>(index->value().as_int64());
    if (position == choice.calls.size()) {
      check_arguments(choice);
      if (text_at(call, "id").empty() || text_at(call, "type") != "function" ||
          text_at(*function, "name").empty()) {
        return fail("a new call needs id, type and name");
      }
      choice.calls.push_back({text_at(call, "id"), text_at(*function, "name"), {}});
    } else if (position + 1 != choice.calls.size()) {
      return fail("indices of calls must run without gaps");
    } else if (has(call, "id") || has(call, "type") || has(*function, "name")) {
      return fail("id, type and name come once");
    }
    if (!has(*function, "arguments")) return fail("arguments must be there");
    choice.calls.back().arguments += text_at(*function, "arguments");
  }

  void check_arguments(const Choice& choice) {
    if (choice.calls.empty()) return;
    const auto document = parse_json(choice.calls.back().arguments);
    if (!document.ok() || !document->root().is_object()) fail("arguments must be one object");
  }

  void read_logprobs(const JsonPlace& place, Choice& choice) {
    if (!has(place, "logprobs")) return fail("logprobs must be there");
    const auto logprobs = place.find("logprobs");
    if (!logprobs) return;
    if (!expected_.logprobs) return fail("logprobs that nobody asked for");
    const auto content = logprobs->find("content");
    if (!content || !content->is_array()) return fail("logprobs need content");
    for (std::size_t i = 0; i < content->value().as_array().size(); ++i) {
      const JsonPlace token = content->element(i);
      read_token(token);
      choice.logprob_tokens += text_at(token, "token");
      const auto top = token.find("top_logprobs");
      if (!top || !top->is_array()) return fail("a token needs top_logprobs");
      for (std::size_t k = 0; k < top->value().as_array().size(); ++k) read_token(top->element(k));
    }
  }

  void read_token(const JsonPlace& token) {
    const auto logprob = token.find("logprob");
    if (!has(token, "token") || !has(token, "bytes") || !logprob ||
        !logprob->number({-9999, 0}).ok()) {
      fail("a token needs token, bytes and a logprob of at most 0");
    }
  }

  const OpenAiStreamExpectation expected_;
  std::string fault_;
  std::string head_;
  std::string usage_;
  std::string error_;
  std::map<std::size_t, Choice> choices_;
  std::size_t finished_ = 0;
  bool done_ = false;
  bool failed_ = false;
};

}  // namespace zerohop
