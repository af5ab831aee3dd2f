#include "model/llama_chat_template.h"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <exception>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "chat.h"
#include "llama.h"

namespace zerohop {
namespace {

constexpr std::string_view kAssistant = "assistant";

std::string format_date(WallTime time, const char* format) {
  const auto whole = std::chrono::time_point_cast<std::chrono::seconds>(time);
  const std::time_t seconds = whole.time_since_epoch().count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char buffer[64];
  return std::string(buffer, std::strftime(buffer, sizeof buffer, format, &parts));
}

// The library's report of a failure is a block of text: a header, the place in the template, then
// "Error: Jinja Exception: Conversation roles must alternate". Only the last part tells a client
// anything.
struct Failure {
  bool raised = false;  // by the template's author, with raise_exception()
  std::string message;
};

Failure trim_failure(std::string_view report) {
  constexpr std::string_view kError = "Error: ";
  constexpr std::string_view kRaised = "Jinja Exception: ";
  const std::size_t raised = report.find(kRaised);
  const std::size_t error = report.rfind(kError);
  if (raised != std::string_view::npos) {
    report.remove_prefix(raised + kRaised.size());
  } else if (error != std::string_view::npos) {
    report.remove_prefix(error + kError.size());
  }
  return {raised != std::string_view::npos, std::string(report.substr(0, report.find('\n')))};
}

class JinjaChatTemplate final : public ChatTemplate {
 public:
  JinjaChatTemplate(common_chat_templates_ptr templates, WallTime today)
      : templates_(std::move(templates)), today_(today) {
    // Values are JSON texts; a date needs no escapes.
    arguments_["date_string"] = '"' + format_date(today, "%d %b %Y") + '"';
    arguments_["datetime"] = '"' + format_date(today, "%b %d %Y") + '"';
    takes_system_ = common_chat_templates_get_caps(templates_.get()).at("supports_system_role");
    plain_way_ = way_for(plain_trials());
    rich_way_ = way_for(rich_trials());
    find_thinking_tags();
  }

  Result<std::string> render(const TemplateInput& input) const override {
    ZH_CHECK(!input.continue_last ||
             (!input.messages.empty() && input.messages.back().role == kAssistant));
    if (!takes_system_ && !input.messages.empty() && input.messages.front().role == "system") {
      // The library would glue it to the next message, in a way of its own.
      return invalid_request("system", "the model's chat template takes no system prompt");
    }
    const Way way = is_rich(input) ? rich_way_ : plain_way_;
    Result<std::string> prompt = render(input, way);
    // The analysis fails on some schemas of tools where rendering does not.
    if (!prompt.ok() && prompt.error().code == ErrorCode::kInternal && way == Way::kAnalysed) {
      Result<std::string> other = render(input, Way::kShort);
      if (other.ok()) return other;
    }
    return prompt;
  }

  bool from_model() const override { return true; }
  std::optional<TemplateThinkingTags> thinking_tags() const override { return thinking_tags_; }

 private:
  enum class Way : std::uint8_t { kShort, kAnalysed };

  // A conversation that the two ways are compared on.
  struct Trial {
    std::vector<TemplateMessage> messages;
    std::vector<TemplateTool> tools = {};
  };

  static bool is_rich(const TemplateInput& input) {
    return !input.tools.empty() || std::any_of(input.messages.begin(), input.messages.end(),
                                               [](const TemplateMessage& message) {
                                                 return !message.tool_calls.empty() ||
                                                        !message.reasoning.empty() ||
                                                        message.role == "tool";
                                               });
  }

  Result<std::string> render(const TemplateInput& input, Way way) const {
    try {
      return apply(input, way);
    } catch (const std::exception& exception) {
      Failure failure = trim_failure(exception.what());
      if (failure.raised) {
        return invalid_request(
            "messages", "the model's chat template refuses this conversation: " + failure.message);
      }
      return Error{
          ErrorCode::kInternal, "the model's chat template failed: " + failure.message, {}, {}};
    } catch (...) {
      return Error{ErrorCode::kInternal, "the model's chat template failed", {}, {}};
    }
  }

  std::string apply(const TemplateInput& input, Way way) const {
    common_chat_templates_inputs inputs;
    inputs.now = std::chrono::time_point_cast<std::chrono::system_clock::duration>(today_);
    inputs.chat_template_kwargs = arguments_;
    inputs.force_pure_content = way == Way::kShort;
    if (input.thinking) {
      inputs.enable_thinking = *input.thinking;
      // The second name is that of Granite and of DeepSeek.
      for (const char* name : {"enable_thinking", "thinking"}) {
        inputs.chat_template_kwargs[name] = *input.thinking ? "true" : "false";
      }
    }
    // An open last turn is the generation prompt with its text behind. The library does the same,
    // with care for thinking models, in its analysed way; but it forgets the prompt when the text
    // is empty.
    std::span<const TemplateMessage> messages = input.messages;
    const std::string open = input.continue_last ? messages.back().content : std::string();
    const bool append = input.continue_last && (way == Way::kShort || open.empty());
    if (input.continue_last && !append) {
      inputs.continue_final_message = COMMON_CHAT_CONTINUATION_CONTENT;
    }
    if (append) messages = messages.first(messages.size() - 1);
    inputs.messages.reserve(messages.size());
    for (const TemplateMessage& message : messages) inputs.messages.push_back(converted(message));
    for (const TemplateTool& tool : input.tools) {
      inputs.tools.push_back({tool.name, tool.description, tool.parameters});
    }
    std::string prompt = common_chat_templates_apply(templates_.get(), inputs).prompt;
    if (append) prompt += open;
    return prompt;
  }

  static common_chat_msg converted(const TemplateMessage& message) {
    common_chat_msg entry;
    entry.role = message.role;
    entry.content = message.content;
    entry.reasoning_content = message.reasoning;
    entry.tool_call_id = message.tool_call_id;
    entry.tool_name = message.tool_name;
    for (const TemplateToolCall& call : message.tool_calls) {
      common_chat_tool_call& own = entry.tool_calls.emplace_back();
      own.id = call.id;
      own.name = call.name;
      own.arguments = call.arguments;
    }
    return entry;
  }

  static std::vector<Trial> plain_trials() {
    return {
        {{{"user", "One"}}},
        {{{"system", "Zero"}, {"user", "One"}}},
        {{{"user", "One"}, {"assistant", "Two"}, {"user", "Three"}}},
        {{{"system", "Zero"}, {"user", "One"}, {"assistant", "Two"}}},
    };
  }

  static std::vector<Trial> rich_trials() {
    const TemplateTool tool{"look", "Looks",
                            R"({"type":"object","properties":{"at":{"type":"string"}}})"};
    TemplateMessage call{"assistant"};
    call.tool_calls.push_back({"abcdefgh1", "look", R"({"at":"it"})"});
    TemplateMessage result{"tool", "Seen"};
    result.tool_call_id = "abcdefgh1";
    result.tool_name = "look";
    TemplateMessage pondered = call;
    pondered.reasoning = "Hm";
    TemplateMessage thought{"assistant", "Done"};
    thought.reasoning = "Hm";
    return {
        {{{"user", "One"}}, {tool}},
        {{{"user", "One"}, call, result}, {tool}},
        {{{"user", "One"}, pondered, result}, {tool}},
        {{{"system", "Zero"}, {"user", "One"}, call, result, thought, {"user", "Two"}}, {tool}},
        {{{"user", "One"}, thought, {"user", "Two"}}},
    };
  }

  // The short way where it gives what the analysed way gives.
  Way way_for(const std::vector<Trial>& trials) const {
    for (const Trial& trial : trials) {
      const TemplateInput input{
          trial.messages, trial.tools, trial.messages.back().role == kAssistant, {}};
      const Result<std::string> analysed = render(input, Way::kAnalysed);
      const Result<std::string> plain = render(input, Way::kShort);
      // A template may refuse one of these; and the analysis may fail where rendering does not.
      if (!analysed.ok()) continue;
      if (!plain.ok() || *analysed != *plain) return Way::kAnalysed;
    }
    return Way::kShort;
  }

  void find_thinking_tags() {
    try {
      common_chat_templates_inputs inputs;
      inputs.messages.push_back(converted({"user", "One"}));
      inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
      inputs.chat_template_kwargs = arguments_;
      const common_chat_params found = common_chat_templates_apply(templates_.get(), inputs);
      if (!found.supports_thinking || found.thinking_start_tag.empty()) return;
      if (found.thinking_end_tags.empty() || found.thinking_end_tags.front().empty()) return;
      thinking_tags_ = {found.thinking_start_tag, found.thinking_end_tags.front()};
    } catch (...) {
      thinking_tags_.reset();  // unknown: the analysis does not understand every template
    }
  }

  const common_chat_templates_ptr templates_;
  const WallTime today_;
  std::map<std::string, std::string> arguments_;
  bool takes_system_ = true;
  Way plain_way_ = Way::kAnalysed;
  Way rich_way_ = Way::kAnalysed;
  std::optional<TemplateThinkingTags> thinking_tags_;
};

// The library rethrows a parse error by value as a bare std::exception, which loses its text.
std::string parse_failure(const std::string& source) {
  try {
    const common_chat_template parsed(source, "", "");
    return "unknown reason";
  } catch (const std::exception& exception) {
    return trim_failure(exception.what()).message;
  }
}

}  // namespace

Result<std::unique_ptr<ChatTemplate>> make_llama_chat_template(const llama_model* model,
                                                               const ChatTemplateOptions& options) {
  const char* own = llama_model_chat_template(model, nullptr);
  if (options.source.empty() && own == nullptr) {
    return std::unique_ptr<ChatTemplate>(std::make_unique<PlainChatTemplate>());
  }
  try {
    common_chat_templates_ptr templates = common_chat_templates_init(model, options.source);
    return std::unique_ptr<ChatTemplate>(
        std::make_unique<JinjaChatTemplate>(std::move(templates), options.today));
  } catch (...) {
    const std::string& source = options.source.empty() ? std::string(own) : options.source;
    return Error{ErrorCode::kModelUnavailable,
                 std::string(options.source.empty() ? "the model's chat template"
                                                    : "the given chat template") +
                     " cannot be parsed: " + parse_failure(source),
                 {},
                 {}};
  }
}

Result<std::string> PlainChatTemplate::render(const TemplateInput& input) const {
  ZH_CHECK(!input.continue_last ||
           (!input.messages.empty() && input.messages.back().role == kAssistant));
  std::string prompt;
  for (const TemplateMessage& message : input.messages) {
    if (message.role == "system") {
      prompt += message.content + "\n\n";
      continue;
    }
    const bool open = input.continue_last && &message == &input.messages.back();
    prompt += message.role == kAssistant ? "Assistant:" : "User:";
    if (!message.content.empty()) prompt += ' ' + message.content;
    if (!open) prompt += '\n';
  }
  if (!input.continue_last) prompt += "Assistant:";
  return prompt;
}

}  // namespace zerohop
