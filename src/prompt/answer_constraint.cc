#include "prompt/answer_constraint.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "constrain/answer_schema.h"
#include "constrain/behind_machine.h"
#include "constrain/grammar_machine.h"
#include "constrain/grammar_syntax.h"
#include "constrain/json_machine.h"
#include "prompt/call_grammar.h"
#include "prompt/conversation_shape.h"
#include "prompt/json_answer.h"
#include "prompt/sure_machines.h"
#include "prompt/tagged_call.h"

namespace zerohop {
namespace {

using Parts = std::vector<TagPart>;
using Machine = std::shared_ptr<const ConstraintMachine>;

constexpr std::string_view kAnyObject = R"({"type":"object"})";
constexpr std::string_view kAnyValue = "true";
// Of the shortest arguments of all tools of an answer: the plan of its calls holds them several
// times.
constexpr std::size_t kShortestArgumentsMax = std::size_t{2} << 20;

bool forced_start(const OutputPlan& plan) {
  return plan.start == OutputStart::kToolName || plan.start == OutputStart::kToolArguments;
}

bool refers_to(const Conversation& conversation, std::string_view tool) {
  const auto names_it = [&](const ToolResultPart& part) {
    const auto* reference = std::get_if<ToolReferenceBlock>(&part);
    return reference != nullptr && reference->tool_name == tool;
  };
  for (const Message& message : conversation.messages) {
    for (const ContentBlock& block : message.content) {
      const auto* result = std::get_if<ToolResultBlock>(&block);
      if (result != nullptr && std::ranges::any_of(result->content, names_it)) return true;
    }
  }
  return false;
}

// The tools that the answer may call: those that the model can know.
std::vector<const ToolDefinition*> callable(const AnswerWish& wish) {
  std::vector<const ToolDefinition*> tools;
  if (wish.plan.tool_syntax == nullptr) return tools;
  const std::string& forced = wish.plan.forced_tool;
  for (const ToolDefinition& tool : wish.conversation.tools) {
    if (forced.empty() ? !tool.deferred || refers_to(wish.conversation, tool.name)
                       : tool.name == forced) {
      tools.push_back(&tool);
    }
  }
  return tools;
}

bool is_enforced(const AnswerWish& wish, const ToolDefinition& tool) {
  return tool.strict || wish.conversation.constrain_tools;
}

std::string kind_of(SchemaRefusal::Kind kind) {
  switch (kind) {
    case SchemaRefusal::Kind::kInvalid: return "this is no valid JSON Schema";
    case SchemaRefusal::Kind::kUnsupported: return "this schema cannot be enforced exactly";
    case SchemaRefusal::Kind::kUnsatisfiable: return "nothing satisfies this schema";
    case SchemaRefusal::Kind::kTooLarge: return "this schema takes too much work to be enforced";
  }
  return {};
}

Error schema_error(const std::string& field, const std::string& tool, const SchemaRefusal& why) {
  std::string message = tool.empty() ? std::string() : "tool '" + tool + "': ";
  message += kind_of(why.kind);
  std::string place = why.pointer;
  if (!why.keyword.empty()) place += (place.empty() ? "" : " ") + why.keyword;
  for (const std::string& part : {place, why.reason}) {
    if (!part.empty()) message += ": " + part;
  }
  return invalid_request(field, std::move(message));
}

// Whether the client must be told, whatever it insists on.
bool is_final(SchemaRefusal::Kind kind) {
  return kind == SchemaRefusal::Kind::kUnsatisfiable || kind == SchemaRefusal::Kind::kTooLarge;
}

// A pattern for any of `texts`, up to three in a row.
std::string pattern_of_frames(const std::vector<std::string>& texts) {
  constexpr std::string_view kSyntax = "\\^$.*+?()[]{}|/";
  std::string pattern;
  for (const std::string& text : texts) {
    pattern += pattern.empty() ? "(?:" : "|";
    for (const char byte : text) {
      if (kSyntax.find(byte) != std::string_view::npos) pattern += '\\';
      pattern += byte;
    }
  }
  return pattern.empty() ? pattern : pattern + "){0,3}";
}

class Builder {
 public:
  Builder(const AnswerWish& wish, const SchemaMachines& machines)
      : wish_(wish), plan_(wish.plan), machines_(machines), tools_(callable(wish)) {}

  Result<AnswerConstraint> build() {
    ZH_ASSIGN_OR_RETURN(Machine machine, answer());
    if (machine == nullptr) return std::move(made_);
    const std::unique_ptr<ConstraintMachine> own = machine->renew();
    made_.shortest = own->shortest_end(own->start());
    made_.memory_bytes += own->memory_bytes() + made_.shortest.size();
    made_.machine = std::move(machine);
    return std::move(made_);
  }

 private:
  Result<Machine> answer() {
    const auto enforced = [this](const ToolDefinition* tool) { return is_enforced(wish_, *tool); };
    const bool calls = std::ranges::any_of(tools_, enforced);
    if (forced_start(plan_) && tools_.empty()) {
      return invalid_request("tool_choice",
                             "asks for a call, but every tool is deferred and none was referred "
                             "to");
    }
    if (forced_start(plan_)) return calls ? forced_call() : Machine();
    if (plan_.rules.format != OutputFormat::kText) return document_or_calls();
    return calls ? calls_in_text() : Machine();
  }

  // ---- Calls ----

  Result<CallForm> call_form() {
    CallForm form;
    form.syntax = plan_.tool_syntax;
    form.parallel = plan_.parallel_tool_calls;
    form.close_ends_turn = plan_.call_ends_turn;
    for (const ToolDefinition* tool : tools_) {
      CallableTool callable{tool->name, {}};
      ZH_ASSIGN_OR_RETURN(callable.arguments, arguments_of(*tool));
      form.tools.push_back(std::move(callable));
    }
    return form;
  }

  Result<Machine> forced_call() {
    ZH_ASSIGN_OR_RETURN(const CallForm form, call_form());
    TagSet set;
    set.alternatives.push_back(only_calls(form));
    std::string begun = plan_.start == OutputStart::kToolName
                            ? write_call_up_to_name(*form.syntax)
                            : write_call_up_to_arguments(*form.syntax, plan_.forced_tool);
    Machine behind = make_behind_machine(sure_machine(std::move(set)), std::move(begun));
    ZH_CHECK(behind != nullptr);
    return behind;
  }

  Result<Machine> calls_in_text() {
    ZH_ASSIGN_OR_RETURN(const CallForm form, call_form());
    TagSet set = text_with_calls(form);
    // Elsewhere thoughts are a part of the text, because models call out of them as well.
    if (form.syntax->open.empty() && plan_.prefill.empty()) {
      add_thinking(set);
      if (plan_.thinking) set.never_in_text.push_back(mark_of(plan_.thinking->open));
    }
    return sure_machine(std::move(set));
  }

  Result<Parts> arguments_of(const ToolDefinition& tool) {
    if (!is_enforced(wish_, tool)) return any_arguments();
    const std::string field = tool.field.empty() ? "tools" : tool.field;
    const std::string_view schema =
        tool.input_schema.empty() ? kAnyObject : std::string_view(tool.input_schema);
    const SchemaVerdict verdict = machines_(schema, JsonLayout::kSpaced);
    if (const auto* refusal = std::get_if<SchemaRefusal>(&verdict)) {
      if (tool.strict || is_final(refusal->kind)) return schema_error(field, tool.name, *refusal);
      made_.relaxed.push_back({tool.name, refusal->pointer, refusal->keyword});
      return any_arguments();
    }
    const SchemaMachine& made = *std::get<std::shared_ptr<const SchemaMachine>>(verdict);
    if (!has_object(*made.form)) {
      return schema_error(
          field, tool.name,
          {SchemaRefusal::Kind::kUnsatisfiable, "", "type", "arguments are an object"});
    }
    shortest_bytes_ += made.form->shortest_bytes[SchemaForm::kRoot];
    if (shortest_bytes_ > kShortestArgumentsMax) {
      return schema_error(field, tool.name,
                          {SchemaRefusal::Kind::kTooLarge, "", "",
                           "the shortest arguments of all tools have more than " +
                               std::to_string(kShortestArgumentsMax) + " bytes together"});
    }
    made_.memory_bytes += made.memory_bytes;
    if (plan_.tool_syntax->kind != ToolSyntaxKind::kTagged) return json_arguments(made);
    TaggedArgumentsGrammar tagged = tagged_arguments_of(*plan_.tool_syntax, made, schema);
    if (!tagged.exact) {
      const SchemaRefusal why{SchemaRefusal::Kind::kUnsupported, tagged.pointer, "",
                              tagged.reason + ", in the form in which this model writes calls"};
      if (tool.strict) return schema_error(field, tool.name, why);
      made_.relaxed.push_back({tool.name, tagged.pointer, ""});
    }
    return std::move(tagged.parts);
  }

  static bool has_object(const SchemaForm& form) {
    return std::ranges::any_of(form.nodes[SchemaForm::kRoot], is_object);
  }
  static bool is_object(const SchemaAlternative& alternative) {
    return std::holds_alternative<ObjectForm>(alternative);
  }

  // What begins with a brace is an object.
  static Parts json_arguments(const SchemaMachine& schema) {
    if (std::ranges::all_of(schema.form->nodes[SchemaForm::kRoot], is_object)) {
      return {machine_part(schema.machine)};
    }
    Machine rest = make_behind_machine(schema.machine, "{");
    ZH_CHECK(rest != nullptr);
    return {literal_part("{"), machine_part(std::move(rest))};
  }

  Parts any_arguments() {
    if (plan_.tool_syntax->kind == ToolSyntaxKind::kTagged) {
      return free_tagged_arguments(*plan_.tool_syntax);
    }
    return {machine_part(any_object())};
  }

  // Made once: what is allowed in place of a schema must not depend on what the budget leaves.
  static Machine any_object() {
    static const Machine machine = known_machine(kAnyObject, JsonLayout::kSpaced);
    return machine;
  }
  static Machine any_value() {
    static const Machine machine = known_machine(kAnyValue, JsonLayout::kFree);
    return machine;
  }
  static Machine known_machine(std::string_view schema, JsonLayout layout) {
    const SchemaVerdict verdict = make_schema_machine(schema, layout);
    const auto* made = std::get_if<std::shared_ptr<const SchemaMachine>>(&verdict);
    ZH_CHECK(made != nullptr);
    return (*made)->machine;
  }

  // ---- Documents ----

  Result<Machine> document_or_calls() {
    ZH_ASSIGN_OR_RETURN(Machine document, document_machine());
    TagSet set;
    if (plan_.start != OutputStart::kThinking && !plan_.prefill.empty()) {
      ZH_ASSIGN_OR_RETURN(Machine rest, behind_prefill(std::move(document)));
      return rest;
    }
    add_thinking(set);
    if (tools_.empty() && set.prologue.empty() && plan_.framing.empty()) return document;
    set.alternatives.push_back({machine_part(std::move(document))});
    if (!tools_.empty()) {
      ZH_ASSIGN_OR_RETURN(const CallForm form, call_form());
      set.alternatives.push_back(only_calls(form));
    }
    if (!plan_.framing.empty()) {
      const TagPart frames = machine_part(sure_pattern(pattern_of_frames(plan_.framing)));
      for (Parts& parts : set.alternatives) parts.insert(parts.begin(), frames);
    }
    return sure_machine(std::move(set));
  }

  Result<Machine> document_machine() {
    const OutputRules& rules = plan_.rules;
    const std::string& field = rules.field;
    switch (rules.format) {
      case OutputFormat::kText: break;
      case OutputFormat::kJson: return known_machine(kAnyObject, JsonLayout::kFree);
      case OutputFormat::kJsonSchema: return schema_document();
      case OutputFormat::kRegex: return placed(make_regex_machine(rules.pattern), field);
      case OutputFormat::kChoice: return placed(make_choice_machine(rules.choices), field);
      case OutputFormat::kGrammar: {
        auto parsed = parse_grammar(rules.pattern);
        if (!parsed.ok()) return invalid_request(field, parsed.error().message);
        return placed(make_grammar_machine(std::move(parsed->grammar)), field);
      }
    }
    return Machine();
  }

  Result<Machine> placed(Result<std::unique_ptr<ConstraintMachine>> machine,
                         const std::string& field) {
    if (!machine.ok()) return invalid_request(field, machine.error().message);
    made_.memory_bytes += (*machine)->memory_bytes();
    return Machine(std::move(machine).value());
  }

  Result<Machine> schema_document() {
    const OutputRules& rules = plan_.rules;
    const SchemaVerdict verdict = machines_(rules.schema, JsonLayout::kFree);
    if (const auto* refusal = std::get_if<SchemaRefusal>(&verdict)) {
      if (rules.strict || is_final(refusal->kind)) return schema_error(rules.field, "", *refusal);
      made_.relaxed.push_back({"", refusal->pointer, refusal->keyword});
      return any_value();
    }
    const auto& made = std::get<std::shared_ptr<const SchemaMachine>>(verdict);
    made_.memory_bytes += made->memory_bytes;
    return made->machine;
  }

  // The answer continues a text of the client's, in which the document may begin.
  Result<Machine> behind_prefill(Machine document) {
    std::string prefix(answer_prefill(plan_));
    if (is_json_format(plan_.rules.format)) {
      const std::optional<std::size_t> begin = begun_json(json_root_of(plan_.rules), prefix);
      if (!begin && trim_space_left(prefix).starts_with('{')) return no_beginning();
      if (!begin) {  // words, behind which it comes
        TagSet set;
        set.prologue.push_back(machine_part(sure_pattern("(?: |\\n{1,2})?")));
        set.alternatives.push_back({machine_part(std::move(document))});
        return sure_machine(std::move(set));
      }
      prefix.erase(0, *begin);
    }
    if (prefix.empty()) return document;
    Machine rest = make_behind_machine(std::move(document), std::move(prefix));
    if (rest == nullptr) return no_beginning();
    return rest;
  }

  static Error no_beginning() {
    return invalid_request("messages",
                           "the assistant message at the end begins no answer that the format "
                           "of the answer allows");
  }

  // ---- What stands in front ----

  static std::string mark_of(std::string_view text) { return std::string(mark_core(text)); }

  // Marks of calls in thoughts would be taken for calls.
  std::vector<std::string> marks_out_of(std::string_view close) const {
    std::vector<std::string> marks;
    if (plan_.tool_syntax == nullptr) return marks;
    for (const std::string_view text :
         {plan_.tool_syntax->open, plan_.tool_syntax->open_alternative}) {
      const std::string mark = mark_of(text);
      if (!mark.empty() && close.find(mark) == close.npos && mark.find(close) == mark.npos) {
        marks.push_back(mark);
      }
    }
    return marks;
  }

  // The model may think first, or goes on doing so; then come line breaks.
  void add_thinking(TagSet& set) const {
    if (!plan_.thinking) return;
    const std::string close = mark_of(plan_.thinking->close);
    if (plan_.start != OutputStart::kThinking) {
      set.prologue.push_back(literal_part(mark_of(plan_.thinking->open)));
      set.prologue_presence = TagSet::Presence::kOptional;
    }
    set.prologue.push_back(until_part(close, marks_out_of(close)));
    // Texts that are shown exactly would lose line breaks of their own.
    const bool exact =
        plan_.rules.format != OutputFormat::kText && !is_json_format(plan_.rules.format);
    if (!exact) set.prologue.push_back(machine_part(sure_pattern("\\n{0,2}")));
  }

  const AnswerWish& wish_;
  const OutputPlan& plan_;
  const SchemaMachines& machines_;
  const std::vector<const ToolDefinition*> tools_;
  std::size_t shortest_bytes_ = 0;  // of the arguments of all tools so far
  AnswerConstraint made_;
};

// Fields with their sizes, so that no two lists of fields make one text.
class KeyWriter {
 public:
  KeyWriter& text(std::string_view value) {
    number(value.size());
    key_ += value;
    return *this;
  }
  KeyWriter& number(std::size_t value) {
    key_ += std::to_string(value);
    key_ += ' ';
    return *this;
  }
  std::string take() { return std::move(key_); }

 private:
  std::string key_;
};

}  // namespace

SchemaVerdict make_schema_machine(std::string_view schema, JsonLayout layout,
                                  const SchemaOptions& options) {
  CompiledSchema compiled = compile_answer_schema(schema, options);
  if (auto* refusal = std::get_if<SchemaRefusal>(&compiled)) return std::move(*refusal);
  auto made = std::make_shared<SchemaMachine>();
  made->form = std::move(std::get<std::shared_ptr<const SchemaForm>>(compiled));
  const auto space = layout == JsonLayout::kSpaced ? JsonMachineOptions::WhiteSpace::kSpaced
                                                   : JsonMachineOptions::WhiteSpace::kFree;
  made->machine = make_json_machine(made->form, answer_machine_options(space));
  made->memory_bytes = made->form->memory_bytes + made->machine->memory_bytes();
  return std::shared_ptr<const SchemaMachine>(std::move(made));
}

std::string answer_constraint_key(const AnswerWish& wish) {
  const OutputPlan& plan = wish.plan;
  const OutputRules& rules = plan.rules;
  KeyWriter key;
  key.number(static_cast<std::size_t>(plan.start)).text(plan.forced_tool);
  key.number(plan.parallel_tool_calls).number(plan.call_ends_turn);
  key.text(plan.tool_syntax == nullptr ? std::string_view() : plan.tool_syntax->id);
  key.number(plan.thinking.has_value());
  if (plan.thinking) key.text(plan.thinking->open).text(plan.thinking->close);
  key.number(plan.framing.size());
  for (const std::string& frame : plan.framing) key.text(frame);
  key.number(static_cast<std::size_t>(rules.format)).number(rules.strict);
  key.text(rules.schema).text(rules.pattern).number(rules.choices.size());
  for (const std::string& choice : rules.choices) key.text(choice);
  const bool continues = rules.format != OutputFormat::kText && !forced_start(plan);
  key.text(continues ? std::string_view(plan.prefill) : std::string_view());
  key.number(!plan.prefill.empty());
  for (const ToolDefinition* tool : callable(wish)) {
    key.text(tool->name).text(tool->input_schema);
    key.number(tool->strict).number(is_enforced(wish, *tool));
  }
  return key.take();
}

Result<AnswerConstraint> make_answer_constraint(const AnswerWish& wish,
                                                const SchemaMachines& machines) {
  return Builder(wish, machines).build();
}

}  // namespace zerohop
