// Fuzz target: any text as the schema of a tool. What is said of its parameters agrees with itself,
// and a value of the wrong kind never satisfies a schema that can be compiled.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/check.h"
#include "constrain/schema_compiler.h"
#include "prompt/parameter_kinds.h"

namespace zerohop {
namespace {

bool may_be_string(const SchemaForm& form, const ObjectForm::Property& property) {
  return std::ranges::any_of(property.value, [&](const ValueChoice& choice) {
    return std::ranges::any_of(form.nodes[choice.node], [](const SchemaAlternative& alternative) {
      return std::holds_alternative<StringForm>(alternative);
    });
  });
}

bool may_be_other(const SchemaForm& form, const ObjectForm::Property& property) {
  return std::ranges::any_of(property.value, [&](const ValueChoice& choice) {
    return std::ranges::any_of(form.nodes[choice.node], [](const SchemaAlternative& alternative) {
      return !std::holds_alternative<StringForm>(alternative);
    });
  });
}

void check(std::string_view schema) {
  const ParameterKinds kinds = parameter_kinds(schema);
  is_object_schema(schema);
  for (const std::string& name : kinds.strings) {
    ZH_CHECK(std::ranges::find(kinds.json, name) == kinds.json.end());
  }
  SchemaOptions options;
  options.limits.work_max = 100'000;
  const CompiledSchema compiled = compile_schema(schema, options);
  const auto* form = std::get_if<std::shared_ptr<const SchemaForm>>(&compiled);
  if (form == nullptr) return;
  for (const SchemaAlternative& alternative : (*form)->nodes[SchemaForm::kRoot]) {
    const auto* object = std::get_if<ObjectForm>(&alternative);
    if (object == nullptr) continue;
    for (const ObjectForm::Property& property : object->declared) {
      const ParameterKind kind = kinds.of(property.name);
      ZH_CHECK(kind != ParameterKind::kJson || !may_be_string(**form, property));
      ZH_CHECK(kind != ParameterKind::kString || !may_be_other(**form, property));
    }
  }
}

}  // namespace
}  // namespace zerohop

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text.push_back(static_cast<char>(data[i]));
  zerohop::check(text);
  return 0;
}
