#include "constrain/schema_rules.h"

#include <algorithm>

#include "base/check.h"

namespace zerohop {

TypeSet types_of(RuleKind kind) {
  using Type = JsonNode::Type;
  if (kind <= RuleKind::kValues) return kAllTypes;
  if (kind <= RuleKind::kMultipleOf) return type_bit(Type::kNumber);
  if (kind <= RuleKind::kFormat) return type_bit(Type::kString);
  if (kind <= RuleKind::kUnevaluatedItems) return type_bit(Type::kArray);
  return type_bit(Type::kObject);
}

SchemaSet::SchemaSet() : schemas(2), resources(1) {
  SchemaRule never;
  never.kind = RuleKind::kTypes;
  never.owner = kNeverSchema;
  never.types = 0;
  rules.push_back(std::move(never));
  schemas[kNeverSchema].rules = 1;
}

std::string SchemaSet::pointer(SchemaId schema) const {
  std::vector<const std::string*> steps;
  std::size_t bytes = 0;
  for (SchemaId at = schema; at != kNoSchema; at = schemas[at].parent) {
    steps.push_back(&schemas[at].step);
    bytes += schemas[at].step.size();
  }
  std::string text;
  text.reserve(bytes);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) text += **step;
  return text;
}

SchemaId SchemaSet::add(SchemaId like, std::vector<SchemaRule> made) {
  ZH_CHECK(like < schemas.size());
  const auto id = static_cast<SchemaId>(schemas.size());
  SchemaPart part;
  part.parent = like;
  part.resource = schemas[like].resource;
  part.first_rule = static_cast<RuleId>(rules.size());
  part.rules = static_cast<std::uint32_t>(made.size());
  for (SchemaRule& rule : made) {
    rule.owner = id;
    rules.push_back(std::move(rule));
  }
  schemas.push_back(std::move(part));
  return id;
}

}  // namespace zerohop
