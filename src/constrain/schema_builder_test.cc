#include "constrain/schema_builder.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "constrain/schema_loader.h"

namespace zerohop {
namespace {

using Kind = SchemaRefusal::Kind;

std::string enum_of(int first, int count) {
  std::string text = R"({"enum":[)";
  for (int i = 0; i < count; ++i) text += (i > 0 ? "," : "") + std::to_string(first + i);
  return text + "]}";
}

SchemaSet loaded(const std::string& schema) {
  auto made = load_schema(schema, {});
  EXPECT_TRUE(std::holds_alternative<SchemaSet>(made)) << schema.substr(0, 100);
  return std::move(std::get<SchemaSet>(made));
}

TEST(SchemaBuilder, IntersectsLargeEnumsInStepsAsManyAsTheirValues) {
  constexpr int kValues = 40'000;
  constexpr int kShared = 10;
  SchemaSet set = loaded(R"({"allOf":[)" + enum_of(0, kValues) + "," +
                         enum_of(kValues - kShared, kValues) + "]}");
  constexpr std::size_t kLogarithm = 16;  // of 40,000, rounded up
  SchemaWork work(2 * kValues * kLogarithm);
  const SchemaOptions options;
  const auto nodes = SchemaBuilder(set, work, options).build();
  ASSERT_FALSE(work.stopped()) << work.refusal()->reason;
  ASSERT_EQ(nodes.size(), 1U);
  ASSERT_EQ(nodes[0].size(), std::size_t{kShared});
  const auto& least = std::get<NumberForm>(nodes[0][0]).language;
  EXPECT_EQ(least->shortest_end(least->start()), "39990");
}

TEST(SchemaBuilder, KeepsItsMemoryWithinOneLargeEnum) {
  SchemaSet set = loaded(enum_of(0, 10'000));
  SchemaOptions options;
  options.limits.memory_max = 1 << 20;
  SchemaWork work(options.limits.work_max);
  SchemaBuilder builder(set, work, options);
  builder.build();
  ASSERT_TRUE(work.stopped());
  EXPECT_EQ(work.refusal()->kind, Kind::kTooLarge);
  EXPECT_LT(builder.memory_bytes(), 2 * options.limits.memory_max);
}

// Objects that differ in each of their properties.
TEST(SchemaBuilder, KeepsItsMemoryWithinManyAlternativesOfOneValue) {
  std::string objects;
  for (int i = 0; i < 200; ++i) {
    std::string properties;
    for (int j = 0; j < 50; ++j) {
      properties += (j > 0 ? R"(,"a)" : R"("a)") + std::to_string(j) + R"(":{"minimum":)" +
                    std::to_string(i) + "}";
    }
    objects += (i > 0 ? "," : "") + (R"({"type":"object","properties":{)" + properties) + "}}";
  }
  SchemaSet set = loaded(R"({"anyOf":[)" + objects + "]}");
  SchemaOptions options;
  options.limits.memory_max = 1 << 20;
  SchemaWork work(options.limits.work_max);
  const auto nodes = SchemaBuilder(set, work, options).build();
  ASSERT_TRUE(work.stopped());
  EXPECT_EQ(work.refusal()->kind, Kind::kTooLarge);
  std::size_t bytes = 0;
  for (const auto& alternatives : nodes) {
    for (const SchemaAlternative& alternative : alternatives) bytes += memory_of(alternative);
  }
  EXPECT_LT(bytes, 2 * options.limits.memory_max);
}

// Branches that are looked at before the second decision, each against the same long list.
std::string enum_under_bounds(const std::string& list, const std::string& keyword, int branches) {
  std::string bounds;
  for (int i = 0; i < branches; ++i) {
    bounds += (i > 0 ? R"(,{")" : R"({")") + keyword + "\":" + std::to_string(10'000'000 + i) + "}";
  }
  return R"({"allOf":[)" + list + R"(],"anyOf":[)" + bounds +
         R"(],"oneOf":[{"minimum":0},{"maximum":-1}]})";
}

TEST(SchemaBuilder, CountsTheValuesThatALookAheadGoesThrough) {
  constexpr int kValues = 2'000;
  constexpr int kBranches = 200;
  SchemaSet set = loaded(enum_under_bounds(enum_of(0, kValues), "minimum", kBranches));
  SchemaWork work(std::size_t{kValues} * kBranches);
  SchemaBuilder(set, work, {}).build();
  EXPECT_TRUE(work.stopped());
}

TEST(SchemaBuilder, CountsTheDigitsOfALongDivision) {
  SchemaSet set = loaded(R"({"enum":[)" + std::string(20'000, '7') + R"(],"multipleOf":)" +
                         std::string(10'000, '3') + "}");
  const SchemaOptions options;
  SchemaWork work(options.limits.work_max);
  SchemaBuilder(set, work, options).build();
  ASSERT_TRUE(work.stopped());
  EXPECT_EQ(work.refusal()->kind, Kind::kTooLarge);
}

}  // namespace
}  // namespace zerohop
