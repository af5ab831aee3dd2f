// Whatever the constraint lets a model write, our own reader reads, and reads as it was meant: for
// every form of calls, with names and values made of the form's own marks.
//
// Texts are drawn from the machine itself, byte by byte with a liking for marks, so they are all
// that a model with odd habits could write. What the reader makes of one must be calls of tools
// that were offered, with arguments that their schemas accept, and no mark left over as text.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/utf8.h"
#include "constrain/json_text.h"
#include "constrain/schema_document.h"
#include "constrain/schema_form_oracle.h"
#include "prompt/answer_constraint.h"
#include "prompt/output_planner.h"
#include "prompt/segment_recorder.h"
#include "prompt/tool_syntax.h"

namespace zerohop {
namespace {

std::vector<std::string> marks_of(const ToolSyntax& syntax) {
  std::vector<std::string> marks;
  for (const std::string_view text :
       {syntax.section_open, syntax.section_close, syntax.open, syntax.open_alternative,
        syntax.before_name, syntax.name_note, syntax.after_name, syntax.parameter_open,
        syntax.parameter_middle, syntax.parameter_close, syntax.arguments_close, syntax.close}) {
    if (text.empty()) continue;
    marks.emplace_back(text);
    if (!mark_core(text).empty()) marks.emplace_back(mark_core(text));
  }
  marks.emplace_back("<think>");
  std::ranges::sort(marks);
  marks.erase(std::unique(marks.begin(), marks.end()), marks.end());
  return marks;
}

// Names with blanks and colons, names that begin like each other, and the form's marks as names.
std::vector<std::string> hostile_names(const ToolSyntax& syntax) {
  std::vector<std::string> names{"look", "look up",    "look up: now", "a:b", "a:",  "a",
                                 "a b",  "files/read", "x.y",          "1",   "нет", "a|b",
                                 "a#",   "look\"up",   "a{b",          "[x]", "{x"};
  for (const std::string& mark : marks_of(syntax)) {
    if (mark.find('\n') != std::string::npos) continue;  // no name is let in with that
    names.push_back(mark);
    names.push_back("a" + mark);
    names.push_back("a" + mark.substr(0, 1));
    names.push_back(mark + "b");
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// An object of everything a form of tags can say exactly, with marks for words.
std::string hostile_schema(const ToolSyntax& syntax) {
  std::string words;
  std::string names;
  for (const std::string& mark : marks_of(syntax)) {
    if (mark.find(mark_core(syntax.parameter_close)) == std::string::npos ||
        syntax.parameter_close.empty()) {
      words += "," + json_quoted(mark);
    }
    if (syntax.kind != ToolSyntaxKind::kTagged || can_name_parameter(syntax, mark)) {
      names += "," + json_quoted(mark) + R"(:{"type":"array","items":{"type":"string"}})";
    }
  }
  return R"({"type":"object","properties":{"list":{"type":"array","items":{"type":"string"}},)"
         R"("text":{"type":"string"},"word":{"enum":["\n","1"," x","y\n")" +
         words + R"(]},"any":{"type":"object"},"maybe":{"anyOf":[{"type":"null"},)" +
         R"({"$ref":"#/$defs/pair"}]},"number":{"type":"number"},"with blank":{"type":"boolean"})" +
         names + R"(},"required":["list","word"],"additionalProperties":false,)" +
         R"("$defs":{"pair":{"type":"array","prefixItems":[{"type":"string"}],"minItems":1}}})";
}

struct Offer {
  OutputPlan plan;
  Conversation conversation;
};

Offer hostile_offer(const ToolSyntax& syntax) {
  Offer offer;
  offer.plan.tool_syntax = &syntax;
  offer.plan.thinking = ThinkingTags{"<think>", "</think>"};
  for (const std::string& name : hostile_names(syntax)) {
    if (!name_problem(syntax, name).empty()) continue;
    ToolDefinition tool;
    tool.name = name;
    tool.input_schema = hostile_schema(syntax);
    tool.strict = true;
    offer.conversation.tools.push_back(std::move(tool));
  }
  auto known = offered_tools(syntax, offer.conversation.tools);
  EXPECT_TRUE(known.ok());
  if (known.ok()) offer.plan.offered = std::move(known).value();
  return offer;
}

// One machine for each schema, because making one takes longer than all else.
class Machines {
 public:
  SchemaVerdict operator()(std::string_view schema, JsonLayout layout) {
    const std::string key =
        (layout == JsonLayout::kFree ? "free " : "spaced ") + std::string(schema);
    auto [entry, added] = verdicts_.try_emplace(key);
    if (added) entry->second = make_schema_machine(schema, layout);
    return entry->second;
  }
  bool accepts_value(std::string_view schema, std::string_view json) {
    const SchemaVerdict verdict = (*this)(schema, JsonLayout::kFree);
    const auto& made = std::get<std::shared_ptr<const SchemaMachine>>(verdict);
    const auto value = parse_json_node(json);
    return value.ok() && SchemaFormOracle(*made->form).accepts(*value);
  }

 private:
  std::map<std::string, SchemaVerdict> verdicts_;
};

// A text of the machine of some `bytes`, then its shortest end.
std::string draw(ConstraintMachine& machine, const std::vector<std::string>& liked,
                 std::size_t bytes, Random& random) {
  std::string text;
  MachineState state = machine.start();
  const auto take = [&](const std::string& more) {
    const MachineState next = step_all(machine, state, more);
    if (next == kDeadState) return false;
    state = next;
    text += more;
    return true;
  };
  for (int tries = 0; text.size() < bytes && tries < 2'000; ++tries) {
    if (random.chance(0.3) && take(liked[random.below(liked.size())])) continue;
    const std::bitset<256> first = machine.first_bytes(state);
    if (const std::string forced = machine.forced(state, 100); !forced.empty()) {
      take(forced);
    } else if (first.any()) {
      std::size_t byte = random.below(256);
      while (!first[byte]) byte = (byte + 1) % 256;
      take(std::string(1, static_cast<char>(byte)));
    }
    if (machine.accepting(state) && random.chance(0.02)) return text;
  }
  return text + machine.shortest_end(state);
}

class Check {
 public:
  Check(const Offer& offer, Machines& machines) : offer_(offer), machines_(machines) {}

  void read(const std::string& text, std::size_t calls_min) {
    const SegmentRecorder whole = segment(offer_.plan, {text});
    ASSERT_GE(calls_of(text).size(), calls_min) << text;
    for (const Call& call : calls_of(text)) {
      const auto tool =
          std::ranges::find(offer_.conversation.tools, call.name, &ToolDefinition::name);
      ASSERT_NE(tool, offer_.conversation.tools.end()) << call.name << " in " << text;
      EXPECT_TRUE(machines_.accepts_value(tool->input_schema, utf8_replace_invalid(call.json)))
          << call.json << "\nin " << text;
    }
    std::vector<std::string_view> bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
      bytes.push_back(std::string_view(text).substr(i, 1));
    }
    EXPECT_EQ(segment(offer_.plan, bytes).str(), whole.str()) << text;
    const std::string_view mark = mark_core(offer_.plan.tool_syntax->open);
    const bool everyday = mark.empty() || mark == "functools";
    EXPECT_TRUE(everyday || whole.text_bytes.find(mark) == std::string::npos)
        << whole.text_bytes << "\nin " << text;
  }

 private:
  struct Call {
    std::string name;
    std::string json;
  };
  class Calls final : public SegmentSink {
   public:
    void text(std::string_view) override {}
    void thinking(std::string_view) override {}
    void call_begin(std::string_view name) override { all.push_back({std::string(name), {}}); }
    void call_arguments(std::string_view json) override { all.back().json += json; }
    void call_end() override {}
    std::vector<Call> all;
  };

  std::vector<Call> calls_of(const std::string& text) const {
    OutputSegmenter segmenter(offer_.plan);
    Calls calls;
    segmenter.feed(text, calls);
    segmenter.end(calls);
    return calls.all;
  }

  const Offer& offer_;
  Machines& machines_;
};

std::vector<std::string> liked_texts(const Offer& offer) {
  std::vector<std::string> liked = marks_of(*offer.plan.tool_syntax);
  for (const std::string& mark : marks_of(*offer.plan.tool_syntax)) {
    std::string quoted = json_quoted(mark);
    liked.push_back(quoted);
    quoted.pop_back();
    liked.push_back(quoted);
  }
  for (const ToolDefinition& tool : offer.conversation.tools) liked.push_back(tool.name);
  for (const char* text : {"\"", "\\\"", "\n", " ", "[\"", "\"]", "}", "{\"", "1", "</think>"}) {
    liked.emplace_back(text);
  }
  return liked;
}

TEST(ReadableCalls, AreAllThatTheConstraintAllows) {
  for (const ToolSyntax& syntax : tool_syntax_table()) {
    Machines machines;
    Offer offer = hostile_offer(syntax);
    ASSERT_GT(offer.conversation.tools.size(), 7u) << syntax.id;
    const std::vector<std::string> liked = liked_texts(offer);
    Random random(17);
    for (const OutputStart start : {OutputStart::kText, OutputStart::kToolName}) {
      offer.plan.start = start;
      auto made = make_answer_constraint({offer.plan, offer.conversation}, std::ref(machines));
      ASSERT_TRUE(made.ok()) << syntax.id << ": " << made.error().message;
      const auto machine = made->machine->renew();
      Check check(offer, machines);
      check.read(made->shortest, start == OutputStart::kToolName ? 1 : 0);
      for (int i = 0; i < 12; ++i) {
        const std::string text = draw(*machine, liked, 400, random);
        ASSERT_TRUE(accepts(*machine, text));
        check.read(text, start == OutputStart::kToolName ? 1 : 0);
        if (testing::Test::HasFailure()) FAIL() << syntax.id;
      }
    }
  }
}

// The names of parameters that no form of tags can hold are left out where the client does not
// insist; what is written then is read all the same.
TEST(ReadableCalls, AreAllThatIsAllowedInPlaceOfASchemaToo) {
  for (const ToolSyntax& syntax : tool_syntax_table()) {
    if (syntax.kind != ToolSyntaxKind::kTagged) continue;
    Machines machines;
    Offer offer;
    offer.plan.tool_syntax = &syntax;
    offer.plan.start = OutputStart::kToolName;
    const std::string odd = "a" + std::string(key_end_mark(syntax)) + "b";
    const std::string inside =
        R"({"type":"object","required":[)" + json_quoted(odd) + R"(],"properties":{)" +
        json_quoted(odd) +
        R"(:{"type":"string"},"l":{"type":"array"},"e":{"type":["string","null"]}}})";
    for (const std::string& schema :
         {inside, std::string(R"({"type":"object","properties":{"s":{"pattern":"(a)\\1"}}})")}) {
      ToolDefinition tool;
      tool.name = "f";
      tool.input_schema = schema;
      offer.conversation.tools = {tool};
      offer.plan.offered = offered_tools(syntax, offer.conversation.tools).value();
      auto made = make_answer_constraint({offer.plan, offer.conversation}, std::ref(machines));
      ASSERT_TRUE(made.ok());
      EXPECT_FALSE(made->relaxed.empty()) << syntax.id;
      const auto machine = made->machine->renew();
      const std::vector<std::string> liked = liked_texts(offer);
      Random random(3);
      for (int i = 0; i < 30; ++i) {
        const SegmentRecorder read = segment(offer.plan, {draw(*machine, liked, 300, random)});
        ASSERT_GE(read.arguments.size(), 1u) << syntax.id << read.str();
        for (const std::string& json : read.arguments) EXPECT_TRUE(is_json(json)) << json;
      }
      offer.conversation.tools[0].strict = true;
      const auto refused =
          make_answer_constraint({offer.plan, offer.conversation}, std::ref(machines));
      ASSERT_FALSE(refused.ok()) << syntax.id;
      EXPECT_NE(refused.error().message.find("tool 'f'"), std::string::npos);
    }
  }
}

TEST(ReadableCalls, HaveMarksOfTheFormInTheirJson) {
  for (const ToolSyntax& syntax : tool_syntax_table()) {
    const Offer offer = hostile_offer(syntax);
    for (const std::string& mark : marks_of(syntax)) {
      const std::string list = "[" + json_quoted(mark) + ", " + json_quoted("\"" + mark) + "]";
      const std::string input = R"({"list": )" + list + R"(, "word": "1"})";
      const std::string call =
          write_tool_calls(syntax, std::vector<ToolCallText>{{"look", input}, {"a b", input}});
      const SegmentRecorder read = segment(offer.plan, {call});
      ASSERT_EQ(read.arguments.size(), 2u) << call << read.str();
      for (const std::string& json : read.arguments) {
        const auto members = json_members(json);
        ASSERT_TRUE(members) << json;
        EXPECT_EQ(members->front().value, list) << syntax.id;
      }
    }
  }
}

// A model that is not constrained forgets a quote: the first mark ends the value, and what seemed
// to be a part of it is a call and a text.
TEST(ReadableCalls, AreReadAgainBehindAValueThatNeverEnds) {
  for (const ToolSyntax& syntax : tool_syntax_table()) {
    if (syntax.kind != ToolSyntaxKind::kTagged) continue;
    const Offer offer = hostile_offer(syntax);
    std::string call = write_tool_calls(
        syntax, std::vector<ToolCallText>{{"look", R"({"list":["x"],"text":"b"})"}, {"a", "{}"}});
    call.replace(call.find("[\"x\"]"), 5, "[\"x]");
    for (const std::string_view end : {"", " Done.", " \"Done\"."}) {
      const std::string text = call + std::string(end);
      const std::string want = R"(call[look|{"list":"[\"x]","text":"b"}] call[a|{}])" +
                               (end.empty() ? "" : " text[" + std::string(end.substr(1)) + "]");
      EXPECT_EQ(segment(offer.plan, {text}).str(), want) << syntax.id;
      std::vector<std::string_view> bytes;
      for (std::size_t i = 0; i < text.size(); ++i) {
        bytes.push_back(std::string_view(text).substr(i, 1));
      }
      EXPECT_EQ(segment(offer.plan, bytes).str(), want) << syntax.id;
    }
  }
}

TEST(ReadableCalls, HaveNamesOfWhichAReaderFindsTheEnd) {
  for (const ToolSyntax& syntax : tool_syntax_table()) {
    for (const std::string name : {"look up", "a:b", "a b: c", "x.y/z", "нет"}) {
      EXPECT_EQ(name_problem(syntax, name), "") << syntax.id << name;
      if (syntax.kind == ToolSyntaxKind::kTagged) {
        EXPECT_TRUE(can_name_parameter(syntax, name)) << syntax.id << name;
      }
    }
    ToolDefinition tool;
    tool.name = "a" + std::string(mark_core(syntax.after_name)) + "b";
    const auto offered = offered_tools(syntax, {tool});
    const bool named = syntax.kind != ToolSyntaxKind::kJsonCall && tool.name != "ab";
    EXPECT_EQ(offered.ok(), !named) << syntax.id;
    if (named) {
      EXPECT_NE(offered.error().message.find("tool '" + tool.name), std::string::npos);
    }
  }
  EXPECT_NE(name_problem(*find_tool_syntax("kimi-k2"), "a:12"), "");
  EXPECT_EQ(name_problem(*find_tool_syntax("kimi-k2"), "a12"), "");
  EXPECT_NE(name_problem(*find_tool_syntax("llama-3.1-function"), "{x"), "");
}

// Without a mark, JSON is a call only by the name of a tool.
TEST(ReadableCalls, AreNotWhatOnlyLooksLikeThem) {
  const ToolSyntax& syntax = *find_tool_syntax("llama-3");
  const Offer offer = hostile_offer(syntax);
  const std::string data = R"({"name": "Ada", "parameters": {"age": 36}})";
  EXPECT_EQ(segment(offer.plan, {data}).str(), "text[" + data + "]");
  OutputPlan document = offer.plan;
  document.rules = {OutputFormat::kJsonSchema, R"({"type":"object"})"};
  EXPECT_EQ(segment(document, {data}).str(), "text[" + data + "]");
}

}  // namespace
}  // namespace zerohop
