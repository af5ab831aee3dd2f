#include "base/random.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <set>
#include <string>

namespace zerohop {
namespace {

TEST(Random, GivesTheNumbersOfTheReferenceImplementation) {
  // xoshiro256++ seeded through splitmix64 with 0.
  Random random(0);
  EXPECT_EQ(random.next(), 5987356902031041503u);
  EXPECT_EQ(random.next(), 7051070477665621255u);
  EXPECT_EQ(random.next(), 6633766593972829180u);
  EXPECT_EQ(random.next(), 211316841551650330u);
}

TEST(Random, MixesLikeSplitmix64) { EXPECT_EQ(mix64(0), 0xe220a8397b1dcdafu); }

TEST(Random, RepeatsItselfWithTheSameSeedOnly) {
  Random a(42);
  Random b(42);
  Random c(43);
  int equal_to_c = 0;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t number = a.next();
    EXPECT_EQ(number, b.next());
    if (number == c.next()) ++equal_to_c;
  }
  EXPECT_EQ(equal_to_c, 0);
}

TEST(Random, IsUniformInTheUnitInterval) {
  Random random(1);
  double sum = 0;
  constexpr int kCount = 100'000;
  for (int i = 0; i < kCount; ++i) {
    const double number = random.uniform();
    ASSERT_GE(number, 0.0);
    ASSERT_LT(number, 1.0);
    sum += number;
  }
  EXPECT_NEAR(sum / kCount, 0.5, 0.005);  // 5.5 standard deviations
}

TEST(Random, SpreadsEvenlyBelowABound) {
  Random random(2);
  constexpr int kBound = 7;
  constexpr int kCount = 70'000;
  std::array<int, kBound> seen{};
  for (int i = 0; i < kCount; ++i) {
    const std::uint64_t number = random.below(kBound);
    ASSERT_LT(number, static_cast<std::uint64_t>(kBound));
    ++seen[number];
  }
  for (const int count : seen) EXPECT_NEAR(count, kCount / kBound, 500);  // 5.4 standard deviations
}

TEST(Random, StaysBelowBoundsAtTheEdges) {
  Random random(3);
  constexpr std::uint64_t kHuge = (1ull << 63) + 1;  // rejects almost half of the raw numbers
  for (int i = 0; i < 1'000; ++i) {
    EXPECT_EQ(random.below(1), 0u);
    EXPECT_LT(random.below(kHuge), kHuge);
  }
}

TEST(Random, IsTrueWithTheGivenChance) {
  Random random(4);
  int hits = 0;
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_FALSE(random.chance(0.0));
    EXPECT_TRUE(random.chance(1.0));
    if (random.chance(0.25)) ++hits;
  }
  EXPECT_NEAR(hits, 2'500, 240);  // 5.5 standard deviations
}

TEST(OsRandom, GivesLettersAndDigitsOfTheAskedLength) {
  for (const std::size_t length : {0u, 1u, 24u, 1'000u}) {
    const std::string text = os_random_text(length);
    EXPECT_EQ(text.size(), length);
    for (const char c : text) {
      EXPECT_TRUE((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) << c;
    }
  }
}

TEST(OsRandom, DoesNotRepeatItself) {
  std::set<std::string> texts;
  std::set<std::uint64_t> seeds;
  for (int i = 0; i < 1'000; ++i) {
    texts.insert(os_random_text(24));
    seeds.insert(os_random_seed());
  }
  EXPECT_EQ(texts.size(), 1'000u);
  EXPECT_EQ(seeds.size(), 1'000u);
}

TEST(OsRandom, UsesAllLettersAboutEquallyOften) {
  std::array<int, 256> seen{};
  constexpr int kPerLetter = 2'000;
  for (const char c : os_random_text(62 * kPerLetter)) ++seen[static_cast<unsigned char>(c)];
  int letters = 0;
  for (const int count : seen) {
    if (count == 0) continue;
    ++letters;
    EXPECT_NEAR(count, kPerLetter, 400);  // 9 standard deviations
  }
  EXPECT_EQ(letters, 62);
}

TEST(OsRandomText, DiffersInAChildProcess) {
  (void)os_random_text(1);  // so that there is something to inherit
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  const std::string text = os_random_text(24);
  if (child == 0) {
    const bool written = ::write(ends[1], text.data(), text.size()) == 24;
    ::_exit(written ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  std::string other(24, ' ');
  ASSERT_EQ(::read(ends[0], other.data(), other.size()), 24);
  EXPECT_NE(other, text);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace zerohop
