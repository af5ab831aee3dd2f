#include "script.h"

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace zerohop {
namespace {

namespace json = boost::json;

Error fault_of(std::size_t rule, const std::string& what) {
  return {ErrorCode::kConfiguration,
          "rule " + std::to_string(rule) + " of the script: " + what,
          "",
          {}};
}

Result<std::string> text_member(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr) return std::string();
  if (!value->is_string()) {
    return Error{ErrorCode::kConfiguration, std::string(key) + " must be a string", "", {}};
  }
  return std::string(value->as_string());
}

Result<std::optional<std::uint32_t>> number_member(const json::object& object,
                                                   std::string_view key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr) return std::optional<std::uint32_t>();
  if (!value->is_int64() || value->as_int64() < 0 || value->as_int64() > 1'000'000) {
    return Error{ErrorCode::kConfiguration, std::string(key) + " must be 0 to 1000000", "", {}};
  }
  return std::optional(static_cast<std::uint32_t>(value->as_int64()));
}

std::string repeated(const std::string& text, std::uint32_t times) {
  std::string result;
  result.reserve(text.size() * times);
  for (std::uint32_t i = 0; i < times; ++i) result += text;
  return result;
}

Result<ScriptRule> parse_rule(const json::object& object) {
  for (const auto& member : object) {
    constexpr std::string_view kKeys[] = {"last",     "anywhere", "reply", "repeat",
                                          "delay_ms", "fail_at",  "tokens"};
    if (std::find(std::begin(kKeys), std::end(kKeys), member.key()) == std::end(kKeys)) {
      return Error{ErrorCode::kConfiguration, "unknown key " + std::string(member.key()), "", {}};
    }
  }
  ScriptRule rule;
  ZH_ASSIGN_OR_RETURN(rule.last, text_member(object, "last"));
  ZH_ASSIGN_OR_RETURN(rule.anywhere, text_member(object, "anywhere"));
  ZH_ASSIGN_OR_RETURN(const std::string reply, text_member(object, "reply"));
  ZH_ASSIGN_OR_RETURN(const std::optional<std::uint32_t> repeat, number_member(object, "repeat"));
  ZH_ASSIGN_OR_RETURN(const std::optional<std::uint32_t> delay, number_member(object, "delay_ms"));
  ZH_ASSIGN_OR_RETURN(rule.fail_at, number_member(object, "fail_at"));
  ZH_ASSIGN_OR_RETURN(const std::string tokens, text_member(object, "tokens"));
  rule.reply = repeated(reply, repeat.value_or(1));
  rule.delay_ms = delay.value_or(0);
  if (tokens == "bytes") rule.tokens = ReplyTokens::kBytes;
  return rule;
}

std::string text_of(const Model& model, TokenSpan tokens) {
  std::string text;
  for (const Token token : tokens) text += model.tokenizer().table().bytes(token);
  return text;
}

constexpr std::string_view kAssistant = "assistant\n";

// Where the turns of a sequence begin: the places of their opening control tokens.
std::vector<std::size_t> turns_of(TokenSpan tokens) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] == FakeTokens::kBegin) places.push_back(i);
  }
  return places;
}

// A real model takes its time; tests that interrupt one need that.
void wait_real_time(std::uint32_t milliseconds) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, std::chrono::milliseconds(milliseconds), [] { return false; });
}

// A step that fails is repeated once; the request fails with the second.
constexpr int kFaults = 2;

// The model's side of a script, on the engine thread.
class ScriptedModel {
 public:
  ScriptedModel(Script script, const FakeModelOptions& options)
      : script_(std::move(script)), model_(make_fake_model(options)) {}

  std::optional<Token> next(TokenSpan tokens) {
    const std::optional<PromptView> prompt = view_prompt(*model_, tokens);
    if (!prompt) return std::nullopt;
    const ScriptRule* rule = choose_rule(script_, *prompt);
    if (rule == nullptr) rule = &no_rule_;
    if (rule->fail_at && prompt->answer.size() >= *rule->fail_at) faults_left_ = kFaults;
    if (rule->delay_ms != 0) wait_real_time(rule->delay_ms);
    return next_token(*model_, *rule, prompt->answer);
  }

  DecodeStatus status() {
    if (faults_left_ == 0) return DecodeStatus::kOk;
    --faults_left_;
    return DecodeStatus::kFatal;
  }

 private:
  const Script script_;
  const std::unique_ptr<Model> model_;  // for its vocabulary
  const ScriptRule no_rule_{.reply = std::string(kNoRuleReply)};
  int faults_left_ = 0;
};

}  // namespace

Result<Script> parse_script(std::string_view text) {
  boost::system::error_code fault;
  const json::value parsed = json::parse({text.data(), text.size()}, fault);
  if (fault || !parsed.is_array()) {
    return Error{ErrorCode::kConfiguration, "the script must be a JSON array of rules", "", {}};
  }
  Script script;
  for (const json::value& value : parsed.as_array()) {
    if (!value.is_object()) return fault_of(script.size(), "not an object");
    Result<ScriptRule> rule = parse_rule(value.as_object());
    if (!rule.ok()) return fault_of(script.size(), rule.error().message);
    script.push_back(*std::move(rule));
  }
  return script;
}

std::optional<PromptView> view_prompt(const Model& model, TokenSpan tokens) {
  const std::vector<std::size_t> turns = turns_of(tokens);
  if (turns.empty()) return std::nullopt;
  const std::string open = text_of(model, tokens.subspan(turns.back()));
  if (!open.starts_with(kAssistant)) return std::nullopt;
  PromptView view;
  view.all = text_of(model, tokens.first(turns.back()));
  view.answer = open.substr(kAssistant.size());
  std::size_t said = 0;  // where the text behind the model's last turn begins
  for (std::size_t i = turns.size() - 1; i-- > 0;) {
    const std::string turn = text_of(model, tokens.subspan(turns[i], turns[i + 1] - turns[i]));
    if (turn.starts_with(kAssistant)) {
      said = turns[i + 1];
      break;
    }
  }
  view.last = text_of(model, tokens.subspan(said, turns.back() - said));
  return view;
}

const ScriptRule* choose_rule(const Script& script, const PromptView& prompt) {
  const auto fits = [&prompt](const ScriptRule& rule) {
    return prompt.last.find(rule.last) != std::string::npos &&
           prompt.all.find(rule.anywhere) != std::string::npos;
  };
  const auto found = std::find_if(script.begin(), script.end(), fits);
  return found == script.end() ? nullptr : &*found;
}

Token next_token(const Model& model, const ScriptRule& rule, std::string_view answer) {
  // Prompts open a thought, or show an empty one, as the client asks; replies need not care.
  constexpr std::string_view kOpenThought = "<think>\n";
  constexpr std::string_view kEmptyThought = "<think>\n\n</think>\n\n";
  std::string reply = rule.reply;
  if (answer.starts_with(kEmptyThought)) {
    answer.remove_prefix(kEmptyThought.size());
  } else if (answer.starts_with(kOpenThought) && !reply.starts_with(kOpenThought)) {
    reply = std::string(kOpenThought) + "</think>\n\n" + reply;
  }
  // The end of the answer so far that is a beginning of the reply, as long as possible.
  std::size_t done = std::min(answer.size(), reply.size());
  while (!answer.ends_with(std::string_view(reply).substr(0, done))) --done;
  const std::string_view rest = std::string_view(reply).substr(done);
  if (rest.empty()) return FakeTokens::kEnd;
  if (rule.tokens == ReplyTokens::kBytes) return static_cast<unsigned char>(rest[0]);
  // No piece of the vocabulary is longer than this.
  constexpr std::size_t kPieceBytesMax = 16;
  return model.tokenizer().tokenize(rest.substr(0, kPieceBytesMax), SpecialTokens::kInert)[0];
}

FakeModelOptions scripted_model(Script script, FakeModelOptions options) {
  options.script_logit = 60.0f;  // clients do not ask for temperature 0
  const auto scripted = std::make_shared<ScriptedModel>(std::move(script), options);
  options.script = [scripted](TokenSpan tokens) { return scripted->next(tokens); };
  options.fault = [scripted](std::span<const BatchRow>) { return scripted->status(); };
  return options;
}

}  // namespace zerohop
