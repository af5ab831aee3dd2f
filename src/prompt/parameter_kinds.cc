#include "prompt/parameter_kinds.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "constrain/schema_document.h"

namespace zerohop {
namespace {

// Sets of types of values, one bit each. Integers are numbers.
using Types = std::uint8_t;
constexpr Types kNull = 1;
constexpr Types kBoolean = 2;
constexpr Types kNumber = 4;
constexpr Types kString = 8;
constexpr Types kArray = 16;
constexpr Types kObject = 32;
constexpr Types kAll = 63;

// Schemas looked at for one tool; a set of references may lead to each many times.
constexpr std::size_t kVisitsMax = 20'000;
constexpr int kDepthMax = 64;

Types type_of(const JsonNode& value) {
  switch (value.type) {
    case JsonNode::Type::kNull: return kNull;
    case JsonNode::Type::kFalse:
    case JsonNode::Type::kTrue: return kBoolean;
    case JsonNode::Type::kNumber: return kNumber;
    case JsonNode::Type::kString: return kString;
    case JsonNode::Type::kArray: return kArray;
    case JsonNode::Type::kObject: return kObject;
  }
  return kAll;
}

Types type_named(const JsonNode& name) {
  if (!name.is(JsonNode::Type::kString)) return kAll;
  if (name.text == "null") return kNull;
  if (name.text == "boolean") return kBoolean;
  if (name.text == "number" || name.text == "integer") return kNumber;
  if (name.text == "string") return kString;
  if (name.text == "array") return kArray;
  if (name.text == "object") return kObject;
  return kAll;
}

// "/a~1b" to {"a/b"}; nothing where it is percent-encoded, which is rare.
std::optional<std::vector<std::string>> steps_of(std::string_view pointer) {
  std::vector<std::string> steps;
  while (!pointer.empty()) {
    if (pointer.front() != '/') return std::nullopt;
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    std::string step;
    for (std::size_t i = 0; i < end; ++i) {
      if (pointer[i] == '%') return std::nullopt;
      const bool escape = pointer[i] == '~' && i + 1 < end;
      step += !escape ? pointer[i] : pointer[++i] == '1' ? '/' : '~';
    }
    steps.push_back(std::move(step));
    pointer.remove_prefix(end);
  }
  return steps;
}

// An `$id` inside makes another document of what it stands in, with pointers of its own.
bool has_inner_id(const JsonNode& node, bool root) {
  for (const auto& [name, value] : node.members) {
    const bool id = name == "$id" || name == "id";
    if (!root && id && value.is(JsonNode::Type::kString)) return true;
    if (has_inner_id(value, false)) return true;
  }
  return std::ranges::any_of(node.items,
                             [](const JsonNode& item) { return has_inner_id(item, false); });
}

class Reader {
 public:
  explicit Reader(const JsonNode& root)
      : root_(root),
        knows_const_(!declares_draft_before_6(root)),
        follows_references_(!has_inner_id(root, true)) {}

  /// What values of the schema itself may be.
  Types types(const JsonNode& schema, int depth = 0) {
    if (!visit(depth)) return kAll;
    if (schema.is(JsonNode::Type::kFalse)) return 0;
    if (!schema.is(JsonNode::Type::kObject)) return kAll;
    // In older drafts what stands beside a reference counts for nothing.
    if (schema.find("$ref") != nullptr) {
      const JsonNode* target = target_of(schema);
      return target == nullptr ? kAll : types(*target, depth + 1);
    }
    Types result = kAll;
    if (const JsonNode* type = schema.find("type")) {
      result &=
          type->is(JsonNode::Type::kArray) ? any_of(type->items, type_named) : type_named(*type);
    }
    if (const JsonNode* words = schema.find("enum"); words && words->is(JsonNode::Type::kArray)) {
      result &= any_of(words->items, type_of);
    }
    if (const JsonNode* word = schema.find("const"); word && knows_const_) result &= type_of(*word);
    return result & combined(schema, [&](const JsonNode& part) { return types(part, depth + 1); });
  }

  /// What the property `name` of its objects may be.
  Types property_types(const JsonNode& schema, std::string_view name, int depth = 0) {
    if (!visit(depth)) return kAll;
    if (schema.find("$ref") != nullptr) {
      const JsonNode* target = target_of(schema);
      return target == nullptr ? kAll : property_types(*target, name, depth + 1);
    }
    Types result = kAll;
    if (const JsonNode* properties = schema.find("properties")) {
      if (const JsonNode* own = properties->find(name)) result &= types(*own, depth + 1);
    }
    return result & combined(schema, [&](const JsonNode& part) {
             return property_types(part, name, depth + 1);
           });
  }

  /// The names in `properties`, each once, also of the parts of the schema.
  void collect_names(const JsonNode& schema, std::vector<std::string>& names, int depth = 0) {
    if (!visit(depth)) return;
    if (const JsonNode* target = target_of(schema)) collect_names(*target, names, depth + 1);
    if (const JsonNode* properties = schema.find("properties")) {
      for (const auto& [name, own] : properties->members) {
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
      }
    }
    for (const std::string_view keyword : {"allOf", "anyOf", "oneOf"}) {
      const JsonNode* parts = schema.find(keyword);
      if (parts == nullptr) continue;
      for (const JsonNode& part : parts->items) collect_names(part, names, depth + 1);
    }
  }

  bool gave_up() const { return visits_ > kVisitsMax; }

 private:
  static bool declares_draft_before_6(const JsonNode& root) {
    const JsonNode* draft = root.find("$schema");
    return draft != nullptr && (draft->text.find("draft-03") != std::string::npos ||
                                draft->text.find("draft-04") != std::string::npos);
  }

  bool visit(int depth) { return ++visits_ <= kVisitsMax && depth <= kDepthMax; }

  template <class Of>
  static Types any_of(const std::vector<JsonNode>& nodes, Of of) {
    Types result = 0;
    for (const JsonNode& node : nodes) result |= of(node);
    return result;
  }

  // What allOf, anyOf and oneOf leave of what `of` says about their parts.
  template <class Of>
  static Types combined(const JsonNode& schema, Of of) {
    Types result = kAll;
    if (const JsonNode* all = schema.find("allOf")) {
      for (const JsonNode& part : all->items) result &= of(part);
    }
    for (const std::string_view keyword : {"anyOf", "oneOf"}) {
      const JsonNode* any = schema.find(keyword);
      if (any != nullptr && any->is(JsonNode::Type::kArray)) result &= any_of(any->items, of);
    }
    return result;
  }

  const JsonNode* target_of(const JsonNode& schema) const {
    const JsonNode* reference = schema.find("$ref");
    if (reference == nullptr || !follows_references_ || !reference->text.starts_with('#')) {
      return nullptr;
    }
    const auto steps = steps_of(std::string_view(reference->text).substr(1));
    if (!steps) return nullptr;
    const JsonNode* node = &root_;
    for (const std::string& step : *steps) {
      node = node->find(step);  // of an array: none
      if (node == nullptr) return nullptr;
    }
    return node;
  }

  const JsonNode& root_;
  const bool knows_const_;
  const bool follows_references_;
  std::size_t visits_ = 0;
};

}  // namespace

ParameterKind ParameterKinds::of(std::string_view name) const {
  if (std::ranges::find(strings, name) != strings.end()) return ParameterKind::kString;
  return std::ranges::find(json, name) != json.end() ? ParameterKind::kJson : ParameterKind::kOpen;
}

ParameterKinds parameter_kinds(std::string_view schema) {
  ParameterKinds kinds;
  const Result<JsonNode> root = parse_json_node(schema);
  if (!root.ok()) return kinds;
  Reader reader(*root);
  std::vector<std::string> names;
  reader.collect_names(*root, names);
  for (std::string& name : names) {
    const Types types = reader.property_types(*root, name);
    if (reader.gave_up()) return {};
    if (types == kString) {
      kinds.strings.push_back(std::move(name));
    } else if ((types & kString) == 0) {
      kinds.json.push_back(std::move(name));
    }
  }
  return kinds;
}

bool is_object_schema(std::string_view schema) {
  const Result<JsonNode> root = parse_json_node(schema);
  return root.ok() && Reader(*root).types(*root) == kObject;
}

}  // namespace zerohop
