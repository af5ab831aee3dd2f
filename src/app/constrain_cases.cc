#include "app/constrain_cases.h"

#include <algorithm>
#include <array>
#include <utility>

#include "constrain/schema_document.h"

namespace zerohop {
namespace {

using Language = ConstraintText::Language;
using Type = JsonNode::Type;
using Wanted = ExpectedText::Wanted;

// Deeper and larger than a schema may be: a hostile one is for the compiler to refuse.
constexpr JsonLimits kLineLimits{.bytes_max = 32 << 20, .depth_max = 1000, .nodes_max = 2'000'000};

Error fault(std::string message) { return invalid_request({}, std::move(message)); }

std::string id_of(const JsonNode& root, const CaseLine& line) {
  const JsonNode* id = root.find("id");
  const bool named = id != nullptr && (id->is(Type::kString) || id->is(Type::kNumber));
  return named ? id->text : std::to_string(line.number);
}

Result<ConstraintText> constraint_of(const JsonNode& root,
                                     const std::optional<ConstraintText>& otherwise) {
  constexpr std::array<std::pair<std::string_view, Language>, 3> kNames{
      {{"schema", Language::kSchema},
       {"regex", Language::kRegex},
       {"grammar", Language::kGrammar}}};
  std::optional<ConstraintText> found;
  for (const auto& [name, language] : kNames) {
    const JsonNode* node = root.find(name);
    if (node == nullptr) continue;
    if (found) return fault("only one of schema, regex and grammar may be there");
    if (language == Language::kSchema) {
      found = ConstraintText{language, to_json_text(*node)};
    } else if (node->is(Type::kString)) {
      found = ConstraintText{language, node->text};
    } else {
      return fault(std::string(name) + " must be a string");
    }
  }
  if (found) return *std::move(found);
  if (otherwise) return *otherwise;
  return fault("schema is missing");
}

struct ListNames {
  std::string_view values;
  std::string_view texts;
  Wanted wanted;
};
constexpr std::array kLists{ListNames{"accept", "accept_text", Wanted::kAccept},
                            ListNames{"reject", "reject_text", Wanted::kReject}};

Result<const JsonNode*> list_of(const JsonNode& root, std::string_view name) {
  const JsonNode* list = root.find(name);
  if (list != nullptr && !list->is(Type::kArray)) {
    return fault(std::string(name) + " must be an array");
  }
  return list;
}

bool strings_alone(const JsonNode* list) {
  return list == nullptr ||
         std::all_of(list->items.begin(), list->items.end(),
                     [](const JsonNode& each) { return each.is(Type::kString); });
}

Result<std::vector<ExpectedText>> texts_of(const JsonNode& root) {
  bool texts_alone = true;
  for (const ListNames& names : kLists) {
    ZH_ASSIGN_OR_RETURN(const JsonNode* list, list_of(root, names.values));
    texts_alone = texts_alone && strings_alone(list);
  }
  std::vector<ExpectedText> texts;
  for (const ListNames& names : kLists) {
    if (const JsonNode* values = root.find(names.values)) {
      for (const JsonNode& each : values->items) {
        texts.push_back({names.wanted, texts_alone ? each.text : to_json_text(each)});
      }
    }
    ZH_ASSIGN_OR_RETURN(const JsonNode* more, list_of(root, names.texts));
    if (more == nullptr) continue;
    if (!strings_alone(more)) return fault(std::string(names.texts) + " must hold strings");
    for (const JsonNode& each : more->items) texts.push_back({names.wanted, each.text});
  }
  return texts;
}

}  // namespace

std::string case_id(const CaseLine& line) {
  const auto root = parse_json_node(line.text, kLineLimits);
  return root.ok() ? id_of(*root, line) : std::to_string(line.number);
}

Result<CheckCase> parse_case(const CaseLine& line, const std::optional<ConstraintText>& otherwise) {
  ZH_ASSIGN_OR_RETURN(const JsonNode root, parse_json_node(line.text, kLineLimits));
  if (!root.is(Type::kObject)) return fault("a case must be a JSON object");
  CheckCase parsed;
  parsed.id = id_of(root, line);
  ZH_ASSIGN_OR_RETURN(parsed.constraint, constraint_of(root, otherwise));
  ZH_ASSIGN_OR_RETURN(parsed.texts, texts_of(root));
  return parsed;
}

}  // namespace zerohop
