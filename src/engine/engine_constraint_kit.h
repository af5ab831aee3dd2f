// What tests of constraints in the engine need. Test code only.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "constrain/grammar_machine.h"
#include "constrain/tag_machine.h"
#include "engine/engine_harness.h"

namespace zerohop {

/// A constraint that tests can hold texts against.
class TestConstraint {
 public:
  explicit TestConstraint(Result<std::unique_ptr<ConstraintMachine>> machine) {
    static std::uint64_t ids = 0;
    check_ = std::move(machine).value();
    auto made = std::make_shared<CompiledConstraint>();
    made->id = ++ids;
    made->machine = check_->renew();
    made->shortest = check_->shortest_end(check_->start());
    compiled_ = std::move(made);
  }

  const std::shared_ptr<const CompiledConstraint>& compiled() const { return compiled_; }
  const std::string& shortest() const { return compiled_->shortest; }
  bool allows(std::string_view text) const { return accepts(*check_, text); }

 private:
  std::shared_ptr<ConstraintMachine> check_;
  std::shared_ptr<const CompiledConstraint> compiled_;
};

inline TestConstraint regex(std::string_view pattern) {
  return TestConstraint(make_regex_machine(pattern));
}
inline TestConstraint choice(const std::vector<std::string>& texts) {
  return TestConstraint(make_choice_machine(texts));
}

inline std::shared_ptr<const ConstraintMachine> shared_regex(std::string_view pattern) {
  return make_regex_machine(pattern).value();
}

/// Free text, then any number of calls; each names one of two tools.
inline TestConstraint calls(std::uint32_t calls_min = 0) {
  TagSet set;
  set.calls_min = calls_min;
  set.rules.push_back(
      {"<call>",
       {literal_part("{\"name\": \"weather\", \"arguments\": "),
        machine_part(shared_regex(R"(\{"city": "[A-Za-z ]{1,9}"\})")), literal_part("}</call>")}});
  set.rules.push_back(
      {"<call>",
       {literal_part("{\"name\": \"time\", \"arguments\": "),
        machine_part(shared_regex(R"(\{\}|\{"zone": [0-9]+\})")), literal_part("}</call>")}});
  return TestConstraint(make_tag_machine(std::move(set)));
}

/// An object of two short texts and a number: much of it is forced.
inline TestConstraint record() {
  return regex(R"re(\{"name": "[a-z ]*", "place": "(north|south)", "count": -?[0-9]{1,3}\})re");
}

/// So many pairs of a long forced key and a short free value.
inline TestConstraint keyed_values(int pairs) {
  std::string pattern = "\\{";
  for (int i = 0; i < pairs; ++i) {
    pattern += "\"the key ";
    pattern += static_cast<char>('a' + i);
    pattern += "\": \"[a-z]{2,4}\", ";
  }
  return regex(pattern + "\"end\": [0-9]\\}");
}

inline HarnessRequest constrained(const TestConstraint& constraint, std::uint32_t max_tokens,
                                  double temperature = 0, std::string prompt = "say") {
  HarnessRequest request{.prompt = std::move(prompt), .max_tokens = max_tokens};
  request.sampling.temperature = static_cast<float>(temperature);
  request.sampling.seed = 7;
  request.constraint = constraint.compiled();
  return request;
}

}  // namespace zerohop
