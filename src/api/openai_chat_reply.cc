#include "api/openai_chat_reply.h"

#include <utility>
#include <variant>

#include "api/json_writer.h"
#include "base/check.h"

namespace zerohop {

OpenAiChatReply::OpenAiChatReply(OpenAiReplyHead head, OpenAiReplyOptions options,
                                 std::uint32_t choices)
    : head_(std::move(head)), options_(options), choices_(choices), open_choices_(choices) {
  ZH_CHECK(choices > 0);
}

void OpenAiChatReply::add(std::uint32_t choice, const Event& event) {
  ZH_CHECK(!complete() && choice < choices_.size());
  Choice& state = choices_[choice];
  ZH_CHECK(!state.finished);
  std::visit(Overloaded{[](const Started&) {},
                        [&](const TextDelta& delta) { state.text.append(delta.text); },
                        [&](const ThinkingDelta& delta) { state.thinking.append(delta.text); },
                        [&](const ToolCallStarted& call) {
                          state.calls.push_back({call, {}});
                        },
                        [&](const ToolCallDelta& delta) {
                          ZH_CHECK(!state.calls.empty());
                          state.calls.back().arguments.append(delta.json);
                        },
                        [&](const TokenLogprobs& token) {
                          if (!options_.logprobs) return;
                          if (!state.logprobs.empty()) state.logprobs.push_back(',');
                          append_openai_token(token, state.logprobs);
                        },
                        [&](const Finished& finished) {
                          state.finished = finished;
                          --open_choices_;
                        },
                        [&](const Failed& failed) { failure_ = failed.error; }},
             event);
}

std::string OpenAiChatReply::body() const {
  ZH_CHECK(complete() && !failure_);
  std::vector<Usage> usages;
  for (const Choice& choice : choices_) usages.push_back(choice.finished->usage);
  std::string body = "{";
  append_openai_head(head_, "chat.completion", body);
  body.append(R"(,"choices":[)");
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (i > 0) body.push_back(',');
    append_choice(i, body);
  }
  body.append(R"(],"usage":)");
  append_openai_usage(openai_usage(usages, choices_.size()), body);
  body.push_back('}');
  return body;
}

void OpenAiChatReply::append_choice(std::size_t index, std::string& out) const {
  const Choice& choice = choices_[index];
  out.append(R"({"index":)");
  append_json_integer(static_cast<std::int64_t>(index), out);
  out.append(R"(,"message":)");
  append_message(choice, out);
  out.append(R"(,"logprobs":)");
  if (options_.logprobs) {
    out.append(R"({"content":[)").append(choice.logprobs).append(R"(],"refusal":null})");
  } else {
    out.append("null");
  }
  out.append(R"(,"finish_reason":")");
  out.append(openai_chat_finish_reason(choice.finished->reason, options_)).append("\"}");
}

void OpenAiChatReply::append_message(const Choice& choice, std::string& out) const {
  out.append(R"({"role":"assistant","content":)");
  if (choice.text.empty() && !choice.calls.empty()) {
    out.append("null");
  } else {
    append_json_string(choice.text, out);
  }
  out.append(R"(,"refusal":null)");
  if (!choice.thinking.empty()) {
    out.append(R"(,"reasoning_content":)");
    append_json_string(choice.thinking, out);
  }
  if (!choice.calls.empty()) append_calls(choice, out);
  out.push_back('}');
}

void OpenAiChatReply::append_calls(const Choice& choice, std::string& out) const {
  const auto append_function = [&](const Call& call) {
    out.append(R"({"name":)");
    append_json_string(call.head.name, out);
    out.append(R"(,"arguments":)");
    append_json_string(call.arguments, out);
    out.push_back('}');
  };
  if (options_.legacy_functions) {
    out.append(R"(,"function_call":)");
    return append_function(choice.calls.front());
  }
  out.append(R"(,"tool_calls":)");
  char separator = '[';
  for (const Call& call : choice.calls) {
    out.push_back(separator);
    out.append(R"({"id":)");
    append_json_string(call.head.id, out);
    out.append(R"(,"type":"function","function":)");
    append_function(call);
    out.push_back('}');
    separator = ',';
  }
  out.push_back(']');
}

}  // namespace zerohop
