// The steps of a compilation:
//
//   text ──load_schema──▶ rules ──SchemaBuilder──▶ nodes ──trimmed_form──▶ form
//          references     │        SchemaTableau: branches of facts per type
//          resolved       │        merge_array, merge_object: facts to alternatives
//
// Each step can refuse; the first refusal ends it. Work is counted in all of them, so the most
// hostile schema ends within the budget.
#include "constrain/schema_compiler.h"

#include <utility>

#include "constrain/schema_builder.h"
#include "constrain/schema_loader.h"
#include "constrain/schema_trim.h"
#include "constrain/schema_unique.h"

namespace zerohop {
namespace {

std::size_t memory_of(const SchemaForm& form) {
  std::size_t bytes = sizeof(form);
  for (const auto& alternatives : form.nodes) {
    bytes += sizeof(alternatives) + sizeof(std::uint32_t);
    for (const SchemaAlternative& alternative : alternatives) bytes += memory_of(alternative);
  }
  return bytes;
}

}  // namespace

std::string_view refusal_kind_name(SchemaRefusal::Kind kind) {
  switch (kind) {
    case SchemaRefusal::Kind::kInvalid: return "invalid";
    case SchemaRefusal::Kind::kUnsupported: return "unsupported";
    case SchemaRefusal::Kind::kUnsatisfiable: return "unsatisfiable";
    case SchemaRefusal::Kind::kTooLarge: return "too_large";
  }
  return {};
}

CompiledSchema compile_schema(std::string_view schema_text, const SchemaOptions& options) {
  auto loaded = load_schema(schema_text, options);
  if (auto* refusal = std::get_if<SchemaRefusal>(&loaded)) return std::move(*refusal);
  SchemaSet& set = std::get<SchemaSet>(loaded);
  const SchemaId endless = find_endless_reference(set);
  if (endless != kNoSchema) {
    return SchemaRefusal{SchemaRefusal::Kind::kInvalid, set.pointer(endless), "$ref",
                         "leads back to itself without a step into the value"};
  }
  SchemaWork work(options.limits.work_max);
  work.charge(set.rules.size());
  SchemaBuilder builder(set, work, options);
  const auto refused = [&work](SchemaRefusal refusal) {
    refusal.work = work.done();
    return refusal;
  };
  auto nodes = builder.build();
  if (work.stopped()) return refused(*work.refusal());
  auto form = std::make_shared<SchemaForm>(trimmed_form(std::move(nodes), work));
  if (!work.stopped() && !form->nodes.empty()) settle_unique_items(*form, builder);
  if (work.stopped()) return refused(*work.refusal());
  if (form->nodes.empty()) {
    return refused(SchemaRefusal{SchemaRefusal::Kind::kUnsatisfiable, "", "",
                                 "no document satisfies this schema"});
  }
  form->memory_bytes = memory_of(*form) + builder.memory_bytes();
  form->work = work.done();
  return std::shared_ptr<const SchemaForm>(std::move(form));
}

}  // namespace zerohop
