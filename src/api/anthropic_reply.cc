#include "api/anthropic_reply.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "api/json_check.h"
#include "api/json_writer.h"
#include "base/check.h"

namespace zerohop {
namespace {

// The producer promises one JSON object. Should it be wrong, a call without arguments still is
// something that a client can answer, and a body that is no JSON is not.
std::string input_object(const std::string& text) {
  if (!is_json_object(text)) return "{}";
  std::string object;
  append_compact_json(text, object);
  return object;
}

}  // namespace

AnthropicReply::AnthropicReply(ReplyHead head, AnthropicReplyOptions options)
    : head_(std::move(head)), options_(std::move(options)) {}

void AnthropicReply::add(std::uint32_t choice, const Event& event) {
  ZH_CHECK(choice == 0);
  ZH_CHECK(!complete());
  std::visit(Overloaded{[&](const Started& started) { miss_ = started.miss; },
                        [&](const TextDelta& delta) { add_text(Kind::kText, delta.text); },
                        [&](const ThinkingDelta& delta) { add_text(Kind::kThinking, delta.text); },
                        [&](const ToolCallStarted& call) {
                          blocks_.push_back({Kind::kToolUse, {}, call.id, call.name});
                        },
                        [&](const ToolCallDelta& delta) {
                          ZH_CHECK(!blocks_.empty() && blocks_.back().kind == Kind::kToolUse);
                          blocks_.back().text.append(delta.json);
                        },
                        [](const TokenLogprobs&) {},
                        [&](const Finished& finished) { finished_ = finished; },
                        [&](const Failed& failed) { failure_ = failed.error; }},
             event);
}

void AnthropicReply::add_text(Kind kind, const std::string& text) {
  if (text.empty()) return;
  if (blocks_.empty() || blocks_.back().kind != kind) blocks_.push_back({kind, {}, {}, {}});
  blocks_.back().text.append(text);
}

void AnthropicReply::append_block(std::size_t index, std::string& body) const {
  const Block& block = blocks_[index];
  switch (block.kind) {
    case Kind::kText:
      body.append(R"({"type":"text","text":)");
      append_json_string(block.text, body);
      body.push_back('}');
      break;
    case Kind::kThinking: {
      const bool shown = options_.thinking == ThinkingDisplay::kShown;
      body.append(R"({"type":"thinking","thinking":)");
      append_json_string(shown ? std::string_view(block.text) : std::string_view(), body);
      body.append(R"(,"signature":")");
      body.append(thinking_signature(head_.message_id, static_cast<std::uint32_t>(index)));
      body.append(R"("})");
      break;
    }
    case Kind::kToolUse:
      append_tool_use({block.id, block.name, input_object(block.text)}, options_, body);
      break;
  }
}

void AnthropicReply::append_content(std::string& body) const {
  body.append(R"(,"content":[)");
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (i > 0) body.push_back(',');
    append_block(i, body);
  }
  body.append("]");
}

std::string AnthropicReply::body() const {
  ZH_CHECK(finished_.has_value());
  constexpr std::size_t kFrameBytes = 512;
  std::size_t text_bytes = 0;
  for (const Block& block : blocks_) text_bytes += block.text.size();
  std::string body;
  body.reserve(text_bytes + text_bytes / 16 + kFrameBytes);
  body.push_back('{');
  append_anthropic_head(head_, body);
  append_content(body);
  body.push_back(',');
  const bool calls =
      std::ranges::any_of(blocks_, [](const Block& block) { return block.kind == Kind::kToolUse; });
  append_anthropic_stop(reason_with_calls(finished_->reason, calls), finished_->stop_sequence,
                        body);
  body.append(R"(,"usage":)");
  append_anthropic_usage(finished_->usage, options_, body);
  append_context_management(options_, body);
  append_diagnostics(options_, miss_, body);
  if (!options_.constraint_relaxed.empty()) {
    body.append(R"(,"constraint_relaxed":)");
    append_json_string(options_.constraint_relaxed, body);
  }
  body.push_back('}');
  return body;
}

std::string count_tokens_body(std::uint32_t prompt_tokens) {
  std::string body = R"({"input_tokens":)";
  append_json_integer(prompt_tokens, body);
  body.push_back('}');
  return body;
}

}  // namespace zerohop
