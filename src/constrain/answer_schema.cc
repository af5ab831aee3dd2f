#include "constrain/answer_schema.h"

#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace zerohop {
namespace {

using WhiteSpace = JsonMachineOptions::WhiteSpace;

SchemaRefusal too_large(std::string reason) {
  return {SchemaRefusal::Kind::kTooLarge, "", "", std::move(reason)};
}

}  // namespace

JsonMachineOptions answer_machine_options(WhiteSpace white_space) {
  JsonMachineOptions options;
  options.white_space = white_space;
  return options;
}

CompiledSchema compile_answer_schema(std::string_view schema, const SchemaOptions& options) {
  const std::size_t bytes_max = options.limits.json.bytes_max;
  if (schema.size() > bytes_max) {
    return too_large("it has more than " + std::to_string(bytes_max) + " bytes");
  }
  SchemaOptions own = options;
  own.integers = SchemaOptions::Integers::kDigitsAlone;
  own.numbers = SchemaOptions::NumberRange::kOfReaders;
  CompiledSchema compiled = compile_schema(schema, own);
  const auto* form = std::get_if<std::shared_ptr<const SchemaForm>>(&compiled);
  if (form == nullptr) return compiled;
  for (const WhiteSpace space : {WhiteSpace::kFree, WhiteSpace::kSpaced}) {
    if (json_machine_follows(*form, answer_machine_options(space))) continue;
    SchemaRefusal refusal = too_large("its documents are too large to be followed");
    refusal.work = (*form)->work;
    return refusal;
  }
  return compiled;
}

}  // namespace zerohop
