// Reads the keywords of one schema object into rules.
//
// The order of the rules is fixed, whatever the order of the keywords: cheap ones in front, so that
// an alternative that cannot be dies early, and `properties` in front of combinations, so that the
// names of a schema come before those of its parts in the order of generation.
#include <optional>
#include <utility>

#include "constrain/schema_loading.h"
#include "constrain/schema_uri.h"
#include "constrain/schema_values.h"

namespace zerohop {
namespace {
using Type = JsonNode::Type;

class KeywordReader {
 public:
  KeywordReader(SchemaLoading& loading, const JsonNode& node, SchemaId id)
      : loading_(loading),
        node_(node),
        id_(id),
        resource_(loading.set.schemas[id].resource),
        draft_(loading.set.resources[resource_].draft),
        digits_alone_(loading.options.integers == SchemaOptions::Integers::kDigitsAlone),
        validates_(loading.set.resources[resource_].validates) {}

  void read() {
    read_definitions("definitions");
    read_definitions("$defs");
    const bool hides = draft_ <= SchemaDraft::k7 && node_.find("$ref") != nullptr;
    if (hides) {
      read_reference("$ref");
    } else {
      if (validates_) read_assertions();
      read_format();
      if (draft_ == SchemaDraft::k7) read_content();
      read_arrays();
      read_objects();
      read_combinations();
      read_unevaluated();
    }
    SchemaSet& set = loading_.set;
    set.schemas[id_].first_rule = static_cast<RuleId>(set.rules.size());
    set.schemas[id_].rules = static_cast<std::uint32_t>(made_.size());
    for (SchemaRule& rule : made_) {
      if (rule.kind == RuleKind::kReference) {
        loading_.references.push_back(static_cast<RuleId>(set.rules.size()));
      }
      set.rules.push_back(std::move(rule));
    }
  }

 private:
  const JsonNode* find(std::string_view keyword, SchemaDraft since = SchemaDraft::k4) const {
    return draft_ < since ? nullptr : node_.find(keyword);
  }
  void invalid(std::string_view keyword, std::string reason) {
    loading_.invalid(id_, keyword, std::move(reason));
  }
  SchemaRule& add(RuleKind kind, std::string_view keyword) {
    SchemaRule& rule = made_.emplace_back();
    rule.kind = kind;
    rule.owner = id_;
    rule.keyword = keyword;
    return rule;
  }
  SchemaId child(const JsonNode& node, std::string_view keyword) {
    return loading_.load(node, SchemaPlace{id_, "/" + std::string(keyword), resource_});
  }
  SchemaId child(const JsonNode& node, std::string_view keyword, const std::string& step) {
    return loading_.load(node, SchemaPlace{id_, "/" + std::string(keyword) + step, resource_});
  }

  void read_definitions(std::string_view keyword) {
    const JsonNode* all = node_.find(keyword);
    if (all == nullptr) return;
    if (!all->is(Type::kObject)) return invalid(keyword, "must be an object");
    for (const auto& [name, node] : all->members) child(node, keyword, pointer_step(name));
  }

  // --- Assertions about one value.

  void read_assertions() {
    read_types();
    read_values();
    for (const auto& [keyword, kind] :
         {std::pair<std::string_view, RuleKind>{"minLength", RuleKind::kMinLength},
          {"minItems", RuleKind::kMinItems},
          {"minProperties", RuleKind::kMinProperties}}) {
      std::uint32_t count = 0;
      if (read_count(keyword, count) && count > 0) add(kind, keyword).least = count;
    }
    for (const auto& [keyword, kind] :
         {std::pair<std::string_view, RuleKind>{"maxLength", RuleKind::kMaxLength},
          {"maxItems", RuleKind::kMaxItems},
          {"maxProperties", RuleKind::kMaxProperties}}) {
      std::uint32_t count = 0;
      if (read_count(keyword, count)) add(kind, keyword).most = count;
    }
    read_limit("minimum", "exclusiveMinimum", RuleKind::kMinimum, RuleKind::kExclusiveMinimum);
    read_limit("maximum", "exclusiveMaximum", RuleKind::kMaximum, RuleKind::kExclusiveMaximum);
    read_multiple();
    read_texts();
    read_unique();
    read_required();
  }

  bool add_type(const JsonNode& name, SchemaRule& rule, bool& numbers) {
    const std::pair<std::string_view, TypeSet> names[] = {
        {"null", type_bit(Type::kNull)},
        {"object", type_bit(Type::kObject)},
        {"array", type_bit(Type::kArray)},
        {"string", type_bit(Type::kString)},
        {"number", type_bit(Type::kNumber)},
        {"integer", type_bit(Type::kNumber)},
        {"boolean", static_cast<TypeSet>(type_bit(Type::kFalse) | type_bit(Type::kTrue))}};
    if (!name.is(Type::kString)) return false;
    for (const auto& [known, types] : names) {
      if (name.text != known) continue;
      rule.types = static_cast<TypeSet>(rule.types | types);
      numbers |= known == "number";
      return true;
    }
    return false;
  }

  void read_types() {
    const JsonNode* type = node_.find("type");
    if (type == nullptr) return;
    SchemaRule rule;
    rule.types = 0;
    bool numbers = false;
    bool good = type->is(Type::kString) || (type->is(Type::kArray) && !type->items.empty());
    if (type->is(Type::kString)) good = add_type(*type, rule, numbers);
    for (const JsonNode& name : type->items) good = good && add_type(name, rule, numbers);
    if (!good) {
      return invalid("type",
                     "must be null, boolean, integer, number, string, array, object, or a list of "
                     "these");
    }
    rule.integers = (rule.types & type_bit(Type::kNumber)) != 0 && !numbers;
    // OpenAPI 3.0 writes optional values so; a schema that names its draft does not mean it.
    const JsonNode* nullable = node_.find("nullable");
    if (nullable != nullptr && !loading_.traits[resource_].explicit_draft) {
      if (!nullable->is(Type::kTrue) && !nullable->is(Type::kFalse)) {
        return invalid("nullable", "must be true or false");
      }
      if (nullable->is(Type::kTrue)) {
        rule.types = static_cast<TypeSet>(rule.types | type_bit(Type::kNull));
      }
    }
    if (rule.types == kAllTypes && !rule.integers) return;
    SchemaRule& added = add(RuleKind::kTypes, "type");
    added.types = rule.types;
    added.integers = rule.integers;
    added.digits_alone = rule.integers && (draft_ == SchemaDraft::k4 || digits_alone_);
  }

  void read_values() {
    if (const JsonNode* value = find("const", SchemaDraft::k6)) {
      add(RuleKind::kValues, "const").values = value_set({value}, "const");
    }
    const JsonNode* values = node_.find("enum");
    if (values == nullptr) return;
    if (!values->is(Type::kArray)) return invalid("enum", "must be an array");
    std::vector<const JsonNode*> all;
    for (const JsonNode& value : values->items) all.push_back(&value);
    auto set = value_set(all, "enum");
    add(RuleKind::kValues, "enum").values = std::move(set);
  }

  std::shared_ptr<const ValueSet> value_set(const std::vector<const JsonNode*>& values,
                                            std::string_view keyword) {
    auto set = std::make_shared<ValueSet>();
    for (const JsonNode* value : values) {
      if (!add_value(loading_, *value, id_, *set)) {
        invalid(keyword, "holds a number that is too large");
      }
    }
    sort_values(*set);
    return set;
  }

  // A whole number ≥ 0 that may be written 2.0; from 10^9 on it is no bound.
  bool read_count(std::string_view keyword, std::uint32_t& count) {
    const JsonNode* value = node_.find(keyword);
    if (value == nullptr) return false;
    const auto number = decimal(*value);
    if (!number || number->negative || number->exponent < 0) {
      invalid(keyword, "must be a whole number that is not negative");
      return false;
    }
    constexpr std::int64_t kCountsEnd = 1'000'000'000;
    const std::int64_t small = small_integer(*number).value_or(kCountsEnd);
    count = small < kCountsEnd ? static_cast<std::uint32_t>(small) : kNoBound;
    return true;
  }

  static std::optional<Decimal> decimal(const JsonNode& value) {
    if (!value.is(Type::kNumber)) return std::nullopt;
    auto number = parse_decimal(value.text);
    if (!number.ok()) return std::nullopt;
    return std::move(number.value());
  }

  // minimum and exclusiveMinimum, the latter a number or (draft 4) a boolean beside the former.
  void read_limit(std::string_view keyword, std::string_view exclusive_keyword, RuleKind kind,
                  RuleKind exclusive_kind) {
    const JsonNode* value = node_.find(keyword);
    const JsonNode* exclusive = node_.find(exclusive_keyword);
    bool strictly = false;
    if (exclusive != nullptr && (exclusive->is(Type::kTrue) || exclusive->is(Type::kFalse))) {
      strictly = exclusive->is(Type::kTrue);
      exclusive = nullptr;
    }
    if (value != nullptr) {
      const auto number = decimal(*value);
      if (!number) return invalid(keyword, "must be a number");
      add(strictly ? exclusive_kind : kind, keyword).number = *number;
    }
    if (exclusive == nullptr) return;
    const auto number = decimal(*exclusive);
    if (!number) return invalid(exclusive_keyword, "must be a number");
    add(exclusive_kind, exclusive_keyword).number = *number;
  }

  void read_multiple() {
    const JsonNode* value = node_.find("multipleOf");
    if (value == nullptr) return;
    const auto number = decimal(*value);
    if (!number || number->negative || number->digits.empty()) {
      return invalid("multipleOf", "must be a number above 0");
    }
    add(RuleKind::kMultipleOf, "multipleOf").number = *number;
  }

  void read_texts() {
    if (const JsonNode* pattern = node_.find("pattern")) {
      if (!pattern->is(Type::kString)) return invalid("pattern", "must be a string");
      add(RuleKind::kPattern, "pattern").text = pattern->text;
    }
  }

  // Another vocabulary than the other assertions.
  void read_format() {
    const JsonNode* format = node_.find("format");
    if (format == nullptr) return;
    if (!format->is(Type::kString)) return invalid("format", "must be a string");
    if (!loading_.traits[resource_].assert_formats) return;
    add(RuleKind::kFormat, "format").text = format->text;
  }

  // Draft 7 lets these be assertions; later drafts do not.
  void read_content() {
    if (const JsonNode* encoding = node_.find("contentEncoding")) {
      if (!encoding->is(Type::kString)) return invalid("contentEncoding", "must be a string");
      if (encoding->text == "base64") {
        add(RuleKind::kPattern, "contentEncoding").text =
            "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$";
      }
    }
    if (const JsonNode* media = node_.find("contentMediaType")) {
      if (!media->is(Type::kString)) return invalid("contentMediaType", "must be a string");
      loading_.refuse(SchemaRefusal::Kind::kUnsupported, id_, "contentMediaType",
                      "the content of strings cannot be enforced");
    }
  }

  void read_unique() {
    const JsonNode* unique = node_.find("uniqueItems");
    if (unique == nullptr) return;
    if (!unique->is(Type::kTrue) && !unique->is(Type::kFalse)) {
      return invalid("uniqueItems", "must be true or false");
    }
    if (unique->is(Type::kTrue)) add(RuleKind::kUniqueItems, "uniqueItems");
  }

  bool read_names(const JsonNode& node, std::vector<std::string>& names) {
    if (!node.is(Type::kArray)) return false;
    for (const JsonNode& name : node.items) {
      if (!name.is(Type::kString)) return false;
      names.push_back(name.text);
    }
    return true;
  }

  void read_required() {
    const JsonNode* required = node_.find("required");
    if (required == nullptr) return;
    std::vector<std::string> names;
    if (!read_names(*required, names)) return invalid("required", "must be an array of strings");
    if (!names.empty()) required_ = std::move(names);
  }

  // --- Arrays.

  std::vector<SchemaId> children(const JsonNode& list, std::string_view keyword) {
    std::vector<SchemaId> schemas;
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      schemas.push_back(child(list.items[i], keyword, "/" + std::to_string(i)));
    }
    return schemas;
  }

  void read_arrays() {
    std::vector<SchemaId> prefix;
    SchemaId rest = kNoSchema;
    std::string_view keyword = "items";
    const JsonNode* items = node_.find("items");
    if (const JsonNode* list = find("prefixItems", SchemaDraft::k2020)) {
      if (!list->is(Type::kArray)) return invalid("prefixItems", "must be an array");
      prefix = children(*list, "prefixItems");
      keyword = "prefixItems";
    }
    if (items != nullptr && items->is(Type::kArray)) {
      if (!prefix.empty()) return invalid("items", "must be a schema beside prefixItems");
      prefix = children(*items, "items");
      if (const JsonNode* additional = node_.find("additionalItems")) {
        rest = child(*additional, "additionalItems");
      }
    } else if (items != nullptr) {
      rest = child(*items, "items");
    }
    if (!prefix.empty() || rest != kNoSchema) {
      SchemaRule& rule = add(RuleKind::kItems, keyword);
      rule.schemas = std::move(prefix);
      rule.rest = rest;
    }
    read_contains();
  }

  void read_contains() {
    const JsonNode* contains = find("contains", SchemaDraft::k6);
    std::uint32_t least = 1;
    std::uint32_t most = kNoBound;
    if (draft_ >= SchemaDraft::k2019 && validates_) {
      if (!read_count("minContains", least)) least = 1;
      read_count("maxContains", most);
    }
    if (contains == nullptr) return;
    const SchemaId schema = child(*contains, "contains");
    SchemaRule& rule = add(RuleKind::kContains, "contains");
    rule.schemas = {schema};
    rule.least = least;
    rule.most = most;
  }

  // --- Objects.

  void read_objects() {
    SchemaRule rule;
    read_named("properties", rule.names, rule.schemas);
    read_named("patternProperties", rule.patterns, rule.schemas);
    if (const JsonNode* rest = node_.find("additionalProperties")) {
      rule.rest = child(*rest, "additionalProperties");
    }
    if (!rule.schemas.empty() || rule.rest != kNoSchema) {
      SchemaRule& added = add(RuleKind::kProperties, "properties");
      added.schemas = std::move(rule.schemas);
      added.names = std::move(rule.names);
      added.patterns = std::move(rule.patterns);
      added.rest = rule.rest;
    }
    if (!required_.empty()) add(RuleKind::kRequired, "required").names = std::move(required_);
    if (const JsonNode* names = find("propertyNames", SchemaDraft::k6)) {
      const SchemaId schema = child(*names, "propertyNames");
      add(RuleKind::kPropertyNames, "propertyNames").schemas = {schema};
    }
    if (validates_) read_dependencies("dependentRequired", SchemaDraft::k2019);
    read_dependencies("dependentSchemas", SchemaDraft::k2019);
    read_dependencies("dependencies", SchemaDraft::k4);
  }

  void read_named(std::string_view keyword, std::vector<std::string>& names,
                  std::vector<SchemaId>& schemas) {
    const JsonNode* all = node_.find(keyword);
    if (all == nullptr) return;
    if (!all->is(Type::kObject)) return invalid(keyword, "must be an object");
    for (const auto& [name, node] : all->members) {
      names.push_back(name);
      schemas.push_back(child(node, keyword, pointer_step(name)));
    }
  }

  void read_dependencies(std::string_view keyword, SchemaDraft since) {
    const JsonNode* all = find(keyword, since);
    if (all == nullptr) return;
    if (!all->is(Type::kObject)) return invalid(keyword, "must be an object");
    for (const auto& [name, node] : all->members) {
      if (node.is(Type::kArray) && keyword != "dependentSchemas") {
        std::vector<std::string> names;
        if (!read_names(node, names)) return invalid(keyword, "must hold arrays of strings");
        if (names.empty()) continue;
        SchemaRule& rule = add(RuleKind::kNeeds, keyword);
        rule.text = name;
        rule.names = std::move(names);
      } else if (keyword == "dependentRequired") {
        return invalid(keyword, "must hold arrays of strings");
      } else {
        const SchemaId schema = child(node, keyword, pointer_step(name));
        SchemaRule& rule = add(RuleKind::kDependentSchema, keyword);
        rule.text = name;
        rule.schemas = {schema};
      }
    }
  }

  // --- Combinations.

  void read_combinations() {
    read_reference("$ref");
    if (draft_ >= SchemaDraft::k2020) read_reference("$dynamicRef");
    if (draft_ == SchemaDraft::k2019) read_reference("$recursiveRef");
    read_list("allOf", RuleKind::kAllOf);
    read_list("anyOf", RuleKind::kAnyOf);
    read_list("oneOf", RuleKind::kOneOf);
    if (const JsonNode* negated = node_.find("not")) {
      const SchemaId schema = child(*negated, "not");
      add(RuleKind::kNot, "not").schemas = {schema};
    }
    read_if();
  }

  void read_reference(std::string_view keyword) {
    const JsonNode* reference = node_.find(keyword);
    if (reference == nullptr) return;
    if (!reference->is(Type::kString)) return invalid(keyword, "must be a string");
    SchemaRule& rule = add(RuleKind::kReference, keyword);
    rule.text = resolve_uri(loading_.set.resources[resource_].uri, reference->text);
    if (rule.text.empty()) rule.text = "#";
  }

  void read_list(std::string_view keyword, RuleKind kind) {
    const JsonNode* list = node_.find(keyword);
    if (list == nullptr) return;
    if (!list->is(Type::kArray) || list->items.empty()) {
      return invalid(keyword, "must be an array that is not empty");
    }
    std::vector<SchemaId> schemas = children(*list, keyword);
    if (kind != RuleKind::kAllOf) {
      auto values = united_values(loading_.set, schemas, kind == RuleKind::kOneOf);
      if (values != nullptr) {
        add(RuleKind::kValues, keyword).values = std::move(values);
        return;
      }
    }
    add(kind, keyword).schemas = std::move(schemas);
  }

  void read_if() {
    const JsonNode* condition = find("if", SchemaDraft::k7);
    const JsonNode* then_node = find("then", SchemaDraft::k7);
    const JsonNode* else_node = find("else", SchemaDraft::k7);
    std::vector<SchemaId> schemas;
    schemas.push_back(condition == nullptr ? kAlwaysSchema : child(*condition, "if"));
    schemas.push_back(then_node == nullptr ? kAlwaysSchema : child(*then_node, "then"));
    schemas.push_back(else_node == nullptr ? kAlwaysSchema : child(*else_node, "else"));
    if (condition != nullptr) add(RuleKind::kIf, "if").schemas = std::move(schemas);
  }

  void read_unevaluated() {
    if (const JsonNode* rest = find("unevaluatedItems", SchemaDraft::k2019)) {
      const SchemaId schema = child(*rest, "unevaluatedItems");
      add(RuleKind::kUnevaluatedItems, "unevaluatedItems").schemas = {schema};
    }
    if (const JsonNode* rest = find("unevaluatedProperties", SchemaDraft::k2019)) {
      const SchemaId schema = child(*rest, "unevaluatedProperties");
      add(RuleKind::kUnevaluatedProperties, "unevaluatedProperties").schemas = {schema};
    }
  }

  SchemaLoading& loading_;
  const JsonNode& node_;
  const SchemaId id_;
  const std::uint32_t resource_;
  const SchemaDraft draft_;
  const bool digits_alone_;
  const bool validates_;
  std::vector<SchemaRule> made_;
  std::vector<std::string> required_;
};

}  // namespace

void read_keywords(SchemaLoading& loading, const JsonNode& node, SchemaId id) {
  KeywordReader(loading, node, id).read();
}

}  // namespace zerohop
