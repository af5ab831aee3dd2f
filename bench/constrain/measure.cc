#include "measure.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "constrain/constraint_session.h"
#include "constrain/json_machine.h"
#include "constrain/schema_compiler.h"
#include "constrain/tag_machine.h"
#include "cpu_clock.h"

namespace zerohop::bench {
namespace {

constexpr std::size_t kMaskBytesMax = std::size_t{256} << 20;
constexpr std::size_t kTokensMax = 1 << 20;           // of an answer: more than any text here has
constexpr std::int64_t kMaskTimeMax = 4'000'000'000;  // for all masks of a case

Result<std::unique_ptr<ConstraintMachine>> machine_of_schema(const std::string& schema,
                                                             const JsonMachineOptions& options) {
  CompiledSchema compiled = compile_schema(schema);
  if (const auto* refusal = std::get_if<SchemaRefusal>(&compiled)) {
    return invalid_request(refusal->pointer, refusal->keyword + ": " + refusal->reason);
  }
  return make_json_machine(std::get<std::shared_ptr<const SchemaForm>>(std::move(compiled)),
                           options);
}

// Calls as many models write them: one object between two marks.
Result<std::unique_ptr<ConstraintMachine>> machine_of_tools(const std::vector<CorpusTool>& tools) {
  TagSet set;
  set.calls_min = 1;
  for (const CorpusTool& tool : tools) {
    ZH_ASSIGN_OR_RETURN(auto machine, machine_of_schema(tool.parameters, {}));
    TagRule rule{.trigger = "<tool_call>", .parts = {}};
    rule.parts.push_back(literal_part("\n{\"name\": \"" + tool.name + "\", \"arguments\": "));
    rule.parts.push_back(
        machine_part(std::shared_ptr<const ConstraintMachine>(std::move(machine))));
    rule.parts.push_back(literal_part("}\n</tool_call>"));
    set.rules.push_back(std::move(rule));
  }
  return make_tag_machine(std::move(set));
}

}  // namespace

Result<std::unique_ptr<ConstraintMachine>> machine_of(const CorpusCase& subject) {
  return subject.tools.empty() ? machine_of_schema(subject.schema, {})
                               : machine_of_tools(subject.tools);
}

ConstraintMeter::ConstraintMeter(std::shared_ptr<const TokenTrie> tokens)
    : tokens_(tokens),
      masks_(std::move(tokens), kMaskBytesMax),
      cpu_cost_(clock_cost_ns(cpu_now_ns)),
      steady_cost_(clock_cost_ns(steady_now_ns)) {}

std::int64_t ConstraintMeter::cpu_since(std::int64_t begin) const {
  return std::max<std::int64_t>(0, cpu_now_ns() - begin - cpu_cost_);
}

CaseResult ConstraintMeter::measure(const CorpusCase& subject) {
  CaseResult result;
  const std::int64_t begin = cpu_now_ns();
  Result<std::unique_ptr<ConstraintMachine>> machine = machine_of(subject);
  result.compile_ns = cpu_since(begin);
  if (!machine) {
    result.refusal = machine.error().field + " " + machine.error().message;
    return result;
  }
  const auto live = std::make_shared<LiveMachine>(std::move(*machine), next_id_++);
  masks_.mask(live->machine(), live->cache_id(), live->machine().start());
  result.first_mask_ns = cpu_since(begin);
  follow_masks(subject, live, result);
  follow_checks(subject, live->machine(), result);
  return result;
}

void ConstraintMeter::follow_masks(const CorpusCase& subject,
                                   const std::shared_ptr<LiveMachine>& live, CaseResult& result) {
  std::int64_t slowest = -1;
  std::int64_t spent = 0;
  for (const CorpusText& text : subject.texts) {
    if (!text.valid) continue;
    ConstraintSession session({.machine = live, .masks = &masks_, .tokens_max = kTokensMax});
    for (std::size_t i = 0; i <= text.tokens.size() && spent < kMaskTimeMax; ++i) {
      const std::uint64_t built = masks_.statistics().built;
      const std::int64_t begin = cpu_now_ns();
      const TokenMask& mask = session.mask();
      const std::int64_t time = cpu_since(begin);
      spent += time;
      result.masks_ns.push_back(time);
      if (masks_.statistics().built != built) result.built_ns.push_back(time);
      if (time > slowest) {
        slowest = time;
        result.slowest = session.text();
      }
      if (i == text.tokens.size()) break;
      const bool in_mask = mask.allows(text.tokens[i]);
      if (session.allows(text.tokens[i]) != in_mask) ++result.disagreements;
      if (!in_mask) break;
      session.accept(text.tokens[i]);
    }
  }
  result.machine_bytes = std::max(result.machine_bytes, live->machine().memory_bytes());
  masks_.forget(live->cache_id());
}

void ConstraintMeter::follow_checks(const CorpusCase& subject, const ConstraintMachine& model,
                                    CaseResult& result) {
  const auto live = std::make_shared<LiveMachine>(model.renew(), next_id_++);
  for (const CorpusText& text : subject.texts) {
    ConstraintSession session({.machine = live, .masks = &masks_, .tokens_max = kTokensMax});
    bool alive = true;
    const std::int64_t cpu_begin = cpu_now_ns();
    for (const Token token : text.tokens) {
      const std::int64_t begin = steady_now_ns();
      alive = session.allows(token);
      if (alive) session.accept(token);
      const std::int64_t time = steady_now_ns() - begin - steady_cost_;
      result.checks_ns.push_back(std::max<std::int64_t>(0, time));
      if (!alive) break;
    }
    result.checks_cpu_ns += cpu_since(cpu_begin);
    const bool accepted = alive && session.may_end();
    if (accepted == text.valid) {
      ++result.right;
    } else {
      ++(accepted ? result.wrongly_accepted : result.wrongly_rejected);
    }
  }
  result.machine_bytes = std::max(result.machine_bytes, live->machine().memory_bytes());
  masks_.forget(live->cache_id());
}

}  // namespace zerohop::bench
