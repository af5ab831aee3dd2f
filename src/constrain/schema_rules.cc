#include "constrain/schema_rules.h"

#include <utility>

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

bool CountRange::apply(const SchemaRule& rule, bool holds) {
  switch (rule.kind) {
    case RuleKind::kMinLength:
    case RuleKind::kMinItems:
    case RuleKind::kMinProperties:
      if (holds) {
        at_least(rule.least);
      } else if (rule.least > 0) {
        at_most(rule.least - 1);
      } else {
        *this = {.least = 1, .most = 0};
      }
      return true;
    case RuleKind::kMaxLength:
    case RuleKind::kMaxItems:
    case RuleKind::kMaxProperties:
      if (holds) {
        at_most(rule.most);
      } else {
        at_least(std::uint64_t{rule.most} + 1);
      }
      return true;
    default: return false;
  }
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

SchemaRefusal SchemaSet::refusal(SchemaRefusal::Kind kind, const SchemaBlame& blame,
                                 std::string reason) const {
  return {kind, pointer(blame.schema), std::string(blame.keyword), std::move(reason)};
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
