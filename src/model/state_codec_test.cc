#include "model/state_codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/random.h"
#include "model/state_layout.h"
#include "model/state_test_bytes.h"

namespace zerohop {
namespace {

double value_of(std::uint16_t half) {
  const int exponent = half >> 10 & 31;
  const double fraction = half & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return half >> 15 != 0 ? -magnitude : magnitude;
}

std::uint16_t half_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint16_t half = 0;
  std::memcpy(&half, bytes.data() + at, sizeof half);
  return half;
}

std::vector<TestStateShape> shapes() {
  std::vector<TestStateShape> all(8);
  all[1].transposed = true;
  all[2].cell_extension = true;
  all[3].caches = 2;
  all[4].streams = 5;
  all[5].running_state = true;
  all[6].has_values = false;
  all[7].positions = {9, 4, 7, 5};
  return all;
}

TEST(StateLayout, ReadsEveryShapeToItsLastByteAndNothingElse) {
  for (const TestStateShape& shape : shapes()) {
    const TestState state(shape, [] { return std::uint16_t{0x3c00}; });
    const auto layout = parse_state(state.bytes);
    ASSERT_TRUE(layout.has_value());
    EXPECT_EQ(layout->positions, shape.positions);
    EXPECT_EQ(layout->has_running_state, shape.running_state);
    std::uint64_t bytes = 0;
    std::uint64_t numbers = 0;
    for (const StateRun& run : layout->runs) {
      bytes += run.plain_bytes + 2 * run.f16_numbers;
      numbers += run.f16_numbers;
    }
    EXPECT_EQ(bytes, state.bytes.size());
    const std::uint64_t tensors = shape.layers * (shape.has_values ? 2u : 1u);
    EXPECT_EQ(numbers, static_cast<std::uint64_t>(shape.caches) * tensors * shape.row_numbers *
                           shape.positions.size());

    std::vector<std::byte> longer = state.bytes;
    longer.emplace_back();
    EXPECT_FALSE(parse_state(longer).has_value());
    // Cut off behind its keys, behind the first of two caches, or between layers of a running
    // state, it is a state of another model: of which one, the envelope knows.
    std::size_t accepted = 0;
    for (std::size_t size = 0; size < state.bytes.size(); ++size) {
      if (parse_state(std::span(state.bytes).first(size))) ++accepted;
    }
    const std::size_t ends = shape.running_state ? 2 + 2 * shape.layers : 1;
    EXPECT_LE(accepted, ends * static_cast<std::size_t>(shape.caches));
  }
}

TEST(StateLayout, RefusesWhatTheLibraryWouldBelieve) {
  TestStateShape shape;
  shape.positions = {-1, 0, 1};
  EXPECT_FALSE(parse_state(TestState(shape, [] { return std::uint16_t{0}; }).bytes).has_value());
  shape.positions = {0, 1};
  TestState many(shape, [] { return std::uint16_t{0}; });
  const std::uint32_t cells = 0xfffffff0u;
  std::memcpy(many.bytes.data() + 12, &cells, sizeof cells);
  EXPECT_FALSE(parse_state(many.bytes).has_value());
}

TEST(StateLayout, KnowsWhetherPositionsAreComplete) {
  StateLayout layout;
  layout.positions = {5, 3, 4};
  EXPECT_TRUE(holds_exactly(layout, {3, 6}));
  EXPECT_FALSE(holds_exactly(layout, {3, 7}));
  EXPECT_FALSE(holds_exactly(layout, {2, 5}));
  layout.positions = {3, 4, 4};
  EXPECT_FALSE(holds_exactly(layout, {3, 6}));
  EXPECT_TRUE(holds_exactly({}, {4, 4}));
}

TEST(StateLayout, StretchesTheStateOfOneCell) {
  for (TestStateShape shape : shapes()) {
    if (shape.running_state) continue;
    shape.positions = {0};
    std::uint16_t next = 0;
    const TestState one(shape, [&next] { return next++; });
    const std::vector<std::byte> many = stretch_state(one.bytes, {5, 5});
    const auto layout = parse_state(many);
    ASSERT_TRUE(layout.has_value());
    EXPECT_TRUE(holds_exactly(*layout, {0, 5}));
    shape.positions = {0, 1, 2, 3, 4};
    EXPECT_EQ(many.size(), TestState(shape, [] { return std::uint16_t{0}; }).bytes.size());
    EXPECT_EQ(stretch_state(one.bytes, {1, 1}), one.bytes);
    EXPECT_TRUE(stretch_state(many, {9, 9}).empty()) << "not of one cell";
  }
}

TEST(StateLayout, AStretchedWindowHoldsTheLastPositions) {
  TestStateShape shape;
  shape.positions = {0};
  shape.caches = 2;
  const TestState one(shape, [] { return std::uint16_t{0}; });
  const auto layout = parse_state(stretch_state(one.bytes, {10, 4}));
  ASSERT_TRUE(layout.has_value());
  std::vector<std::uint64_t> cells;
  for (const StatePart& part : layout->parts) {
    if (part.kind == StatePartKind::kCells) cells.push_back(part.bytes / part.unit_bytes);
  }
  EXPECT_EQ(cells, (std::vector<std::uint64_t>{10, 4}));
}

TEST(StateCodec, KeepsEveryNumberWithinHalfAStepOfItsBlock) {
  Random random(7);
  for (TestStateShape shape : shapes()) {
    shape.row_numbers = 192;
    const TestState state(shape, [&random] {
      // Magnitudes from the smallest to 65,000, blocks of one magnitude and blocks of many.
      const std::uint64_t bits = random.next();
      const auto exponent = random.chance(0.1) ? bits % 30 : 12 + bits % 4;
      return static_cast<std::uint16_t>(exponent << 10 | (bits >> 20 & 0x83ff));
    });
    const std::vector<std::byte> compressed = compress_state(state.bytes);
    ASSERT_FALSE(compressed.empty());
    const auto restored = decompress_state(compressed);
    ASSERT_TRUE(restored.has_value());
    ASSERT_EQ(restored->size(), state.bytes.size());
    std::size_t at = 0;
    const auto layout = parse_state(state.bytes);
    ASSERT_TRUE(layout.has_value());
    for (const StateRun& run : layout->runs) {
      ASSERT_EQ(std::memcmp(restored->data() + at, state.bytes.data() + at, run.plain_bytes), 0);
      at += run.plain_bytes;
      for (std::uint64_t block = 0; block < run.f16_numbers; block += 32) {
        const std::uint64_t count = std::min<std::uint64_t>(32, run.f16_numbers - block);
        double largest = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
          largest = std::max(largest, std::fabs(value_of(half_at(state.bytes, at + 2 * i))));
        }
        // Half a step, the step rounded to F16, the result rounded to F16.
        const double bound = largest * (0.5 / 127 + 0.0010) + 0x1.0p-24;
        for (std::uint64_t i = 0; i < count; ++i) {
          const double before = value_of(half_at(state.bytes, at + 2 * i));
          ASSERT_NEAR(value_of(half_at(*restored, at + 2 * i)), before, bound) << largest;
        }
        at += 2 * count;
      }
    }
  }
}

TEST(StateCodec, NeedsAboutHalfTheBytes) {
  TestStateShape shape;
  shape.row_numbers = 1024;
  shape.positions.resize(20);
  for (std::int32_t i = 0; i < 20; ++i) shape.positions[static_cast<std::size_t>(i)] = i;
  const TestState state(shape, [] { return std::uint16_t{0x3c01}; });
  const double ratio = static_cast<double>(state.bytes.size()) /
                       static_cast<double>(compress_state(state.bytes).size());
  EXPECT_GT(ratio, 1.87);
}

TEST(StateCodec, ZeroesStayZeroes) {
  const TestState state({}, [] { return std::uint16_t{0}; });
  const auto restored = decompress_state(compress_state(state.bytes));
  ASSERT_TRUE(restored.has_value());
  EXPECT_EQ(*restored, state.bytes);
}

TEST(StateCodec, LeavesAloneWhatItCannotHalve) {
  const auto one = [] { return std::uint16_t{0x3c00}; };
  EXPECT_TRUE(compress_state({}).empty());
  EXPECT_TRUE(compress_state(std::vector<std::byte>(100)).empty());
  TestStateShape floats;
  floats.type = 0;
  EXPECT_TRUE(compress_state(TestState(floats, one).bytes).empty()) << "nothing in F16";
  TestStateShape running;
  running.caches = 0;
  running.running_state = true;
  EXPECT_TRUE(compress_state(TestState(running, one).bytes).empty());
  for (const std::uint16_t half : {0x7c00, 0xfc00, 0x7e00, 0x7bff}) {
    EXPECT_TRUE(compress_state(TestState({}, [half] { return half; }).bytes).empty())
        << "infinite, not a number, or too large";
  }
}

TEST(StateCodec, RefusesBytesThatAreNotItsOwn) {
  const TestState state({}, [] { return std::uint16_t{0x3c00}; });
  const std::vector<std::byte> compressed = compress_state(state.bytes);
  EXPECT_FALSE(decompress_state({}).has_value());
  EXPECT_FALSE(decompress_state(state.bytes).has_value());
  for (std::size_t size = 0; size < compressed.size(); size += 5) {
    EXPECT_FALSE(decompress_state(std::span(compressed).first(size)).has_value()) << size;
  }
  std::vector<std::byte> longer = compressed;
  longer.emplace_back();
  EXPECT_FALSE(decompress_state(longer).has_value());
  std::vector<std::byte> greedy = compressed;
  const std::uint64_t huge = ~std::uint64_t{0} / 2;
  std::memcpy(greedy.data() + 24, &huge, sizeof huge);  // numbers of the first run
  EXPECT_FALSE(decompress_state(greedy).has_value());
}

}  // namespace
}  // namespace zerohop
