// Limits of the JSON machine, what it takes in memory, forced text, and renewal.
#include <gtest/gtest.h>

#include <string>

#include "constrain/json_forms.h"
#include "constrain/json_machine.h"
#include "constrain/json_machine_test_kit.h"

namespace zerohop {
namespace {

using WhiteSpace = JsonMachineOptions::WhiteSpace;

TEST(JsonMachineLimits, MayBeAsDeepAsItsFormNeeds) {
  const JsonMachineCase each(
      R"({"type":"array","minItems":1,"items":{"type":"array","minItems":1,
            "items":{"type":"array"}}})",
      {.depth_max = 1});
  EXPECT_EQ(each.machine->shortest_end(each.machine->start()), "[[[]]]");
  EXPECT_TRUE(each.takes("[[[],[]]]"));
  EXPECT_FALSE(each.takes("[[[[]]]]"));
}

TEST(JsonMachineLimits, HoldsLongStringsInLittleMemory) {
  const JsonMachineCase each(R"({"type":"string","maxLength":100000})");
  ConstraintMachine& machine = *each.machine;
  MachineState state = machine.step(machine.start(), '"');
  const std::size_t before = machine.memory_bytes();
  constexpr std::size_t kCharacters = 20'000;
  for (std::size_t i = 0; i < kCharacters; ++i) state = machine.step(state, 'x');
  ASSERT_NE(state, kDeadState);
  EXPECT_EQ(machine.shortest_end(state), "\"");
  EXPECT_LT(machine.memory_bytes() - before, 400 * kCharacters);
  state = step_all(machine, state, std::string(100'000 - kCharacters, 'y'));
  ASSERT_NE(state, kDeadState);
  EXPECT_EQ(machine.step(state, 'z'), kDeadState);
  EXPECT_EQ(machine.forced(state, 10), "\"");
}

TEST(JsonMachineLimits, AsksForLongStringsInLittleMemory) {
  const JsonMachineCase each(R"({"type":"string","minLength":100000})");
  ConstraintMachine& machine = *each.machine;
  const MachineState state = step_all(machine, machine.start(), "\"x");
  EXPECT_EQ(machine.shortest_end_bytes(state), 100'000U);
  EXPECT_EQ(machine.shortest_end(state).size(), 100'000U);
  EXPECT_LT(machine.memory_bytes(), std::size_t{1} << 20);
}

TEST(JsonMachineLimits, AsksForManyItemsWithoutPlanningThem) {
  const auto made = make_json_machine(
      json_form_of(R"({"type":"array","minItems":1000000,"items":{"enum":[null,true]}})"));
  ConstraintMachine& machine = *made;
  EXPECT_EQ(machine.shortest_end_bytes(machine.start()), 5'000'001U);
  MachineState state = step_all(machine, machine.start(), "[null,true,");
  EXPECT_EQ(machine.shortest_end_bytes(state), 5'000'001U - 11);
  for (int i = 0; i < 1000; ++i) {
    state = step_all(machine, state, "null,");
    ASSERT_EQ(machine.shortest_end_bytes(state), 5'000'001U - 11 - 5 * (i + 1));
  }
}

TEST(JsonMachineLimits, KeepsManyItemsApart) {
  const JsonMachineCase each(R"({"type":"array","uniqueItems":true,"minItems":3,
      "items":{"type":"integer"}})");
  ConstraintMachine& machine = *each.machine;
  std::string text = "[0";
  for (int i = 1; i < 600; ++i) text += "," + std::to_string(i);
  const MachineState state = step_all(machine, machine.start(), text);
  ASSERT_NE(state, kDeadState);
  EXPECT_EQ(step_all(machine, state, ",599,"), kDeadState);
  EXPECT_EQ(step_all(machine, state, ",7.0]"), kDeadState);
  EXPECT_NE(step_all(machine, state, ",600]"), kDeadState);
  const MachineState next = step_all(machine, state, ",59");
  EXPECT_TRUE(each.right(text + ",59" + machine.shortest_end(next)));
}

TEST(JsonMachineLimits, FollowsManyUsedNames) {
  const JsonMachineCase each(R"({"type":"object","additionalProperties":{"type":"null"}})");
  ConstraintMachine& machine = *each.machine;
  std::string text = "{\"x\":null";
  for (int i = 0; i < 1000; ++i) text += ",\"name" + std::to_string(i) + "\":null";
  const MachineState state = step_all(machine, machine.start(), text);
  ASSERT_NE(state, kDeadState);
  EXPECT_EQ(step_all(machine, state, ",\"name77\""), kDeadState);
  EXPECT_EQ(step_all(machine, state, ",\"x\""), kDeadState);
  EXPECT_NE(step_all(machine, state, ",\"name77"), kDeadState);
  EXPECT_NE(step_all(machine, state, ",\"name1000\":null}"), kDeadState);
  EXPECT_LT(machine.memory_bytes(), std::size_t{8} << 20);
}

TEST(JsonMachineLimits, GivesUpNoNumberThatItsReaderCannotRead) {
  const JsonMachineCase each(R"({"type":"array","uniqueItems":true,"items":{"type":"number"}})");
  EXPECT_TRUE(each.takes("[1e5,1e6]"));
  EXPECT_FALSE(each.takes("[1e9999999999999]"));
  EXPECT_FALSE(each.takes("[1e5,1E+5]"));
}

// --- Forced text.

TEST(JsonMachineLimits, ForcesWholeNamesAndConstants) {
  const JsonMachineCase each(
      R"({"type":"object","properties":{"name":{"const":"first value"},"next":{"enum":[true]}},
          "required":["name","next"],"additionalProperties":false})",
      {.white_space = WhiteSpace::kSpaced});
  EXPECT_EQ(each.machine->forced(each.machine->start(), 1000),
            R"({"name": "first value", "next": true})");
  EXPECT_EQ(each.machine->forced(each.machine->start(), 5), R"({"nam)");
}

TEST(JsonMachineLimits, ForcesNothingWhereTheTextMayEnd) {
  const JsonMachineCase each(R"({"enum":[1,10]})");
  ConstraintMachine& machine = *each.machine;
  EXPECT_EQ(machine.forced(machine.start(), 10), "1");
  EXPECT_EQ(machine.forced(step_all(machine, machine.start(), "1"), 10), "");
}

TEST(JsonMachineLimits, RenewedIsTheSame) {
  const JsonMachineCase each(R"({"type":"object","properties":{"a":{"type":"array"}}})",
                             {.white_space = WhiteSpace::kCompact});
  const std::string text = R"({"a":[1,"x",{}],"c":2})";
  EXPECT_TRUE(each.takes(text));
  const auto renewed = each.machine->renew();
  EXPECT_LT(renewed->memory_bytes(), each.machine->memory_bytes());
  MachineState old_state = each.machine->start();
  MachineState new_state = renewed->start();
  for (const char byte : text) {
    ASSERT_EQ(living_bytes(*renewed, new_state), living_bytes(*each.machine, old_state));
    ASSERT_EQ(renewed->shortest_end(new_state), each.machine->shortest_end(old_state));
    old_state = each.machine->step(old_state, static_cast<unsigned char>(byte));
    new_state = renewed->step(new_state, static_cast<unsigned char>(byte));
  }
  EXPECT_TRUE(renewed->accepting(new_state));
}

// What a request must not be able to do: ask for a document that no memory holds, or for one that
// the searches do not find.
TEST(JsonMachineLimits, KnowsWhatItCannotFollow) {
  const std::string two_counts =
      R"({"type":"array","minItems":150,"maxItems":150,"items":{"enum":[1,2,3]},"allOf":[)"
      R"({"contains":{"enum":[1,2]},"minContains":80,"maxContains":80},)"
      R"({"contains":{"enum":[1,3]},"minContains":80,"maxContains":80}]})";
  for (const std::string& schema :
       {std::string(R"({"type":"array","minItems":1000000,"items":)"
                    R"({"type":"array","minItems":1000000,"items":{"type":"null"}}})"),
        std::string(R"({"type":"array","minItems":1000000,"items":)"
                    R"({"type":"string","minLength":3000}})"),
        R"({"type":"object","properties":{"a":)" + two_counts + R"(},"required":["a"]})",
        R"({"type":"object","properties":{"a":)" + two_counts + "}}"}) {
    const CompiledSchema compiled = compile_schema(schema);
    const auto* form = std::get_if<std::shared_ptr<const SchemaForm>>(&compiled);
    if (form == nullptr) continue;  // refused before
    EXPECT_FALSE(json_machine_follows(*form)) << schema;
  }
  const CompiledSchema usual = compile_schema(R"({"type":"object"})");
  EXPECT_TRUE(json_machine_follows(std::get<std::shared_ptr<const SchemaForm>>(usual)));
}

// Definitions of which each needs the one before it, `levels` containers inside of one another; all
// of them are properties as well where `listed`, so that whoever goes through them in their order
// learns of one more each time.
std::shared_ptr<const SchemaForm> chain_of(int levels, bool listed) {
  std::string defs = R"("d0":{"type":"null"})";
  std::string properties;
  for (int i = 1; i <= levels; ++i) {
    const std::string number = std::to_string(i);
    defs += R"(,"d)" + number + R"(":{"type":"array","minItems":1,"items":{"$ref":"#/$defs/d)" +
            std::to_string(i - 1) + "\"}}";
    properties +=
        (i > 1 ? R"(,"p)" : R"("p)") + number + R"(":{"$ref":"#/$defs/d)" + number + "\"}";
  }
  const std::string root = listed ? R"("type":"object","properties":{)" + properties + "}"
                                  : R"("$ref":"#/$defs/d)" + std::to_string(levels) + "\"";
  return json_form_of("{" + root + R"(,"$defs":{)" + defs + "}}");
}

// A table of all nodes for each level is what such documents would take.
TEST(JsonMachineLimits, FollowsNoDocumentThatMustBeFarDeeperThanReadersTake) {
  for (const bool listed : {false, true}) {
    EXPECT_TRUE(json_machine_follows(chain_of(60, listed))) << listed;
    for (const int levels : {70, listed ? 500 : 5'000}) {
      const auto form = chain_of(levels, listed);
      ASSERT_NE(form, nullptr);
      EXPECT_FALSE(json_machine_follows(form)) << levels << " " << listed;
    }
  }
}

// Two conditions on the items: by itself some hundred states of a search.
std::string counting_array(int number) {
  const std::string a = std::to_string(3 * number);
  const std::string b = std::to_string(3 * number + 1);
  const std::string c = std::to_string(3 * number + 2);
  return R"({"type":"array","items":{"enum":[)" + a + "," + b + "," + c +
         R"(]},"allOf":[{"contains":{"enum":[)" + a + "," + b +
         R"(]},"minContains":20},{"contains":{"enum":[)" + b + "," + c +
         R"(]},"minContains":20}]})";
}

TEST(JsonMachineLimits, SearchesNoLongerForManyCountsThanForAFew) {
  const auto object_of = [](int arrays) {
    std::string schema = R"({"type":"object","properties":{)";
    for (int i = 0; i < arrays; ++i) {
      schema += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":" + counting_array(i);
    }
    return json_form_of(schema + "}}");
  };
  const auto few = object_of(2);
  const auto many = object_of(60);
  ASSERT_TRUE(few && many);
  EXPECT_TRUE(json_machine_follows(few));
  EXPECT_FALSE(json_machine_follows(many));
}

TEST(JsonMachineLimits, MakesNoSetForEachOfManyPropertiesThatMayCome) {
  std::string schema = R"({"type":"object","minProperties":2,"properties":{)";
  for (int i = 0; i < 4000; ++i) {
    schema += (i == 0 ? "\"p" : ",\"p") + std::to_string(i) + "\":{\"type\":\"null\"}";
  }
  const JsonMachineCase each(schema + R"(},"additionalProperties":false})");
  ConstraintMachine& machine = *each.machine;
  const MachineState inside = step_all(machine, machine.start(), "{");
  const std::size_t before = machine.memory_bytes();
  EXPECT_NE(step_all(machine, inside, R"("p12":null,"p3999":null})"), kDeadState);
  EXPECT_EQ(step_all(machine, inside, R"("p3999")"), kDeadState);  // none could come behind it
  EXPECT_LT(machine.memory_bytes() - before, std::size_t{1} << 20);
}

TEST(JsonMachineLimits, CountsWhatNarrowedAlternativesTake) {
  ObjectForm object;
  for (int i = 0; i < 1000; ++i) {
    object.declared.push_back(
        {"property " + std::to_string(i), {{SchemaForm::kRoot, 0}}, false, {}});
  }
  auto form = std::make_shared<SchemaForm>();
  form->nodes.push_back({std::move(object)});
  JsonForms forms(form);
  const std::size_t before = forms.memory_bytes();
  forms.narrowed(forms.first(SchemaForm::kRoot), 3, [](SchemaNodeId) { return true; });
  EXPECT_GT(forms.memory_bytes() - before, 1000 * sizeof(ObjectForm::Property));
}

}  // namespace
}  // namespace zerohop
