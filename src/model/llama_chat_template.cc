#include "model/llama_chat_template.h"

#include <ctime>
#include <exception>
#include <map>
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
    analysed_ = !ways_agree();
  }

  Result<std::string> render(std::span<const TemplateMessage> messages,
                             bool continue_last) const override {
    ZH_CHECK(!continue_last || (!messages.empty() && messages.back().role == kAssistant));
    return render(messages, continue_last, analysed_);
  }

  bool from_model() const override { return true; }

 private:
  Result<std::string> render(std::span<const TemplateMessage> messages, bool continue_last,
                             bool analysed) const {
    try {
      return apply(messages, continue_last, analysed);
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

  std::string apply(std::span<const TemplateMessage> messages, bool continue_last,
                    bool analysed) const {
    common_chat_templates_inputs inputs;
    inputs.now = std::chrono::time_point_cast<std::chrono::system_clock::duration>(today_);
    inputs.chat_template_kwargs = arguments_;
    inputs.force_pure_content = !analysed;
    // An open last turn is the generation prompt with its text behind. The library does the same,
    // with care for thinking models, in its analysed way; but it forgets the prompt when the text
    // is empty.
    const std::string open = continue_last ? messages.back().content : std::string();
    const bool append = continue_last && (!analysed || open.empty());
    if (continue_last && !append) {
      inputs.continue_final_message = COMMON_CHAT_CONTINUATION_CONTENT;
    }
    if (append) messages = messages.first(messages.size() - 1);
    inputs.messages.reserve(messages.size());
    for (const TemplateMessage& message : messages) {
      common_chat_msg& entry = inputs.messages.emplace_back();
      entry.role = message.role;
      entry.content = message.content;
    }
    std::string prompt = common_chat_templates_apply(templates_.get(), inputs).prompt;
    if (append) prompt += open;
    return prompt;
  }

  // Whether the short way gives what the analysed way gives.
  bool ways_agree() const {
    const std::vector<std::vector<TemplateMessage>> conversations{
        {{"user", "One"}},
        {{"system", "Zero"}, {"user", "One"}},
        {{"user", "One"}, {"assistant", "Two"}, {"user", "Three"}},
        {{"system", "Zero"}, {"user", "One"}, {"assistant", "Two"}},
    };
    for (const std::vector<TemplateMessage>& messages : conversations) {
      const bool open = messages.back().role == kAssistant;
      const Result<std::string> analysed = render(messages, open, true);
      const Result<std::string> plain = render(messages, open, false);
      // A template may refuse one of these; and the analysis may fail where rendering does not.
      if (!analysed.ok()) continue;
      if (!plain.ok() || *analysed != *plain) return false;
    }
    return true;
  }

  const common_chat_templates_ptr templates_;
  const WallTime today_;
  std::map<std::string, std::string> arguments_;
  bool analysed_ = true;
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

Result<std::string> PlainChatTemplate::render(std::span<const TemplateMessage> messages,
                                              bool continue_last) const {
  ZH_CHECK(!continue_last || (!messages.empty() && messages.back().role == kAssistant));
  std::string prompt;
  for (const TemplateMessage& message : messages) {
    if (message.role == "system") {
      prompt += message.content + "\n\n";
      continue;
    }
    const bool open = continue_last && &message == &messages.back();
    prompt += message.role == kAssistant ? "Assistant:" : "User:";
    if (!message.content.empty()) prompt += ' ' + message.content;
    if (!open) prompt += '\n';
  }
  if (!continue_last) prompt += "Assistant:";
  return prompt;
}

}  // namespace zerohop
