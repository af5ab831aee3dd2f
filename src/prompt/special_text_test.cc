#include "prompt/special_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"

namespace zerohop {
namespace {

using Strings = std::vector<std::string>;

// What a tokenizer does: one special text after the other, longest first, in what is left.
void take_naively(std::string_view text, std::size_t offset, std::size_t index,
                  const Strings& specials, std::vector<SpecialOccurrence>& taken) {
  for (; index < specials.size(); ++index) {
    const std::size_t found = text.find(specials[index]);
    if (found == std::string_view::npos) continue;
    const std::size_t end = found + specials[index].size();
    take_naively(text.substr(0, found), offset, index, specials, taken);
    taken.push_back({{offset + found, offset + end}, index});
    take_naively(text.substr(end), offset + end, index, specials, taken);
    return;
  }
}

bool touches_naively(std::string_view text, const std::vector<ByteRange>& ranges,
                     const Strings& specials) {
  for (const std::string& special : specials) {
    for (std::size_t at = text.find(special); at != std::string_view::npos;
         at = text.find(special, at + 1)) {
      for (const ByteRange& range : ranges) {
        if (range.begin < at + special.size() && at < range.end) return true;
      }
    }
  }
  return false;
}

TEST(SpecialTextFinder, FindsSpecialTextsInOrder) {
  const SpecialTextFinder finder(Strings{"<start>", "<end>"});
  EXPECT_EQ(finder.find("a<start>b<end><end>"),
            (std::vector<SpecialOccurrence>{{{1, 8}, 0}, {{9, 14}, 1}, {{14, 19}, 1}}));
  EXPECT_EQ(finder.text(1), "<end>");
}

TEST(SpecialTextFinder, PrefersTheLongerOfTwoThatOverlap) {
  const SpecialTextFinder finder(Strings{"bcd", "ab"});
  EXPECT_EQ(finder.find("abcd"), (std::vector<SpecialOccurrence>{{{1, 4}, 0}}));
}

TEST(SpecialTextFinder, FindsNothingWithoutTexts) {
  EXPECT_TRUE(SpecialTextFinder(Strings{}).find("<end>").empty());
  EXPECT_TRUE(SpecialTextFinder(Strings{""}).find("<end>").empty());
}

TEST(SpecialTextFinder, SeesATextThatFormsAcrossTheBorderOfARange) {
  const SpecialTextFinder finder(Strings{"<end>"});
  EXPECT_TRUE(finder.touches("ab<end>", std::vector<ByteRange>{{0, 3}}));
  EXPECT_TRUE(finder.touches("ab<end>", std::vector<ByteRange>{{6, 7}}));
  EXPECT_TRUE(finder.touches("ab<end>", std::vector<ByteRange>{{3, 4}, {5, 6}}));
  EXPECT_FALSE(finder.touches("ab<end>c", std::vector<ByteRange>{{0, 2}, {7, 8}}));
}

TEST(SpecialTextFinder, TakesOnlyWhatLiesBetweenTheRanges) {
  const SpecialTextFinder finder(Strings{"<end>"});
  EXPECT_EQ(finder.find_between("<end><end><end>", std::vector<ByteRange>{{5, 10}}),
            (std::vector<SpecialOccurrence>{{{0, 5}, 0}, {{10, 15}, 0}}));
  EXPECT_TRUE(finder.find_between("<end>", std::vector<ByteRange>{{2, 2}}).empty());
}

TEST(SpecialTextFinder, AgreesWithANaiveTokenizerOnRandomTexts) {
  Random random(11);
  const auto text_of = [&](std::size_t length) {
    std::string text;
    while (text.size() < length) text.push_back(static_cast<char>('a' + random.below(2)));
    return text;
  };
  for (int round = 0; round < 5'000; ++round) {
    // Equal lengths, or none inside another: what vocabularies look like.
    const std::size_t length = 2 + random.below(3);
    Strings specials{text_of(length), text_of(length), text_of(length)};
    const std::string text = text_of(random.below(25));
    const SpecialTextFinder finder(specials);
    std::vector<SpecialOccurrence> expected;
    take_naively(text, 0, 0, specials, expected);
    ASSERT_EQ(finder.find(text), expected) << text << ", round " << round;

    std::vector<ByteRange> ranges;
    for (std::size_t at = random.below(4); at < text.size();) {
      const std::size_t end = std::min(text.size(), at + 1 + random.below(3));
      ranges.push_back({at, end});
      at = end + random.below(5);
    }
    ASSERT_EQ(finder.touches(text, ranges), touches_naively(text, ranges, specials)) << text;
  }
}

}  // namespace
}  // namespace zerohop
