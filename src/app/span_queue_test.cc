#include "app/span_queue.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace zerohop {
namespace {

SpanRecord span(int number) {
  SpanRecord record;
  record.request.id = std::to_string(number);
  record.phases.resize(static_cast<std::size_t>(number));
  return record;
}

TEST(SpanQueue, LosesTheOldestWhenItIsFullAndSaysSo) {
  SpanQueue queue(3);
  std::vector<std::size_t> lost;
  queue.watch({.lost = [&lost](std::size_t spans) { lost.push_back(spans); },
               .full_at = 0,
               .full = nullptr});
  for (int i = 0; i < 5; ++i) queue.add(span(i));
  EXPECT_EQ(lost, (std::vector<std::size_t>{1, 2})) << "a request and its phases";
  const auto first = queue.take(2);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].request.id, "2");
  EXPECT_EQ(first[1].request.id, "3");
  const auto rest = queue.take(9);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].request.id, "4");
  EXPECT_EQ(queue.size(), 0u);
}

TEST(SpanQueue, CallsForItsReaderWhenEnoughWait) {
  SpanQueue queue(10);
  int calls = 0;
  queue.watch({.lost = nullptr, .full_at = 3, .full = [&calls] { ++calls; }});
  queue.add(span(0));
  queue.add(span(1));
  EXPECT_EQ(calls, 0);
  queue.add(span(2));
  queue.add(span(3));
  EXPECT_EQ(calls, 2);
}

TEST(SpanQueue, WithoutRoomKeepsNothing) {
  SpanQueue queue(0);
  queue.add(span(0));
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_TRUE(queue.take(5).empty());
}

}  // namespace
}  // namespace zerohop
