#include "api/openai_completions_reply.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "api/json_writer.h"
#include "api/openai_error_body.h"
#include "base/check.h"
#include "base/utf8.h"

namespace zerohop {
namespace {

// The text of an event that has one; crashes for events that completions never see.
std::string_view text_of(const Event& event) {
  if (const auto* delta = std::get_if<TextDelta>(&event)) return delta->text;
  const auto* thinking = std::get_if<ThinkingDelta>(&event);
  ZH_CHECK(thinking != nullptr);
  return thinking->text;
}

void append_finish_reason(std::string_view reason, std::string& out) {
  out.append(R"(,"finish_reason":)");
  if (reason.empty()) {
    out.append("null");
  } else {
    out.append("\"").append(reason).append("\"");
  }
}

void begin_entry(std::string& list) { list.push_back(list.empty() ? '[' : ','); }

// `{TOKEN: LOGPROB, …}`. Keys must not repeat, so of tokens with the same text (halves of
// characters) the likeliest is shown.
void append_likeliest(const TokenLogprobs& token, std::string& out) {
  std::vector<std::string_view> shown;
  const auto add = [&](const TokenChance& chance) {
    if (std::find(shown.begin(), shown.end(), chance.bytes) != shown.end()) return;
    out.push_back(shown.empty() ? '{' : ',');
    shown.emplace_back(chance.bytes);
    append_json_untrusted(chance.bytes, out);
    out.push_back(':');
    append_openai_logprob(chance.logprob, out);
  };
  for (const TokenChance& chance : token.likeliest) add(chance);
  add(token.chosen);
  out.push_back('}');
}

}  // namespace

void OpenAiTokenLists::add(const TokenLogprobs& token) {
  begin_entry(tokens_);
  append_json_untrusted(token.chosen.bytes, tokens_);
  begin_entry(logprobs_);
  append_openai_logprob(token.chosen.logprob, logprobs_);
  begin_entry(likeliest_);
  append_likeliest(token, likeliest_);
  begin_entry(offsets_);
  append_json_integer(static_cast<std::int64_t>(characters_), offsets_);
  characters_ += utf8_characters(token.chosen.bytes);
}

void OpenAiTokenLists::flush(std::string& out) {
  const auto append_list = [&](std::string_view name, std::string& list) {
    out.append("\"").append(name).append("\":");
    if (list.empty()) out.push_back('[');
    out.append(list).append("]");
    list.clear();
  };
  out.push_back('{');
  append_list("tokens", tokens_);
  out.push_back(',');
  append_list("token_logprobs", logprobs_);
  out.push_back(',');
  append_list("top_logprobs", likeliest_);
  out.push_back(',');
  append_list("text_offset", offsets_);
  out.push_back('}');
}

// ---- Streamed ----

OpenAiCompletionsStream::OpenAiCompletionsStream(OpenAiCompletionsReplyOptions options)
    : options_(std::move(options)),
      choices_(options_.choices()),
      open_choices_(options_.choices()) {
  ZH_CHECK(open_choices_ > 0);
  prefix_ = "data: {";
  append_openai_head(options_.head, "text_completion", prefix_);
  prefix_.append(R"(,"choices":[)");
}

void OpenAiCompletionsStream::append_failure(const Error& error, std::string& out) const {
  out.append("data: ").append(openai_error_body(error)).append("\n\n");
}

void OpenAiCompletionsStream::append(std::uint32_t choice, const Event& event, std::string& out) {
  ZH_CHECK(!ended() && choice < choices_.size());
  Choice& state = choices_[choice];
  ZH_CHECK(!state.usage);
  if (const auto* failed = std::get_if<Failed>(&event)) {
    append_failure(failed->error, out);
    failed_ = true;
    return;
  }
  ZH_CHECK(state.started != std::holds_alternative<Started>(event));
  if (std::holds_alternative<Started>(event)) {
    state.started = true;
    const std::string& echo = options_.echo_of(choice);
    if (!echo.empty()) write_chunk({choice, echo, {}}, out);
  } else if (const auto* token = std::get_if<TokenLogprobs>(&event)) {
    if (options_.reply.logprobs) state.logprobs.add(*token);
  } else if (const auto* finished = std::get_if<Finished>(&event)) {
    finish(choice, *finished, out);
  } else {
    write_chunk({choice, text_of(event), {}}, out);
  }
}

void OpenAiCompletionsStream::write_chunk(const Chunk& chunk, std::string& out) {
  Choice& state = choices_[chunk.choice];
  out.append(prefix_).append(R"({"text":)");
  append_json_string(chunk.text, out);
  out.append(R"(,"index":)");
  append_json_integer(chunk.choice, out);
  out.append(R"(,"logprobs":)");
  if (state.logprobs.empty()) {
    out.append("null");
  } else {
    state.logprobs.flush(out);
  }
  append_finish_reason(chunk.finish_reason, out);
  out.append(options_.reply.include_usage ? "}],\"usage\":null}\n\n" : "}]}\n\n");
}

void OpenAiCompletionsStream::finish(std::uint32_t choice, const Finished& finished,
                                     std::string& out) {
  choices_[choice].usage = finished.usage;
  write_chunk({choice, {}, openai_finish_reason(finished.reason)}, out);
  if (--open_choices_ > 0) return;
  if (options_.reply.include_usage) {
    std::vector<Usage> usages;
    for (const Choice& state : choices_) usages.push_back(*state.usage);
    out.append(prefix_).append(R"(],"usage":)");
    append_openai_usage(openai_usage(usages, options_.choices_per_prompt), out);
    out.append("}\n\n");
  }
  out.append(kOpenAiDone);
}

// ---- Whole ----

OpenAiCompletionsReply::OpenAiCompletionsReply(OpenAiCompletionsReplyOptions options)
    : options_(std::move(options)),
      choices_(options_.choices()),
      open_choices_(options_.choices()) {
  ZH_CHECK(open_choices_ > 0);
  for (std::uint32_t i = 0; i < choices_.size(); ++i) choices_[i].text = options_.echo_of(i);
}

void OpenAiCompletionsReply::add(std::uint32_t choice, const Event& event) {
  ZH_CHECK(!complete() && choice < choices_.size());
  Choice& state = choices_[choice];
  ZH_CHECK(!state.finished);
  if (const auto* failed = std::get_if<Failed>(&event)) {
    failure_ = failed->error;
  } else if (const auto* finished = std::get_if<Finished>(&event)) {
    state.finished = *finished;
    --open_choices_;
  } else if (const auto* token = std::get_if<TokenLogprobs>(&event)) {
    if (options_.reply.logprobs) state.logprobs.add(*token);
  } else if (!std::holds_alternative<Started>(event)) {
    state.text.append(text_of(event));
  }
}

std::string OpenAiCompletionsReply::body() const {
  ZH_CHECK(complete() && !failure_);
  std::vector<Usage> usages;
  std::string body = "{";
  append_openai_head(options_.head, "text_completion", body);
  body.append(R"(,"choices":)");
  char separator = '[';
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    const Choice& choice = choices_[i];
    usages.push_back(choice.finished->usage);
    body.push_back(separator);
    separator = ',';
    body.append(R"({"text":)");
    append_json_string(choice.text, body);
    body.append(R"(,"index":)");
    append_json_integer(static_cast<std::int64_t>(i), body);
    body.append(R"(,"logprobs":)");
    if (options_.reply.logprobs) {
      OpenAiTokenLists lists = choice.logprobs;
      lists.flush(body);
    } else {
      body.append("null");
    }
    append_finish_reason(openai_finish_reason(choice.finished->reason), body);
    body.push_back('}');
  }
  body.append(R"(],"usage":)");
  append_openai_usage(openai_usage(usages, options_.choices_per_prompt), body);
  body.push_back('}');
  return body;
}

}  // namespace zerohop
