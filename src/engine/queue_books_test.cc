#include "engine/queue_books.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/random.h"

namespace zerohop {
namespace {

constexpr TenantId kA{1};
constexpr TenantId kB{2};
constexpr TenantId kC{3};

QueueEntry of(TenantId tenant, std::uint32_t tokens = 100,
              PriorityClass priority = PriorityClass::kStandard) {
  return {tenant, priority, tokens};
}

void come(QueueBooks& books, const QueueEntry& entry, int count) {
  for (int i = 0; i < count; ++i) EXPECT_EQ(books.enter(entry), std::nullopt);
}

TEST(QueueBooks, CountAtMostAsManyOfEachTenantAsOfOnesOwnAndOne) {
  QueueBooks books({});
  EXPECT_EQ(books.in_front(kA, PriorityClass::kStandard).requests, 0);
  EXPECT_EQ(books.part_in_front(kA, PriorityClass::kStandard), 0);
  come(books, of(kA), 100);
  come(books, of(kB), 1);
  EXPECT_EQ(books.in_front(kA, PriorityClass::kStandard).requests, 101);
  EXPECT_EQ(books.in_front(kB, PriorityClass::kStandard).requests, 3);
  EXPECT_EQ(books.in_front(kC, PriorityClass::kStandard).requests, 2);
  EXPECT_NEAR(books.in_front(kC, PriorityClass::kStandard).tokens, 200, 1e-9);
  EXPECT_DOUBLE_EQ(books.part_in_front(kB, PriorityClass::kStandard), 3.0 / 101);
}

TEST(QueueBooks, PutHigherClassesInFrontAndLowerOnesBehind) {
  QueueBooks books({});
  come(books, of(kA, 1000, PriorityClass::kBatch), 10);
  come(books, of(kA, 10, PriorityClass::kPriority), 5);
  EXPECT_EQ(books.in_front(kB, PriorityClass::kPriority).requests, 1);
  const InFront standard = books.in_front(kB, PriorityClass::kStandard);
  EXPECT_EQ(standard.requests, 5);
  EXPECT_EQ(standard.tokens, 50);
  const InFront batch = books.in_front(kA, PriorityClass::kBatch);
  EXPECT_EQ(batch.requests, 15);
  EXPECT_EQ(batch.tokens, 10'050);
  EXPECT_EQ(books.totals().requests, (std::array<std::uint32_t, 3>{5, 0, 10}));
  EXPECT_EQ(books.totals().tokens, (std::array<std::uint64_t, 3>{50, 0, 10'000}));
}

TEST(QueueBooks, RefuseWhatHasNoRoom) {
  QueueBooks books({3, 1000, 1});
  EXPECT_EQ(books.enter(of(kA, 900)), std::nullopt);
  EXPECT_EQ(books.enter(of(kB, 101)), QueueBound::kTokens);
  EXPECT_EQ(books.enter(of(kB, 100)), std::nullopt);
  EXPECT_EQ(books.full_for(kC), std::nullopt);
  EXPECT_EQ(books.enter(of(kC, 0)), std::nullopt);
  EXPECT_EQ(books.enter(of(kC, 0)), QueueBound::kRequests);
  EXPECT_EQ(books.full_for(kA), QueueBound::kRequests);
  books.leave(of(kA, 900));
  EXPECT_EQ(books.enter(of(kC, 900)), std::nullopt);
}

TEST(QueueBooks, LetASingleRequestInHoweverLongItIs) {
  QueueBooks books({10, 1000, 0.1});
  EXPECT_EQ(books.enter(of(kA, 5000)), std::nullopt);
  EXPECT_EQ(books.enter(of(kB, 1)), QueueBound::kTokens);
}

TEST(QueueBooks, TakeAllAnswersOfARequestOrNone) {
  QueueBooks books({4, 1000, 1});
  const std::vector<QueueEntry> three{of(kA, 600), of(kA, 1), of(kA, 600)};
  EXPECT_EQ(books.enter_all(three), std::nullopt) << "one request finds room, however long it is";
  EXPECT_EQ(books.totals().requests[1], 3u);
  EXPECT_EQ(books.totals().tokens[1], 1'201u);
  for (const QueueEntry& entry : three) books.leave(entry);
  come(books, of(kB, 300), 2);
  EXPECT_EQ(books.enter_all(three), QueueBound::kRequests);
  EXPECT_EQ(books.enter_all(std::vector<QueueEntry>{of(kA, 300), of(kA, 101)}),
            QueueBound::kTokens);
  EXPECT_EQ(books.totals().requests[1], 2u) << "nothing of what is refused stays";
  EXPECT_EQ(books.totals().tokens[1], 600u);
  EXPECT_EQ(books.enter_all(std::vector<QueueEntry>{of(kA, 300), of(kA, 100)}), std::nullopt);
}

TEST(QueueBooks, GiveNoTenantMoreThanItsShare) {
  QueueBooks books({10, 1000, 0.5});
  come(books, of(kA, 10), 5);
  EXPECT_EQ(books.enter(of(kA, 10)), QueueBound::kTenantRequests);
  EXPECT_EQ(books.full_for(kA), QueueBound::kTenantRequests);
  EXPECT_EQ(books.full_for(kB), std::nullopt);
  EXPECT_NE(books.full_for(kB, 100), std::nullopt) << "of so many not the last one";
  const QueueBooks empty({10, 1000, 0.5});
  EXPECT_EQ(empty.full_for(kB, 5), std::nullopt);
  EXPECT_EQ(empty.full_for(kB, 6), QueueBound::kTenantRequests);
  come(books, of(kB, 400), 1);
  EXPECT_EQ(books.enter(of(kB, 101)), QueueBound::kTenantTokens);
  come(books, of(kB, 100), 1);
  // Whom nobody tells apart share all of it.
  come(books, of(TenantId{}, 1), 3);
  EXPECT_EQ(books.enter(of(TenantId{}, 1)), QueueBound::kRequests);
}

TEST(QueueBooks, ForgetWhatIsFoundInTheCache) {
  QueueBooks books({10, 1000, 1});
  QueueEntry entry = of(kA, 1000);
  come(books, entry, 1);
  EXPECT_EQ(books.enter(of(kB, 500)), QueueBound::kTokens);
  books.recount(entry, 20);
  EXPECT_EQ(entry.tokens, 20u);
  EXPECT_EQ(books.in_front(kB, PriorityClass::kStandard).tokens, 20);
  come(books, of(kB, 500), 1);
  books.leave(entry);
  EXPECT_EQ(books.totals().tokens[1], 500u);
}

// The sums that are kept, against a count of everybody.
TEST(QueueBooks, AgreeWithACountOfEverybody) {
  Random random(7);
  QueueBooks books({100'000, std::uint64_t{1} << 40, 1});
  std::map<std::pair<std::uint64_t, int>, std::vector<std::uint32_t>> waiting;
  for (int i = 0; i < 5'000; ++i) {
    const std::pair key{1 + random.below(6) * random.below(6), static_cast<int>(random.below(3))};
    const auto priority = static_cast<PriorityClass>(key.second);
    std::vector<std::uint32_t>& mine = waiting[key];
    if (!mine.empty() && random.chance(0.48)) {
      books.leave(of(TenantId(key.first), mine.back(), priority));
      mine.pop_back();
    } else {
      mine.push_back(static_cast<std::uint32_t>(random.below(1000)));
      come(books, of(TenantId(key.first), mine.back(), priority), 1);
    }
    const std::size_t most = mine.size() + 1;
    std::size_t expected = 0;
    for (const auto& [other, list] : waiting) {
      if (other.second < key.second) expected += list.size();
      if (other.second == key.second) expected += std::min(list.size(), most);
    }
    ASSERT_EQ(books.in_front(TenantId(key.first), priority).requests, expected) << i;
  }
}

}  // namespace
}  // namespace zerohop
