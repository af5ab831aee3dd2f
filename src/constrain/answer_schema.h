// Which JSON Schemas answers can follow. Requests and `zerohop constrain check` ask here, so that a
// schema is taken by both or refused by both, for the same reason.
//
// Any thread; pure.
#pragma once

#include <string_view>

#include "constrain/json_machine.h"
#include "constrain/schema_compiler.h"

namespace zerohop {

/// The form of `schema` for documents that a model writes: integers in digits alone, numbers that
/// readers of JSON can hold, whatever `options` says of these. A refusal, also where no machine
/// follows it in one of the layouts of answers, or where it has more bytes than
/// `options.limits.json.bytes_max`.
CompiledSchema compile_answer_schema(std::string_view schema, const SchemaOptions& options = {});

/// How a machine follows such a form: WhiteSpace::kFree or kSpaced.
JsonMachineOptions answer_machine_options(JsonMachineOptions::WhiteSpace white_space);

}  // namespace zerohop
