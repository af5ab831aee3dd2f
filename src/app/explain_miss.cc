#include "app/explain_miss.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <utility>

#include "api/anthropic_request.h"
#include "api/openai_chat_request.h"
#include "app/cache_misses.h"
#include "app/json_text.h"
#include "app/tokenize_text.h"
#include "cache/miss_explainer.h"
#include "cache/sorted_prompts.h"

namespace zerohop {
namespace {

namespace json = boost::json;

// Tokens shown in front of the difference and behind it.
constexpr std::size_t kBefore = 8;
constexpr std::size_t kBehind = 16;

std::string_view part_of(const PreparedPrompt& prompt, std::size_t position) {
  const std::size_t system_end = prompt.sections.system_end;
  const std::size_t tools_end = prompt.sections.tools_end;
  // Whichever comes first in the template.
  if (position < system_end && (tools_end >= system_end || position >= tools_end)) {
    return "system prompt";
  }
  if (position < tools_end) return "tools";
  return "messages";
}

std::string shown(const PreparedPrompt& prompt, std::size_t position, const Tokenizer& tokenizer) {
  const std::size_t begin = position - std::min(position, kBefore);
  const std::size_t end = std::min(position + kBehind, prompt.tokens.size());
  const TokenSpan tokens(prompt.tokens);
  return quoted_piece(tokenizer.detokenize(tokens.subspan(begin, position - begin))) + " then " +
         quoted_piece(tokenizer.detokenize(tokens.subspan(position, end - position)));
}

CacheMiss miss_between(const PreparedPrompt& first, const PreparedPrompt& second,
                       std::size_t common) {
  MissExplainer explainer;
  // The same key: the caller says that one follows the other.
  constexpr std::uint64_t kKey = 1;
  explainer.explain({first.tokens, first.sections, kPublicScope, kKey}, 0, CacheCap::kNone);
  return explainer.explain({second.tokens, second.sections, kPublicScope, kKey},
                           static_cast<std::int32_t>(common), CacheCap::kNone);
}

std::string count_line(std::string_view name, const PreparedPrompt& prompt) {
  std::string line(name);
  line.append(": ").append(std::to_string(prompt.tokens.size())).append(" tokens");
  if (prompt.sections.system_end > 0) {
    line.append(", system prompt up to ").append(std::to_string(prompt.sections.system_end));
  }
  if (prompt.sections.tools_end > 0) {
    line.append(", tools up to ").append(std::to_string(prompt.sections.tools_end));
  }
  return line + "\n";
}

std::uint64_t count_at(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr || !value->is_number()) return 0;
  boost::system::error_code fault;
  const auto number = value->to_number<std::uint64_t>(fault);
  return fault ? 0 : number;
}

std::string miss_line(const json::object& miss) {
  std::string line(text_at(miss, "time"));
  line.append("  ").append(text_at(miss, "request_id"));
  line.append("  ").append(text_at(miss, "cause"));
  line.append("  ").append(std::to_string(count_at(miss, "cached_tokens")));
  line.append(" of ").append(std::to_string(count_at(miss, "prompt_tokens")));
  line.append(" tokens found");
  if (const std::uint64_t missed = count_at(miss, "missed_tokens"); missed > 0) {
    line.append(", ").append(std::to_string(missed)).append(" more could have been");
  }
  line.append("\n    ").append(text_at(miss, "advice")).append("\n");
  return line;
}

}  // namespace

Result<Conversation> conversation_of(std::string_view body) {
  Result<AnthropicRequest> anthropic = parse_messages_request(body, {});
  if (anthropic.ok()) return std::move(anthropic->chat.conversation);
  Result<OpenAiChatRequest> openai = parse_chat_completions_request(body, {});
  if (openai.ok()) return std::move(openai->chat.conversation);
  return anthropic.error();
}

Result<std::string> compare_prompts(const PromptPair& pair, const PromptStage& prompts,
                                    const Tokenizer& tokenizer) {
  ZH_ASSIGN_OR_RETURN(const PreparedPrompt first, prompts.prepare(pair.first));
  ZH_ASSIGN_OR_RETURN(const PreparedPrompt second, prompts.prepare(pair.second));
  const std::size_t common = common_prefix(first.tokens, second.tokens);
  std::string text = count_line(pair.first_name, first) + count_line(pair.second_name, second);
  text += "the first " + std::to_string(common) + " tokens are the same\n";
  if (common == second.tokens.size() || common == first.tokens.size()) {
    return text + "nothing keeps the second from reusing all of the shorter one\n";
  }
  text += "the first difference lies in the " + std::string(part_of(second, common)) + ":\n";
  text += "  " + std::string(pair.first_name) + ": " + shown(first, common, tokenizer) + "\n";
  text += "  " + std::string(pair.second_name) + ": " + shown(second, common, tokenizer) + "\n";
  const CacheMiss miss = miss_between(first, second, common);
  if (miss.missed_tokens > 0) {
    text += std::to_string(miss.missed_tokens) + " tokens behind it could have been reused\n";
  }
  return text + miss_advice(miss) + "\n";
}

Result<std::string> misses_text(std::string_view body) {
  boost::system::error_code fault;
  const json::value parsed = json::parse({body.data(), body.size()}, fault);
  const json::object* root = fault ? nullptr : parsed.if_object();
  const json::value* data = root == nullptr ? nullptr : root->if_contains("data");
  const json::array* misses = data == nullptr ? nullptr : data->if_array();
  if (misses == nullptr) return invalid_request("", "this is no answer of /v1/cache/misses");
  if (misses->empty()) return std::string("no misses were recorded\n");
  std::string text;
  for (auto miss = misses->rbegin(); miss != misses->rend(); ++miss) {
    if (const json::object* object = miss->if_object()) text += miss_line(*object);
  }
  return text;
}

}  // namespace zerohop
