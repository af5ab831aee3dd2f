#include "prompt/feature_probe.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "prompt/conversation_shape.h"
#include "prompt/stand_in.h"
#include "prompt/tool_syntax.h"

namespace zerohop {
namespace {

constexpr std::string_view kToolName = "probe_tool_name";
constexpr std::string_view kKey = "probe_key";
constexpr std::string_view kValue = "probe_value";
constexpr std::string_view kResult = "probe_result_text";
constexpr std::string_view kQuestion = "probe_question";

// An id as clients send it, and one as Mistral's templates demand it.
constexpr std::string_view kAnyId = "toolu_01Probe-Call_7";
constexpr std::string_view kNineId = "aB3dE6gH9";

bool shows(const Result<std::string>& text, std::string_view part) {
  return text.ok() && text->find(part) != std::string::npos;
}

std::vector<TemplateTool> probe_tools_list(std::string description) {
  return {{std::string(kToolName), std::move(description),
           R"({"type":"object","properties":{"probe_key":{"type":"string",)"
           R"("description":"A key."}},"required":["probe_key"]})"}};
}

TemplateMessage user_turn() { return {"user", std::string(kQuestion)}; }

TemplateMessage calling_turn(std::vector<std::string> ids) {
  TemplateMessage turn{"assistant"};
  for (std::string& id : ids) {
    turn.tool_calls.push_back(
        {std::move(id), std::string(kToolName), R"({"probe_key":"probe_value"})"});
  }
  return turn;
}

TemplateMessage result_turn(std::string id) {
  TemplateMessage turn{"tool", std::string(kResult)};
  turn.tool_call_id = std::move(id);
  turn.tool_name = kToolName;
  return turn;
}

class ToolProbe {
 public:
  explicit ToolProbe(const ChatTemplate& chat_template) : template_(chat_template) {}

  // The form of a call with ids like `id`; null when the template does not show one.
  const ToolSyntax* syntax(const std::string& id) const {
    const std::vector<TemplateMessage> messages{user_turn(), calling_turn({id}), result_turn(id)};
    const Result<std::string> text = render(messages);
    if (!shows(text, kResult) || !shows(text, kToolName) || !shows(text, kValue)) return nullptr;
    // Only what stands behind the question: descriptions of tools may give an example of a call.
    const std::size_t from = text->find(kQuestion);
    if (from == std::string::npos || text->find(kResult, from) == std::string::npos) return nullptr;
    return recognise_tool_syntax(std::string_view(*text).substr(from), {kToolName, kKey, kValue});
  }

  bool lists_tools() const {
    const std::vector<TemplateMessage> messages{user_turn()};
    return shows(render(messages), kToolName);
  }

  bool takes_many_calls(const std::string& id, const std::string& other) const {
    const std::vector<TemplateMessage> messages{user_turn(), calling_turn({id, other}),
                                                result_turn(id), result_turn(other)};
    const Result<std::string> text = render(messages);
    if (!text.ok()) return false;
    // Both calls are there: the value stands in the text twice.
    const std::size_t first = text->find(kValue);
    return first != std::string::npos && text->find(kValue, first + 1) != std::string::npos;
  }

  bool takes_user_after_tool(const std::string& id) const {
    std::vector<TemplateMessage> messages{
        user_turn(), calling_turn({id}), result_turn(id), {"user", "probe_next"}};
    if (!shows(render(messages), "probe_next")) return false;
    messages.push_back({"assistant", "probe_answer"});
    messages.push_back({"user", "probe_third"});
    return shows(render(messages), "probe_third");
  }

  // Whether a description can become control text: by a change of case, or of two halves.
  bool is_safe(const SpecialTextFinder& specials) const {
    const std::vector<TemplateMessage> messages{user_turn()};
    const auto control_texts = [&](std::string description) -> std::size_t {
      const Result<std::string> text = render(messages, probe_tools_list(std::move(description)));
      return text.ok() ? specials.find(*text).size() : 0;
    };
    const std::size_t own = control_texts("A description.");
    for (std::size_t i = 0; i < std::min<std::size_t>(specials.count(), 4); ++i) {
      const std::string& special = specials.text(i);
      std::string upper = special;
      std::string lower = special;
      for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      std::string spaced = special;
      spaced.insert(spaced.size() / 2, " ");
      for (const std::string& sly : {upper, lower, spaced}) {
        if (!specials.find(sly).empty() || !utf8_is_valid(sly)) continue;
        if (control_texts(sly) != own) return false;
      }
    }
    return true;
  }

 private:
  Result<std::string> render(const std::vector<TemplateMessage>& messages) const {
    return render(messages, probe_tools_list("A description."));
  }
  Result<std::string> render(const std::vector<TemplateMessage>& messages,
                             const std::vector<TemplateTool>& tools) const {
    return template_.render({.messages = messages, .tools = tools});
  }

  const ChatTemplate& template_;
};

// The last tag of `text`, or its first one, when nothing but white space is on its other side.
std::string_view last_tag(std::string_view text) {
  text = trim_space_right(text);
  if (text.empty() || (text.back() != '>' && text.back() != ']')) return {};
  const std::size_t begin = text.rfind(text.back() == '>' ? '<' : '[');
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}
std::string_view first_tag(std::string_view text) {
  text = trim_space_left(text);
  if (text.empty() || (text.front() != '<' && text.front() != '[')) return {};
  const std::size_t end = text.find(text.front() == '<' ? '>' : ']');
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
}

}  // namespace

std::optional<ThinkingTags> tags_around(std::string_view rendered, std::string_view thought) {
  const std::size_t begin = rendered.find(thought);
  if (begin == std::string_view::npos) return std::nullopt;
  ThinkingTags tags{std::string(last_tag(rendered.substr(0, begin))),
                    std::string(first_tag(rendered.substr(begin + thought.size())))};
  if (tags.open.empty() || tags.close.empty() || tags.open == tags.close) return std::nullopt;
  return tags;
}

void probe_tools(const ChatTemplate& chat_template, const SpecialTextFinder& specials,
                 TemplateTraits& traits) {
  const ToolProbe probe(chat_template);
  if (!probe.lists_tools()) return;
  std::string id(kAnyId);
  ToolIds ids = ToolIds::kAny;
  const ToolSyntax* syntax = probe.syntax(id);
  if (syntax == nullptr) {
    id = kNineId;
    ids = ToolIds::kNineCharacters;
    syntax = probe.syntax(id);
  }
  if (syntax == nullptr || !probe.is_safe(specials)) return;
  std::string other = id;
  std::swap(other[1], other[2]);
  traits.native_tools = syntax;
  traits.tool_ids = ids;
  traits.calls_of_a_turn =
      probe.takes_many_calls(id, other) ? CallsOfATurn::kMany : CallsOfATurn::kOne;
  traits.user_after_tool =
      probe.takes_user_after_tool(id) ? UserAfterTool::kAllowed : UserAfterTool::kRefused;
}

void probe_thinking(const ChatTemplate& chat_template, TemplateTraits& traits) {
  const StandIns stand_ins(3);
  const std::string thought = stand_ins.make(1);
  const std::string answer = stand_ins.make(2);
  const std::vector<TemplateMessage> question{{"user", std::string(kQuestion)}};
  const auto with_switch = [&](bool on) {
    return chat_template.render({.messages = question, .thinking = on});
  };
  const Result<std::string> on = with_switch(true);
  const Result<std::string> off = with_switch(false);
  traits.thinking_switch = on.ok() && off.ok() && *on != *off;

  std::vector<TemplateMessage> messages = question;
  messages.push_back({"assistant", answer, thought});
  Result<std::string> replay = chat_template.render({.messages = messages, .thinking = true});
  if (!shows(replay, thought)) {
    messages.back() = calling_turn({std::string(kNineId)});
    messages.back().reasoning = thought;
    messages.push_back(result_turn(std::string(kNineId)));
    replay = chat_template.render({.messages = messages, .thinking = true});
  }
  traits.takes_reasoning = shows(replay, thought);
  if (const std::optional<TemplateThinkingTags> known = chat_template.thinking_tags()) {
    traits.thinking =
        ThinkingTags{std::string(mark_core(known->open)), std::string(mark_core(known->close))};
  } else if (traits.takes_reasoning) {
    traits.thinking = tags_around(*replay, thought);
    // A mark that stands in front of answers without thoughts, too, is none of thoughts.
    messages = question;
    messages.push_back({"assistant", answer});
    const Result<std::string> plain = chat_template.render({.messages = messages});
    if (traits.thinking && plain.ok() && plain->find(traits.thinking->open) < plain->find(answer)) {
      traits.thinking.reset();
    }
  }
}

}  // namespace zerohop
