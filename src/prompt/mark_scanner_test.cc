#include "prompt/mark_scanner.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace zerohop {
namespace {

// Where something was found and what: "3 <a>", or "3 ?" where more bytes are needed.
std::string found(const MarkScanner& scanner, std::string_view text, TextEnd end = TextEnd::kOpen) {
  const auto place = scanner.find(text, end);
  const std::string at = std::to_string(place.begin);
  if (place.mark != nullptr) return at + " " + place.mark->text;
  return place.begin < text.size() ? at + " ?" : at;
}

MarkScanner scanner_of(std::initializer_list<std::string_view> marks) {
  MarkScanner scanner;
  for (const std::string_view mark : marks) scanner.add(mark, MarkKind::kFrame);
  return scanner;
}

TEST(MarkScanner, FindsNothingWithoutMarks) { EXPECT_EQ(found(scanner_of({""}), "<a>"), "3"); }

TEST(MarkScanner, FindsTheFirstMark) {
  const MarkScanner scanner = scanner_of({"<a>", "<b>"});
  EXPECT_EQ(found(scanner, "x<b><a>"), "1 <b>");
  EXPECT_EQ(found(scanner, "x<<a>"), "2 <a>");
  EXPECT_EQ(found(scanner, "x<c>y"), "5");
}

TEST(MarkScanner, WaitsWhileAMarkMayFollow) {
  const MarkScanner scanner = scanner_of({"<abc>", "[X]"});
  EXPECT_EQ(found(scanner, "x <ab"), "2 ?");
  EXPECT_EQ(found(scanner, "x <ab", TextEnd::kFinal), "5");
  EXPECT_EQ(found(scanner, "x <abd"), "6");
  EXPECT_EQ(found(scanner, "x <["), "3 ?");
}

TEST(MarkScanner, PrefersTheLongerOfTwoMarks) {
  const MarkScanner scanner = scanner_of({"<a>", "<a>b"});
  EXPECT_EQ(found(scanner, "<a>"), "0 ?");
  EXPECT_EQ(found(scanner, "<a>", TextEnd::kFinal), "0 <a>");
  EXPECT_EQ(found(scanner, "<a>b"), "0 <a>b");
  EXPECT_EQ(found(scanner, "<a>c"), "0 <a>");
}

TEST(MarkScanner, KeepsTheFirstKindOfAMark) {
  MarkScanner scanner;
  scanner.add("<a>", MarkKind::kThinkingClose);
  scanner.add("<a>", MarkKind::kFrame);
  EXPECT_EQ(scanner.find("<a>", TextEnd::kOpen).mark->kind, MarkKind::kThinkingClose);
}

}  // namespace
}  // namespace zerohop
