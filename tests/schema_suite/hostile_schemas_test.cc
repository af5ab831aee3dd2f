// Schemas that broke or stalled engines, and more of their kind: each compiles within its work and
// memory, or is refused for the right reason; and what compiles can be followed for a while within
// a bounded table. Work is counted, never timed.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "base/random.h"
#include "constrain/json_machine.h"
#include "constrain/live_machine.h"
#include "constrain/schema_compiler.h"

namespace zerohop {
namespace {

using Kind = SchemaRefusal::Kind;

struct Hostile {
  const char* name;
  std::string schema;
  std::optional<Kind> refused = {};                        // nothing: it compiles
  std::size_t work_max = 2'000'000;                        // a tenth of what the server allows
  std::size_t machine_bytes_max = LiveMachine::kBytesMax;  // behind the steps of a walk
};

std::string list(int count, const std::function<std::string(int)>& item) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i > 0 ? "," : "") + item(i);
  return text;
}

std::string times(int count, const std::string& part) {
  std::string text;
  for (int i = 0; i < count; ++i) text += part;
  return text;
}

std::string object_of(int properties, const std::string& value) {
  return R"({"type":"object","additionalProperties":false,"properties":{)" +
         list(properties,
              [&](int i) { return "\"property_" + std::to_string(i) + "\":" + value; }) +
         "}}";
}

std::vector<Hostile> strings_and_patterns() {
  const auto pattern = [](const std::string& text) {
    return R"({"type":"string","pattern":")" + text + "\"}";
  };
  return {
      {.name = "maxLength 512", .schema = R"({"type":"string","maxLength":512})"},
      {.name = "maxLength 100000", .schema = R"({"type":"string","maxLength":100000})"},
      {.name = "minLength 129", .schema = R"({"type":"string","minLength":129})"},
      {.name = "minLength 5000", .schema = R"({"type":"string","minLength":5000})"},
      {.name = "many strings of a million characters",
       .schema = R"({"type":"object","properties":{)" +
                 list(200,
                      [](int i) {
                        return "\"p" + std::to_string(i) + R"(":{"type":"string","minLength":)" +
                               std::to_string(1'000'000 + i) + "}";
                      }) +
                 "}}",
       .refused = Kind::kTooLarge,
       .work_max = 20'000'000},
      {.name = "maxLength beside a pattern",
       .schema = R"({"type":"string","pattern":"^[a-z]+$","minLength":1000,"maxLength":100000})"},
      {.name = "8,192 states", .schema = pattern("^[ab]*a[ab]{12}$"), .work_max = 20'000'000},
      {.name = "a trillion states",
       .schema = pattern("^[ab]*a[ab]{40}$"),
       .refused = Kind::kTooLarge,
       .work_max = 20'000'000},
      {.name = "nested stars", .schema = pattern("^((a*)*)*b$")},
      {.name = "nested counts",
       .schema = pattern("^((a{100}){100}){100}$"),
       .refused = Kind::kTooLarge},
      {.name = "count of a million",
       .schema = pattern("^(ab){1000000}$"),
       .refused = Kind::kTooLarge},
      {.name = "look-ahead", .schema = pattern("^(?!.*admin)(?=.*[0-9])[a-z0-9]{8,64}$")},
      {.name = "back reference", .schema = pattern("^(a+)b\\\\1$"), .refused = Kind::kUnsupported},
      {.name = "open group", .schema = pattern("^(a"), .refused = Kind::kUnsupported},
      {.name = "reversed class", .schema = pattern("[z-a]"), .refused = Kind::kUnsupported},
      {.name = "deep groups",
       .schema = pattern(times(2000, "(") + "a" + times(2000, ")")),
       .refused = Kind::kUnsupported},
      {.name = "10,000 strings in an enum",
       .schema = R"({"enum":[)" +
                 list(10'000, [](int i) { return "\"value " + std::to_string(i * 7919) + "\""; }) +
                 "]}",
       .work_max = 20'000'000},
  };
}

std::vector<Hostile> numbers_and_counts() {
  return {
      {.name = "integers to 2e10", .schema = R"({"type":"integer","maximum":20000000000})"},
      {.name = "bound beyond every type",
       .schema = R"({"type":"number","exclusiveMaximum":1e300,"minimum":-1e-300})"},
      {.name = "tiny divisor", .schema = R"({"type":"number","multipleOf":1e-200})"},
      {.name = "large prime divisor",
       .schema = R"({"type":"integer","multipleOf":1000000007})",
       .refused = Kind::kTooLarge},
      {.name = "a billion items",
       .schema = R"({"type":"array","items":{"type":"null"},"minItems":999999999})",
       .refused = Kind::kTooLarge},
      {.name = "at most a billion items",
       .schema = R"({"type":"array","items":{"type":"null"},"maxItems":999999999})"},
      {.name = "30 properties of any name",
       .schema = R"({"type":"object","minProperties":30,"maxProperties":30})"},
      {.name = "an eleventh item of ten values",
       .schema = R"({"type":"array","uniqueItems":true,"minItems":11,"items":{"enum":
                    [0,1,2,3,4,5,6,7,8,9]}})",
       .refused = Kind::kUnsatisfiable},
      {.name = "unique strings",
       .schema = R"({"type":"array","uniqueItems":true,"minItems":30,"items":{"type":"string"}})"},
      {.name = "contains among many",
       .schema = R"({"type":"array","contains":{"const":1},"minContains":50,"maxContains":60,
                    "maxItems":1000})"},
      {.name = "count beyond 32 bits",
       .schema = R"({"type":"array","minItems":1e300})",
       .refused = Kind::kTooLarge},
  };
}

std::vector<Hostile> objects_and_unions() {
  return {
      {.name = "30 optional properties", .schema = object_of(30, R"({"type":"string"})")},
      {.name = "2,000 optional properties",
       .schema = object_of(2000, R"({"type":"integer"})"),
       .work_max = 20'000'000},
      {.name = "128 tools",
       .schema = R"({"anyOf":[)" +
                 list(128,
                      [](int i) {
                        return R"({"type":"object","properties":{"name":{"const":"tool)" +
                               std::to_string(i) + R"("},"arguments":)" +
                               object_of(8, R"({"type":["string","null"]})") +
                               R"(},"required":["name","arguments"]})";
                      }) +
                 "]}",
       .work_max = 20'000'000},
      {.name = "two to the thirtieth alternatives",
       .schema = R"({"type":"object","allOf":[)" +
                 list(30,
                      [](int i) {
                        const std::string n = std::to_string(i);
                        return R"({"anyOf":[{"required":["a)" + n + R"("]},{"required":["b)" + n +
                               "\"]}]}";
                      }) +
                 "]}",
       .refused = Kind::kTooLarge,
       .work_max = 20'000'000},
      {.name = "one of 24 that overlap",
       .schema = R"({"type":"object","oneOf":[)" +
                 list(24, [](int i) { return R"({"required":["p)" + std::to_string(i) + "\"]}"; }) +
                 "]}",
       .work_max = 20'000'000},
      {.name = "40 patterns that overlap",
       .schema = R"({"type":"object","patternProperties":{)" +
                 list(40,
                      [](int i) {
                        return R"("p.*)" + std::to_string(i) + R"(":{"minimum":)" +
                               std::to_string(i) + "}";
                      }) +
                 "}}",
       .refused = Kind::kTooLarge,
       .work_max = 20'000'000},
      {.name = "deep not", .schema = times(100, R"({"not":)") + "{}" + times(100, "}")},
      {.name = "too deep",
       .schema = times(3000, R"({"not":)") + "{}" + times(3000, "}"),
       .refused = Kind::kInvalid},
  };
}

std::vector<Hostile> references() {
  return {
      {.name = "reference to itself", .schema = R"({"$ref":"#"})", .refused = Kind::kInvalid},
      {.name = "reference in a ring",
       .schema = R"({"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},
                    "b":{"allOf":[{"$ref":"#/$defs/a"}]}}})",
       .refused = Kind::kInvalid},
      {.name = "recursion without a base",
       .schema = R"({"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]})",
       .refused = Kind::kUnsatisfiable},
      {.name = "recursion of any depth", .schema = R"({"type":"array","items":{"$ref":"#"}})"},
      {.name = "reference to nothing",
       .schema = R"({"$ref":"#/$defs/none"})",
       .refused = Kind::kInvalid},
      {.name = "reference to elsewhere",
       .schema = R"({"$ref":"https://example.org/schema"})",
       .refused = Kind::kUnsupported},
      {.name = "doubling definitions",
       .schema = R"({"$ref":"#/$defs/d0","$defs":{)" +
                 list(40,
                      [](int i) {
                        const std::string next =
                            "{\"$ref\":\"#/$defs/d" + std::to_string(i + 1) + "\"}";
                        return "\"d" + std::to_string(i) + R"(":{"type":"array","prefixItems":[)" +
                               next + "," + next + "]}";
                      }) +
                 R"(,"d40":{"type":"null"}}})"},
      {.name = "not JSON", .schema = "{", .refused = Kind::kInvalid},
      {.name = "not a schema", .schema = "7", .refused = Kind::kInvalid},
  };
}

// Follows `bytes_max` bytes that `choose` picks of those that are possible, and asks at each place
// what an engine asks.
void follow(ConstraintMachine& machine, std::size_t bytes_max,
            const std::function<char(const std::string&, MachineState)>& choose) {
  MachineState state = machine.start();
  for (std::size_t i = 0; i < bytes_max; ++i) {
    std::string possible;
    for (unsigned byte = 0; byte < 256; ++byte) {
      if (machine.step(state, static_cast<unsigned char>(byte)) != kDeadState) {
        possible.push_back(static_cast<char>(byte));
      }
    }
    ASSERT_EQ(machine.shortest_end_bytes(state) == 0, machine.accepting(state));
    if (possible.empty()) {
      ASSERT_TRUE(machine.accepting(state));
      return;
    }
    machine.forced(state, 64);
    state = machine.step(state, static_cast<unsigned char>(choose(possible, state)));
  }
}

void expect_bounded(const Hostile& hostile, const std::shared_ptr<const SchemaForm>& form) {
  constexpr std::size_t kSteps = 50;
  for (const auto order :
       {JsonMachineOptions::KeyOrder::kDeclared, JsonMachineOptions::KeyOrder::kAny}) {
    JsonMachineOptions options;
    options.key_order = order;
    const auto machine = make_json_machine(form, options);
    const std::size_t before = machine->memory_bytes();
    follow(*machine, kSteps, [&](const std::string& possible, MachineState state) {
      const std::string end = machine->shortest_end(state);
      return end.empty() ? possible.front() : end.front();
    });
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      Random random(seed);
      follow(*machine, kSteps, [&](const std::string& possible, MachineState) {
        return possible[random.below(possible.size())];
      });
    }
    EXPECT_LE(machine->memory_bytes() - before, hostile.machine_bytes_max);
  }
}

void expect_outcome(const Hostile& hostile) {
  SCOPED_TRACE(hostile.name);
  SchemaOptions options;
  options.limits.work_max = hostile.work_max;
  const CompiledSchema compiled = compile_schema(hostile.schema, options);
  if (const auto* refusal = std::get_if<SchemaRefusal>(&compiled)) {
    EXPECT_FALSE(refusal->reason.empty());
    ASSERT_TRUE(hostile.refused.has_value()) << refusal->keyword << ": " << refusal->reason;
    EXPECT_EQ(static_cast<int>(refusal->kind), static_cast<int>(*hostile.refused))
        << refusal->pointer << " " << refusal->keyword << ": " << refusal->reason;
    return;
  }
  ASSERT_FALSE(hostile.refused.has_value()) << "compiled";
  const auto& form = std::get<std::shared_ptr<const SchemaForm>>(compiled);
  EXPECT_LE(form->memory_bytes, options.limits.memory_max);
  expect_bounded(hostile, form);
}

TEST(HostileSchemas, StringsAndPatternsStayWithinTheirBounds) {
  for (const Hostile& hostile : strings_and_patterns()) expect_outcome(hostile);
}

TEST(HostileSchemas, NumbersAndCountsStayWithinTheirBounds) {
  for (const Hostile& hostile : numbers_and_counts()) expect_outcome(hostile);
}

TEST(HostileSchemas, ObjectsAndUnionsStayWithinTheirBounds) {
  for (const Hostile& hostile : objects_and_unions()) expect_outcome(hostile);
}

TEST(HostileSchemas, ReferencesStayWithinTheirBounds) {
  for (const Hostile& hostile : references()) expect_outcome(hostile);
}

}  // namespace
}  // namespace zerohop
