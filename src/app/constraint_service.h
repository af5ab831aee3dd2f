// Constraints for requests: made on the worker that prepares the request, shared by all that ask
// for the same.
//
// Two caches in memory, both by the text of what is asked for: whole constraints (a tool set in the
// form of this model, a format) and single schemas, so that tool sets share theirs. Nothing is kept
// on disk: a schema of the usual size is compiled in about the time in which a file would be read
// (docs/ARCHITECTURE.md has the figures); what a deployment needs at its first request is compiled
// at start (constraint_precompile.h).
//
// Any thread; what it makes outlives it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/once_cache.h"
#include "base/clock.h"
#include "constrain/compiled_constraint.h"
#include "core/error.h"
#include "prompt/answer_constraint.h"
#include "telemetry/metrics.h"

namespace zerohop {

struct ReadyConstraint {
  std::shared_ptr<const CompiledConstraint> constraint;  ///< null: anything is allowed
  /// What of the client's schemas is not enforced, for a header of the reply: "TOOL /pointer
  /// keyword; …" in printable ASCII. Empty: nothing.
  std::string relaxed;
};

/// What the configuration says about the schemas of one request.
SchemaOptions schema_options_of(const ConstraintsConfig& config);

class ConstraintService {
 public:
  /// Both outlive it.
  ConstraintService(const ConstraintsConfig& config, const Clock& clock, Metrics& metrics);

  /// What the answer to `conversation`, read by `plan`, must look like. Errors: those of
  /// make_answer_constraint(); schemas over the configured size.
  Result<ReadyConstraint> constraint_for(const OutputPlan& plan, const Conversation& conversation);

 private:
  struct Entry {
    Result<ReadyConstraint> ready;
  };
  struct Work;

  OnceCache<Entry>::Made make(const AnswerWish& wish);
  SchemaVerdict schema_machine(std::string_view schema, JsonLayout layout, Work& work);

  const ConstraintsConfig& config_;
  const Clock& clock_;
  Metrics& metrics_;
  std::atomic<std::uint64_t> next_id_{1};
  OnceCache<Entry> constraints_;
  OnceCache<SchemaVerdict> schemas_;
};

}  // namespace zerohop
