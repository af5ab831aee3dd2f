// What an answer must look like, as one machine from its first token on: the format that the client
// asks for, the tools that it offers and how they may be called, in the form in which the model
// writes calls, with its thinking in front and with what the prompt has already begun.
//
//   rules         tools         answer
//   none          none          anything: no machine
//   a format      none          [thinking] DOCUMENT
//   none          auto          text in which every call is CALL
//   a format      auto          [thinking] DOCUMENT, or [thinking] CALL…
//   any           any, tool     the rest of CALL… behind what the prompt holds of it
//
// A document that the client has begun (a prefill) goes on where it left off; where its prefill is
// not the beginning of any legal document, the request is refused.
//
// Schemas become machines through a function of the caller's, so that whoever keeps machines
// (app/constraint_service.h) shares them between tool sets.
//
// Pure; any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "constrain/constraint_machine.h"
#include "constrain/schema_compiler.h"
#include "core/error.h"
#include "core/request.h"
#include "prompt/output_plan.h"

namespace zerohop {

/// How JSON is laid out: as the model likes within bounds, or with one blank behind ',' and ':'.
enum class JsonLayout : std::uint8_t { kFree, kSpaced };

/// A schema that can be followed. Immutable; any thread.
struct SchemaMachine {
  std::shared_ptr<const SchemaForm> form;
  std::shared_ptr<const ConstraintMachine> machine;  ///< only renew() is called
  std::size_t memory_bytes = 0;
};

using SchemaVerdict = std::variant<std::shared_ptr<const SchemaMachine>, SchemaRefusal>;

/// Makes or remembers the machine of a schema. Called on the thread of make_answer_constraint().
using SchemaMachines = std::function<SchemaVerdict(std::string_view schema, JsonLayout layout)>;

/// Compiles `schema` each time; compile_answer_schema() decides.
SchemaVerdict make_schema_machine(std::string_view schema, JsonLayout layout,
                                  const SchemaOptions& options = {});

/// A schema that the client does not insist on and that cannot be enforced: any object (of a tool)
/// or any value was allowed instead.
struct RelaxedSchema {
  std::string tool;  ///< empty: the format of the answer
  std::string pointer;
  std::string keyword;
};

struct AnswerConstraint {
  std::shared_ptr<const ConstraintMachine> machine;  ///< null: anything is allowed
  std::string shortest;                              ///< a shortest answer
  std::size_t memory_bytes = 0;                      ///< of all machines that it is made of
  std::vector<RelaxedSchema> relaxed;
};

/// What decides about an answer beside the prompt's own plan.
struct AnswerWish {
  const OutputPlan& plan;
  const Conversation& conversation;
};

/// Everything that make_answer_constraint() depends on beside its schemas' machines: two wishes
/// with the same key have the same constraint.
std::string answer_constraint_key(const AnswerWish& wish);

/// Errors: kInvalidRequest, with the path of the schema, pattern, grammar or list in the request:
/// it cannot be enforced exactly and the client insists, nothing satisfies it, it is no schema, or
/// the prefill begins nothing legal.
Result<AnswerConstraint> make_answer_constraint(const AnswerWish& wish,
                                                const SchemaMachines& machines);

}  // namespace zerohop
