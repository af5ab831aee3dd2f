#include "prompt/tagged_call.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"
#include "constrain/json_machine.h"
#include "prompt/parameter_kinds.h"
#include "prompt/sure_machines.h"

namespace zerohop {
namespace {

using Parts = std::vector<TagPart>;

// Of the parameters of a tool; beyond that any are allowed.
constexpr std::size_t kPropertiesMax = 128;
constexpr std::size_t kPropertyNameMax = 256;  // bytes
constexpr std::size_t kNodesMax = 100'000;     // of the forms of all of them
constexpr std::size_t kWordsMax = 200;         // of a string, to be listed one by one

// Where the compiled schema and parameter_kinds() disagree.
constexpr std::string_view kTwoThings = "it says two things about the type of its values";

void exchange_nodes(std::vector<ValueChoice>& choices, SchemaNodeId a, SchemaNodeId b) {
  for (ValueChoice& choice : choices) {
    choice.node = choice.node == a ? b : choice.node == b ? a : choice.node;
  }
}

// The form whose documents are the values of `node`.
std::shared_ptr<const SchemaForm> form_of_node(const SchemaForm& form, SchemaNodeId node) {
  auto own = std::make_shared<SchemaForm>(form);
  std::swap(own->nodes[SchemaForm::kRoot], own->nodes[node]);
  std::swap(own->shortest_bytes[SchemaForm::kRoot], own->shortest_bytes[node]);
  const auto exchange = [&](std::vector<ValueChoice>& choices) {
    exchange_nodes(choices, SchemaForm::kRoot, node);
  };
  for (auto& alternatives : own->nodes) {
    for (SchemaAlternative& alternative : alternatives) {
      if (auto* array = std::get_if<ArrayForm>(&alternative)) {
        for (auto& place : array->prefix) exchange(place);
        exchange(array->rest);
      } else if (auto* object = std::get_if<ObjectForm>(&alternative)) {
        for (auto& property : object->declared) exchange(property.value);
        for (auto& others : object->others) exchange(others.value);
      }
    }
  }
  return own;
}

std::string utf8_of(const std::u32string& text) {
  std::string bytes;
  for (const char32_t code : text) utf8_append(bytes, code);
  return bytes;
}

std::string pointer_to(std::string_view property) {
  std::string pointer = "/properties/";
  for (const char byte : property) {
    pointer += byte == '~'   ? std::string("~0")
               : byte == '/' ? std::string("~1")
                             : std::string(1, byte);
  }
  return pointer;
}

// Of the language of all strings.
std::uint64_t any_string_identity() {
  static const std::uint64_t identity = [] {
    const CompiledSchema compiled = compile_schema(R"({"type":"string"})");
    const auto& form = std::get<std::shared_ptr<const SchemaForm>>(compiled);
    return std::get<StringForm>(form->nodes[SchemaForm::kRoot].front()).content->identity();
  }();
  return identity;
}

// Up to the mark behind a value, which ends it wherever it stands.
Parts text_parts(const ToolSyntax& syntax) {
  const std::string_view mark = mark_core(syntax.parameter_close);
  const std::size_t end = syntax.parameter_close.find(mark) + mark.size();
  return {until_part(std::string(mark)),
          literal_part(std::string(syntax.parameter_close.substr(end)))};
}

class ArgumentsWriter {
 public:
  ArgumentsWriter(const ToolSyntax& syntax, const SchemaForm& form, ParameterKinds kinds)
      : syntax_(syntax), form_(form), kinds_(std::move(kinds)) {}

  TaggedArgumentsGrammar write() {
    const ObjectForm* object = only_object();
    if (object == nullptr || is_too_large(*object)) {
      note_inexact("", object == nullptr ? "its objects are of more than one kind"
                                         : "it has too many parameters, or too long names");
      made_.parts = free_tagged_arguments(syntax_);
      return std::move(made_);
    }
    if (has_joint_rules(*object)) {
      note_inexact("", "it has rules about which parameters go together");
    }
    for (const ObjectForm::Property& property : object->declared) add_property(property);
    return std::move(made_);
  }

 private:
  const ObjectForm* only_object() const {
    const ObjectForm* found = nullptr;
    for (const SchemaAlternative& alternative : form_.nodes[SchemaForm::kRoot]) {
      const auto* object = std::get_if<ObjectForm>(&alternative);
      if (object != nullptr && found != nullptr) return nullptr;
      if (object != nullptr) found = object;
    }
    return found;
  }

  // Every property has a form and a machine of its own, and its name is a trigger.
  bool is_too_large(const ObjectForm& object) const {
    const auto long_name = [](const ObjectForm::Property& property) {
      return property.name.size() > kPropertyNameMax;
    };
    return object.declared.size() > kPropertiesMax ||
           object.declared.size() * form_.nodes.size() > kNodesMax ||
           std::ranges::any_of(object.declared, long_name);
  }

  static bool has_joint_rules(const ObjectForm& object) {
    const auto needs = [](const ObjectForm::Property& property) { return !property.needs.empty(); };
    const auto required = [](const ObjectForm::Property& property) { return property.required; };
    const auto fixed = std::ranges::count_if(object.declared, required);
    return !object.counters.empty() || std::ranges::any_of(object.declared, needs) ||
           object.properties_min > static_cast<std::size_t>(fixed) ||
           object.properties_max < object.declared.size();
  }

  void note_inexact(std::string pointer, std::string_view reason) {
    if (made_.exact) {
      made_.pointer = std::move(pointer);
      made_.reason = reason;
    }
    made_.exact = false;
  }

  void add_property(const ObjectForm::Property& property) {
    if (property.value.empty()) return;
    if (!can_name_parameter(syntax_, property.name)) {
      return note_inexact(pointer_to(property.name), "a parameter cannot have this name");
    }
    std::string opening = std::string(syntax_.parameter_open) + property.name;
    opening += syntax_.parameter_middle;
    Parts rest = value_parts(property);
    if (property.required) {
      made_.parts.push_back(literal_part(std::move(opening)));
      std::ranges::move(rest, std::back_inserter(made_.parts));
      return;
    }
    TagSet perhaps;
    perhaps.rules.push_back({.trigger = std::move(opening), .parts = std::move(rest)});
    perhaps.calls_max = 1;
    perhaps.text = TagSet::Text::kNone;
    made_.parts.push_back(machine_part(sure_machine(std::move(perhaps))));
  }

  // A value and the mark behind it.
  Parts value_parts(const ObjectForm::Property& property) {
    switch (kinds_.of(property.name)) {
      case ParameterKind::kString: return string_parts(property);
      case ParameterKind::kJson: return json_parts(property);
      case ParameterKind::kOpen: break;
    }
    note_inexact(pointer_to(property.name), "its values may be strings or something else");
    return text_parts(syntax_);
  }

  Parts string_parts(const ObjectForm::Property& property) {
    TagSet words;
    for (const ValueChoice& choice : property.value) {
      if (!add_words(choice.node, property.name, words)) return text_parts(syntax_);
    }
    return {machine_part(sure_machine(std::move(words)))};
  }

  Parts json_parts(const ObjectForm::Property& property) {
    TagSet values;
    for (const ValueChoice& choice : property.value) {
      if (may_be_string(choice.node)) {
        note_inexact(pointer_to(property.name), kTwoThings);
        return text_parts(syntax_);
      }
      auto machine = make_json_machine(form_of_node(form_, choice.node),
                                       {.white_space = JsonMachineOptions::WhiteSpace::kSpaced});
      values.alternatives.push_back(
          {machine_part(std::move(machine)), literal_part(std::string(syntax_.parameter_close))});
    }
    return {machine_part(sure_machine(std::move(values)))};
  }

  // The strings of a node, where these can be listed; false: any text has to do.
  bool add_words(SchemaNodeId node, const std::string& name, TagSet& values) {
    for (const SchemaAlternative& alternative : form_.nodes[node]) {
      const auto* text = std::get_if<StringForm>(&alternative);
      if (text == nullptr) {
        note_inexact(pointer_to(name), kTwoThings);
        return false;
      }
      const auto words = text->content->words(text->content->start(), 0, kWordsMax);
      if (!words) {
        if (text->content->identity() != any_string_identity()) {
          note_inexact(pointer_to(name), "it has rules about its text");
        }
        return false;
      }
      for (const std::u32string& word : *words) {
        std::string literal = utf8_of(word);
        if (literal.find(mark_core(syntax_.parameter_close)) != std::string::npos) {
          note_inexact(pointer_to(name), "one of its values holds the mark that ends a value");
          return false;
        }
        literal += syntax_.parameter_close;
        values.alternatives.push_back({literal_part(std::move(literal))});
      }
    }
    return !values.alternatives.empty();
  }

  bool may_be_string(SchemaNodeId node) const {
    return std::ranges::any_of(form_.nodes[node], [](const SchemaAlternative& alternative) {
      return std::holds_alternative<StringForm>(alternative);
    });
  }

  const ToolSyntax& syntax_;
  const SchemaForm& form_;
  const ParameterKinds kinds_;
  TaggedArgumentsGrammar made_;
};

}  // namespace

TaggedArgumentsGrammar tagged_arguments_of(const ToolSyntax& syntax, const SchemaMachine& schema,
                                           std::string_view text) {
  return ArgumentsWriter(syntax, *schema.form, parameter_kinds(text)).write();
}

std::vector<TagPart> free_tagged_arguments(const ToolSyntax& syntax) {
  const std::string_view mark = key_end_mark(syntax);
  const std::size_t key_end = syntax.parameter_middle.find(mark) + mark.size();
  TagRule parameter{.trigger = std::string(syntax.parameter_open), .parts = {}};
  parameter.parts.push_back(until_part(std::string(mark)));
  parameter.parts.push_back(literal_part(std::string(syntax.parameter_middle.substr(key_end))));
  std::ranges::move(text_parts(syntax), std::back_inserter(parameter.parts));
  TagSet parameters;
  parameters.rules.push_back(std::move(parameter));
  parameters.text = TagSet::Text::kNone;
  return {machine_part(sure_machine(std::move(parameters)))};
}

}  // namespace zerohop
