#include "prompt/template_probe.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prompt/feature_probe.h"
#include "prompt/stand_in.h"

namespace zerohop {
namespace {

// Contents that a template might not hand through: each line is for something that templates in the
// field do, or that their engine could get wrong.
constexpr std::array<std::string_view, 15> kContents{
    "Plain words",
    "  blanks around it \n",
    "\n\nlines in front\n\nand behind\t\r\n\n",
    "",
    " \n ",
    "{{ braces }} {% raw %} {# comment #} {0} %s",
    "<|im_end|>\n<|im_start|>system\n</s>[INST] <end_of_turn> <|eot_id|>",
    "Gr\xc3\xbc\xc3\x9f"
    "e \xe4\xbd\xa0\xe5\xa5\xbd \xf0\x9f\x98\x80",
    "\xc2\xa0no-break spaces around it\xc2\xa0",
    "\v\fother white space around it\f\v",
    "<think>\na thought\n</think>\n\nan answer",
    "<tool_response>\nresult\n</tool_response>",
    "\"quotes\" 'and' \\backslashes\\ \\n & <b>&amp;</b>",
    "{\"name\": \"f\", \"arguments\": {\"x\": [1, null]}}",
    "UPPER lower Title 0123456789",
};

constexpr std::string_view kFiller = "Something ordinary.";

// Roles by their letters; "+" leaves the last turn open.
constexpr std::array<std::string_view, 6> kPatterns{"u", "su", "uau", "sua+", "ua+", "suauau"};

ShapedConversation make_probe(std::string_view pattern, std::size_t first_content) {
  ShapedConversation probe;
  std::size_t next = first_content;
  for (const char letter : pattern) {
    if (letter == '+') {
      // Such a turn never ends with white space and is never empty.
      std::string& last = probe.messages.back().content;
      last.resize(trim_space_right(last).size());
      if (last.empty()) last = kFiller;
      probe.continue_last = true;
      break;
    }
    const char* role = letter == 's' ? "system" : letter == 'u' ? "user" : "assistant";
    probe.messages.push_back({role, std::string(kContents[next++ % kContents.size()])});
  }
  return probe;
}

struct Probe {
  ShapedConversation conversation;
  std::string truth;
};

// Every content stands in every position of the longest pattern once; the shorter patterns get
// some.
std::vector<Probe> render_probes(const ChatTemplate& chat_template, const TemplateTraits& traits) {
  std::vector<Probe> probes;
  const auto add = [&](std::string_view pattern, std::size_t first_content) {
    if (traits.system_place == SystemPlace::kFirstUserTurn && pattern.front() == 's') {
      pattern.remove_prefix(1);
    }
    Probe probe{make_probe(pattern, first_content), {}};
    Result<std::string> truth = chat_template.render(probe.conversation.input());
    if (!truth.ok()) return;
    probe.truth = std::move(truth).value();
    probes.push_back(std::move(probe));
  };
  for (std::size_t i = 0; i < kContents.size(); ++i) {
    add(kPatterns.back(), i);
    add(kPatterns[i % (kPatterns.size() - 1)], i);
    add(kPatterns[(i + 2) % (kPatterns.size() - 1)], i + 7);
  }
  return probes;
}

using Shapes = std::map<std::string, ShapeRendering>;

bool rules_fit(const ChatTemplate& chat_template, const std::vector<Probe>& probes,
               const SpliceRules& rules, Shapes& shapes) {
  for (const Probe& probe : probes) {
    const std::string key = shape_key(probe.conversation, rules);
    auto known = shapes.find(key);
    if (known == shapes.end()) {
      Result<ShapeRendering> shape = render_shape(chat_template, probe.conversation, rules);
      if (!shape.ok()) return false;
      known = shapes.emplace(key, std::move(shape).value()).first;
    }
    if (splice_contents(known->second, probe.conversation, rules, nullptr) != probe.truth) {
      return false;
    }
  }
  return true;
}

// Whether system messages between turns, and behind the last one, are shown where they stand.
bool shows_entries_in_place(const ChatTemplate& chat_template) {
  const StandIns stand_ins(0);
  for (const std::string_view pattern : {"sus", "suas", "susu", "suasuasu", "usau", "susausau"}) {
    std::vector<TemplateMessage> messages;
    for (const char letter : pattern) {
      const char* role = letter == 's' ? "system" : letter == 'u' ? "user" : "assistant";
      messages.push_back({role, stand_ins.make(messages.size())});
    }
    const Result<std::string> text = chat_template.render({.messages = messages});
    if (!text.ok()) return false;
    std::size_t position = 0;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const std::optional<StandIns::Found> found = stand_ins.find(*text, position);
      if (!found || found->index != i) return false;
      position = found->end;
    }
    if (stand_ins.find(*text, position)) return false;
  }
  return true;
}

}  // namespace

TemplateTraits probe_traits(const ChatTemplate& chat_template, const SpecialTextFinder& specials) {
  const StandIns stand_ins(0);
  const std::string first = stand_ins.make(1);
  const std::string second = stand_ins.make(2);
  const auto renders = [&](const std::vector<TemplateMessage>& messages, bool shows_first) {
    const Result<std::string> text = chat_template.render({.messages = messages});
    return text.ok() && (!shows_first || text->find(first) != std::string::npos);
  };
  TemplateTraits traits;
  if (!renders({{"system", first}, {"user", second}}, true) && renders({{"user", first}}, true)) {
    traits.system_place = SystemPlace::kFirstUserTurn;
  }
  if (!renders({{"assistant", first}, {"user", second}}, true) &&
      renders({{"user", ""}, {"assistant", first}, {"user", second}}, true)) {
    traits.first_turn = FirstTurn::kUser;
  }
  if (traits.system_place == SystemPlace::kSystemMessage && shows_entries_in_place(chat_template)) {
    traits.system_entries = SystemEntries::kInPlace;
  }
  probe_tools(chat_template, specials, traits);
  probe_thinking(chat_template, traits);
  return traits;
}

std::optional<SpliceRules> probe_rules(const ChatTemplate& chat_template,
                                       const TemplateTraits& traits) {
  std::vector<Probe> probes = render_probes(chat_template, traits);
  Shapes shapes;
  for (const MarksInContents marks :
       {MarksInContents::kCopied, MarksInContents::kThoughtsRead, MarksInContents::kRead}) {
    if (marks != MarksInContents::kCopied) {
      const SpliceRules rules{.marks = marks};
      std::erase_if(probes,
                    [&](const Probe& probe) { return !can_be_spliced(probe.conversation, rules); });
    }
    if (probes.empty()) return std::nullopt;
    for (unsigned trims = 0; trims < 16; ++trims) {
      const auto rule = [&](unsigned bit) {
        return (trims & bit) != 0 ? ContentRule::kTrimmed : ContentRule::kVerbatim;
      };
      const SpliceRules rules{rule(1), rule(2), rule(4), rule(8), marks};
      if (rules_fit(chat_template, probes, rules, shapes)) return rules;
    }
  }
  return std::nullopt;
}

}  // namespace zerohop
