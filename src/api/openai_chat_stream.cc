#include "api/openai_chat_stream.h"

#include <utility>
#include <variant>

#include "api/json_writer.h"
#include "api/openai_error_body.h"
#include "base/check.h"

namespace zerohop {

OpenAiChatStream::OpenAiChatStream(const OpenAiReplyHead& head, OpenAiReplyOptions options,
                                   std::uint32_t choices)
    : options_(options), choices_(choices), open_choices_(choices) {
  ZH_CHECK(choices > 0);
  prefix_ = "data: {";
  append_openai_head(head, "chat.completion.chunk", prefix_);
  prefix_.append(R"(,"choices":[)");
}

void OpenAiChatStream::append(std::uint32_t choice, const Event& event, std::string& out) {
  ZH_CHECK(!ended() && choice < choices_.size());
  Choice& state = choices_[choice];
  ZH_CHECK(state.state != State::kClosed);
  if (const auto* failed = std::get_if<Failed>(&event)) {
    append_failure(failed->error, out);
    failed_ = true;
    return;
  }
  ZH_CHECK((state.state == State::kWaiting) == std::holds_alternative<Started>(event));
  std::visit(
      Overloaded{[&](const Started&) {
                   state.state = State::kOpen;
                   begin_chunk(choice, out);
                   out.append(R"("role":"assistant","content":"")");
                   end_chunk(state, {}, out);
                 },
                 [&](const TextDelta& delta) { add_text(choice, "content", delta.text, out); },
                 [&](const ThinkingDelta& delta) {
                   add_text(choice, "reasoning_content", delta.text, out);
                 },
                 [&](const ToolCallStarted& call) { start_call(choice, call, out); },
                 [&](const ToolCallDelta& delta) { add_arguments(choice, delta, out); },
                 [&](const TokenLogprobs& token) {
                   if (!options_.logprobs) return;
                   if (!state.logprobs.empty()) state.logprobs.push_back(',');
                   append_openai_token(token, state.logprobs);
                 },
                 [&](const Finished& finished) { finish(choice, finished, out); },
                 [](const Failed&) {}},
      event);
}

void OpenAiChatStream::append_failure(const Error& error, std::string& out) const {
  out.append("data: ").append(openai_error_body(error)).append("\n\n");
}

void OpenAiChatStream::begin_chunk(std::uint32_t choice, std::string& out) const {
  out.append(prefix_).append(R"({"index":)");
  append_json_integer(choice, out);
  out.append(R"(,"delta":{)");
}

void OpenAiChatStream::end_chunk(Choice& state, std::string_view finish_reason, std::string& out) {
  out.append(R"(},"logprobs":)");
  if (state.logprobs.empty()) {
    out.append("null");
  } else {
    out.append(R"({"content":[)").append(state.logprobs).append(R"(],"refusal":null})");
    state.logprobs.clear();
  }
  out.append(R"(,"finish_reason":)");
  if (finish_reason.empty()) {
    out.append("null");
  } else {
    out.append("\"").append(finish_reason).append("\"");
  }
  out.append(options_.include_usage ? "}],\"usage\":null}\n\n" : "}]}\n\n");
}

void OpenAiChatStream::add_text(std::uint32_t choice, std::string_view field, std::string_view text,
                                std::string& out) {
  begin_chunk(choice, out);
  out.append("\"").append(field).append("\":");
  append_json_string(text, out);
  end_chunk(choices_[choice], {}, out);
}

void OpenAiChatStream::start_call(std::uint32_t choice, const ToolCallStarted& call,
                                  std::string& out) {
  Choice& state = choices_[choice];
  begin_chunk(choice, out);
  if (options_.legacy_functions) {
    out.append(R"("function_call":{"name":)");
    append_json_string(call.name, out);
    out.append(R"(,"arguments":""})");
  } else {
    out.append(R"("tool_calls":[{"index":)");
    append_json_integer(state.calls, out);
    out.append(R"(,"id":)");
    append_json_string(call.id, out);
    out.append(R"(,"type":"function","function":{"name":)");
    append_json_string(call.name, out);
    out.append(R"(,"arguments":""}}])");
  }
  ++state.calls;
  end_chunk(state, {}, out);
}

void OpenAiChatStream::add_arguments(std::uint32_t choice, const ToolCallDelta& delta,
                                     std::string& out) {
  Choice& state = choices_[choice];
  ZH_CHECK(state.calls > 0);
  begin_chunk(choice, out);
  if (options_.legacy_functions) {
    out.append(R"("function_call":{"arguments":)");
    append_json_string(delta.json, out);
    out.append("}");
  } else {
    out.append(R"("tool_calls":[{"index":)");
    append_json_integer(state.calls - 1, out);
    out.append(R"(,"function":{"arguments":)");
    append_json_string(delta.json, out);
    out.append("}}]");
  }
  end_chunk(state, {}, out);
}

void OpenAiChatStream::finish(std::uint32_t choice, const Finished& finished, std::string& out) {
  Choice& state = choices_[choice];
  state.state = State::kClosed;
  state.usage = finished.usage;
  begin_chunk(choice, out);
  end_chunk(state, openai_chat_finish_reason(finished.reason, options_), out);
  if (--open_choices_ == 0) end_answer(out);
}

void OpenAiChatStream::end_answer(std::string& out) {
  if (options_.include_usage) {
    std::vector<Usage> usages;
    usages.reserve(choices_.size());
    for (const Choice& choice : choices_) usages.push_back(choice.usage);
    out.append(prefix_).append(R"(],"usage":)");
    append_openai_usage(openai_usage(usages, choices_.size()), out);
    out.append("}\n\n");
  }
  out.append(kOpenAiDone);
}

}  // namespace zerohop
