// Fuzz target: any bytes as a schema. Whatever they are, the outcome is a form that keeps the
// promises of schema_form.h, or a refusal with a reason, within a small budget of work.
// Seeds: tests/corpus/schema_compiler/.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "base/check.h"
#include "constrain/schema_compiler.h"

namespace zerohop {
namespace {

void check_choices(const SchemaForm& form, const std::vector<ValueChoice>& choices) {
  for (const ValueChoice& choice : choices) ZH_CHECK(choice.node < form.nodes.size());
}

void check_array(const SchemaForm& form, const ArrayForm& array) {
  ZH_CHECK(array.items_min <= array.items_max);
  ZH_CHECK(array.counters.size() <= 32);
  for (const auto& place : array.prefix) {
    ZH_CHECK(!place.empty());
    check_choices(form, place);
  }
  ZH_CHECK(!array.rest.empty() || array.items_max <= array.prefix.size());
  check_choices(form, array.rest);
}

void check_object(const SchemaForm& form, const ObjectForm& object) {
  ZH_CHECK(object.properties_min <= object.properties_max);
  for (const auto& property : object.declared) {
    ZH_CHECK(!property.value.empty());
    check_choices(form, property.value);
    for (const std::uint32_t needed : property.needs) ZH_CHECK(needed < object.declared.size());
  }
  for (const auto& others : object.others) {
    ZH_CHECK(others.names != nullptr && !others.names->empty() && !others.value.empty());
    check_choices(form, others.value);
  }
}

void check_form(const SchemaForm& form) {
  ZH_CHECK(SchemaForm::kRoot < form.nodes.size());
  ZH_CHECK(form.shortest_bytes.size() == form.nodes.size());
  for (const auto& alternatives : form.nodes) {
    ZH_CHECK(!alternatives.empty());
    for (const SchemaAlternative& alternative : alternatives) {
      if (const auto* array = std::get_if<ArrayForm>(&alternative)) check_array(form, *array);
      if (const auto* object = std::get_if<ObjectForm>(&alternative)) check_object(form, *object);
    }
  }
}

}  // namespace
}  // namespace zerohop

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerohop;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  SchemaOptions options;
  options.limits.work_max = 200'000;
  for (const bool strict : {false, true}) {
    options.strict_objects = strict;
    const CompiledSchema compiled = compile_schema(text, options);
    if (const auto* refusal = std::get_if<SchemaRefusal>(&compiled)) {
      ZH_CHECK(!refusal->reason.empty());
    } else {
      check_form(*std::get<std::shared_ptr<const SchemaForm>>(compiled));
    }
  }
  return 0;
}
