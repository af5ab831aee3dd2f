#include "model/saved_state.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"

namespace zerohop {
namespace {

std::vector<std::byte> sealed(std::size_t payload_bytes) {
  std::vector<std::byte> state = make_state(payload_bytes);
  Random random(3);
  for (std::byte& byte : state_payload(state)) byte = static_cast<std::byte>(random.below(256));
  seal_state(state, {StateForm::kCompressed, 42, {5, 9}});
  return state;
}

TEST(SavedState, GivesBackWhatWasSealed) {
  const std::vector<std::byte> state = sealed(100);
  const auto opened = open_state(state, 42);
  ASSERT_TRUE(opened.has_value());
  EXPECT_EQ(opened->form, StateForm::kCompressed);
  EXPECT_EQ(opened->positions, (PositionRange{5, 9}));
  EXPECT_EQ(opened->payload.size(), 100u);
  EXPECT_EQ(opened->payload.data() + 100, state.data() + state.size());
}

TEST(SavedState, RefusesAnotherFingerprint) { EXPECT_FALSE(open_state(sealed(10), 43)); }

TEST(SavedState, NoticesEveryFlippedBitAndEveryMissingByte) {
  const std::vector<std::byte> state = sealed(75);
  for (std::size_t at = 0; at < state.size(); ++at) {
    EXPECT_FALSE(open_state(std::span(state).first(at), 42).has_value());
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<std::byte> damaged = state;
      damaged[at] ^= static_cast<std::byte>(1 << bit);
      EXPECT_FALSE(open_state(damaged, 42).has_value()) << at;
    }
  }
  std::vector<std::byte> longer = state;
  longer.emplace_back();
  EXPECT_FALSE(open_state(longer, 42).has_value());
}

TEST(SavedState, NoticesWordsThatChangedPlaces) {
  std::vector<std::byte> state = sealed(4096);
  std::swap_ranges(state.begin() + 100, state.begin() + 132, state.begin() + 1124);
  EXPECT_FALSE(open_state(state, 42).has_value());
}

TEST(SavedState, ChecksumsOfDifferentLengthsDiffer) {
  const std::vector<std::byte> zeroes(200);
  std::set<std::uint64_t> sums;
  for (std::size_t size = 0; size <= zeroes.size(); ++size) {
    sums.insert(checksum(std::span(zeroes).first(size), 0));
  }
  EXPECT_EQ(sums.size(), 201u);
}

}  // namespace
}  // namespace zerohop
