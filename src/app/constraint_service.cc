#include "app/constraint_service.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace zerohop {
namespace {

constexpr std::size_t kRelaxedBytesMax = 1'000;  // of a header's value

// Labels of metrics are few, whatever clients send.
std::string_view known_keyword(std::string_view keyword) {
  constexpr std::array<std::string_view, 53> kKeywords{"$anchor",
                                                       "$defs",
                                                       "$dynamicAnchor",
                                                       "$dynamicRef",
                                                       "$id",
                                                       "$recursiveRef",
                                                       "$ref",
                                                       "$schema",
                                                       "$vocabulary",
                                                       "additionalItems",
                                                       "additionalProperties",
                                                       "allOf",
                                                       "anyOf",
                                                       "const",
                                                       "contains",
                                                       "contentEncoding",
                                                       "contentMediaType",
                                                       "definitions",
                                                       "dependencies",
                                                       "dependentRequired",
                                                       "dependentSchemas",
                                                       "else",
                                                       "enum",
                                                       "exclusiveMaximum",
                                                       "exclusiveMinimum",
                                                       "format",
                                                       "id",
                                                       "if",
                                                       "items",
                                                       "maxContains",
                                                       "maxItems",
                                                       "maxLength",
                                                       "maxProperties",
                                                       "maximum",
                                                       "minContains",
                                                       "minItems",
                                                       "minLength",
                                                       "minProperties",
                                                       "minimum",
                                                       "multipleOf",
                                                       "not",
                                                       "oneOf",
                                                       "pattern",
                                                       "patternProperties",
                                                       "prefixItems",
                                                       "properties",
                                                       "propertyNames",
                                                       "required",
                                                       "then",
                                                       "type",
                                                       "unevaluatedItems",
                                                       "unevaluatedProperties",
                                                       "uniqueItems"};
  const auto known = std::ranges::find(kKeywords, keyword);
  return known == kKeywords.end() ? std::string_view("other") : *known;
}

std::string printable(std::string_view text) {
  std::string shown;
  for (const char byte : text) {
    const bool plain = byte > ' ' && byte < 0x7f && byte != ';';
    shown.push_back(plain ? byte : '?');
  }
  return shown;
}

std::string relaxed_text(const std::vector<RelaxedSchema>& relaxed) {
  std::string text;
  for (std::size_t i = 0; i < relaxed.size(); ++i) {
    const RelaxedSchema& schema = relaxed[i];
    std::string entry = schema.tool.empty() ? "output" : printable(schema.tool);
    for (const std::string& part : {schema.pointer, schema.keyword}) {
      if (!part.empty()) entry += " " + printable(part);
    }
    if (text.size() + entry.size() > kRelaxedBytesMax) {
      return text + (i > 0 ? "; " : "") + "and " + std::to_string(relaxed.size() - i) + " more";
    }
    text += (i > 0 ? "; " : "") + entry;
  }
  return text;
}

}  // namespace

// What the schemas of one request may still take.
struct ConstraintService::Work {
  std::size_t left = 0;
};

SchemaOptions schema_options_of(const ConstraintsConfig& config) {
  SchemaOptions options;
  options.limits.json.bytes_max = config.schema_bytes_max;
  options.limits.work_max = config.work_max;
  return options;
}

ConstraintService::ConstraintService(const ConstraintsConfig& config, const Clock& clock,
                                     Metrics& metrics)
    : config_(config),
      clock_(clock),
      metrics_(metrics),
      constraints_(config.cache_bytes_max / 2),
      schemas_(config.cache_bytes_max / 2) {}

Result<ReadyConstraint> ConstraintService::constraint_for(const OutputPlan& plan,
                                                          const Conversation& conversation) {
  const AnswerWish wish{plan, conversation};
  auto from = Metrics::ConstraintFrom::kCache;
  const std::shared_ptr<const Entry> entry = constraints_.get(answer_constraint_key(wish), [&] {
    from = Metrics::ConstraintFrom::kCompiler;
    return make(wish);
  });
  if (entry->ready.ok() && entry->ready->constraint != nullptr) metrics_.count_constraint(from);
  if (entry->ready.ok() && !entry->ready->relaxed.empty()) metrics_.count_constraint_relaxed();
  return entry->ready;
}

OnceCache<ConstraintService::Entry>::Made ConstraintService::make(const AnswerWish& wish) {
  const TimePoint begun = clock_.now();
  Work work{config_.work_max};
  Result<AnswerConstraint> made =
      make_answer_constraint(wish, [&](std::string_view schema, JsonLayout layout) {
        return schema_machine(schema, layout, work);
      });
  if (!made.ok()) {
    return {std::make_shared<const Entry>(Entry{std::move(made).error()}), 0, false};
  }
  ReadyConstraint ready;
  ready.relaxed = relaxed_text(made->relaxed);
  if (made->machine != nullptr) {
    auto compiled = std::make_shared<CompiledConstraint>();
    compiled->id = next_id_.fetch_add(1, std::memory_order_relaxed);
    compiled->machine = std::move(made->machine);
    compiled->shortest = std::move(made->shortest);
    compiled->memory_bytes = made->memory_bytes;
    ready.constraint = std::move(compiled);
    metrics_.constraint_compile_seconds.observe(clock_.now() - begun);
  }
  const std::size_t bytes = made->memory_bytes + ready.relaxed.size();
  return {std::make_shared<const Entry>(Entry{std::move(ready)}), bytes};
}

SchemaVerdict ConstraintService::schema_machine(std::string_view schema, JsonLayout layout,
                                                Work& work) {
  std::string key(layout == JsonLayout::kSpaced ? "spaced " : "free ");
  key += schema;
  const auto verdict = schemas_.get(key, [&]() -> OnceCache<SchemaVerdict>::Made {
    SchemaOptions options = schema_options_of(config_);
    options.limits.work_max = work.left;
    auto made = std::make_shared<const SchemaVerdict>(make_schema_machine(schema, layout, options));
    if (const auto* machine = std::get_if<std::shared_ptr<const SchemaMachine>>(made.get())) {
      work.left -= std::min(work.left, (*machine)->form->work);
      return {made, (*machine)->memory_bytes};
    }
    const SchemaRefusal& refusal = std::get<SchemaRefusal>(*made);
    const bool whole = work.left == config_.work_max;
    work.left -= std::min(work.left, refusal.work);
    // How much work was left says nothing about the schema.
    if (refusal.kind != SchemaRefusal::Kind::kTooLarge) return {made, sizeof(SchemaRefusal)};
    return {made, sizeof(SchemaRefusal), false, whole};
  });
  if (const auto* refusal = std::get_if<SchemaRefusal>(verdict.get())) {
    metrics_.count_constraint_refusal(refusal_kind_name(refusal->kind),
                                      known_keyword(refusal->keyword));
  }
  return *verdict;
}

}  // namespace zerohop
