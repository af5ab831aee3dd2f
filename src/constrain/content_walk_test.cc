// A walk with an automaton leaves out what cannot die, and says of each token what the decoder
// says.
#include "constrain/content_walk.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/utf8.h"
#include "constrain/regex_syntax.h"

namespace zerohop {
namespace {

// Tokens, and what is known of them in one coding.
class Words {
 public:
  Words(std::vector<std::string> texts, TextCoding coding)
      : texts_(std::move(texts)), trie_(entries()), summary_(trie_), coding_(coding) {
    RegexPool pool;
    const auto anything = *ContentAutomaton::make(pool, pool.any(), {}, {});
    const ContentDecoder decoder(*anything, coding);
    MaskBuilder begun_by(texts_.size());
    for (const std::uint32_t token : trie_.all_values()) {
      ContentPlace place = decoder.start();
      bool alive = true;
      for (const char byte : texts_[token]) {
        alive = alive && decoder.step(place, static_cast<unsigned char>(byte));
      }
      const std::uint32_t begun = place.count + (decoder.at_character_border(place) ? 0 : 1);
      if (alive) begun_by.add(static_cast<Token>(token));
      characters_.push_back(alive ? static_cast<std::uint16_t>(begun) : ContentVocabulary::kNever);
    }
    anything_ = begun_by.take();
  }

  const std::vector<std::string>& texts() const { return texts_; }
  ContentVocabulary vocabulary() const {
    return {.trie = trie_, .summary = summary_, .anything = anything_, .characters = characters_};
  }

  /// Compares with the decoder. Returns how many nodes were looked at.
  std::size_t expect_exact(const ContentAutomaton& automaton, const ContentPlace& place) const {
    const ContentRun run{.automaton = &automaton,
                         .state = place.state,
                         .characters_max = automaton.characters_max(place.count),
                         .coding = coding_,
                         .count = place.count};
    ContentTables tables(automaton, coding_);
    const auto walked = [&](MaskBuilder& builder) {
      const ContentVocabulary known = vocabulary();
      ContentWalk walk(run, known, tables);
      walk.add_to(builder);
      return walk.looked_at();
    };
    MaskBuilder builder(texts_.size());
    const std::size_t looked_at = walked(builder);
    const TokenMask mask = builder.take();
    // Again with the tables of the first time.
    const std::size_t rows = tables.rows();
    MaskBuilder again(texts_.size());
    EXPECT_EQ(walked(again), looked_at);
    EXPECT_EQ(tables.rows(), rows);
    const TokenMask same = again.take();
    EXPECT_TRUE(same.ids == mask.ids && same.bits == mask.bits);
    const ContentDecoder decoder(automaton, coding_);
    for (std::size_t token = 0; token < texts_.size(); ++token) {
      ContentPlace at = place;
      bool alive = true;
      for (const char byte : texts_[token]) {
        alive = alive && decoder.step(at, static_cast<unsigned char>(byte));
      }
      EXPECT_EQ(mask.allows(static_cast<Token>(token)), alive) << texts_[token];
    }
    return looked_at;
  }

 private:
  std::vector<ByteTrie::Entry> entries() const {
    std::vector<ByteTrie::Entry> entries;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      entries.push_back({texts_[i], static_cast<std::uint32_t>(i)});
    }
    return entries;
  }

  std::vector<std::string> texts_;
  ByteTrie trie_;
  TrieSummary summary_;
  TextCoding coding_;
  TokenMask anything_;
  std::vector<std::uint16_t> characters_;
};

std::shared_ptr<ContentAutomaton> of_pattern(std::string_view pattern,
                                             const ContentAutomaton::Length& length = {}) {
  RegexPool pool;
  return *ContentAutomaton::make(pool, *parse_ecma_pattern(pool, pattern), length, {});
}

std::vector<std::string> random_words(std::uint64_t seed, std::size_t count) {
  const std::vector<std::string> parts{
      "a", "b",    "c",    "x",  "A",        "B", "0", "1",   "7",  ".",  "-",      "_",    " ",
      "é", "\xc3", "\xa9", "日", "\xe6\x97", "😀", "/", "\\n", "\"", "\\", "\\u00e", "\x01", "@"};
  Random random(seed);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < count; ++i) {
    std::string word;
    // Mostly of few different parts, so that many words have the same beginning.
    const std::size_t kinds = random.chance(0.3) ? parts.size() : 4 + random.below(6);
    for (std::size_t left = 1 + random.below(7); left > 0; --left) {
      word += parts[random.below(kinds)];
    }
    words.push_back(std::move(word));
  }
  return words;
}

TEST(ContentWalk, AgreesWithTheDecoderForEveryTokenWhateverItLeavesOut) {
  const std::vector<std::string> patterns{"[0-9]{2,}",
                                          "^(?!.*[0-9]{2})",
                                          "^[a-z]{1,5}(\\.[a-z]{1,5})*$",
                                          "x",
                                          "^(?!.*x)",
                                          "^[^0-9]*$",
                                          "^(?!.*[A-Z])(?!.*_)",
                                          "^([ab]{3})*$",
                                          "^\\p{L}+$",
                                          "^a{0,4}b{0,4}c*$",
                                          "^[\\x00-\\x7f]*[^x]$",
                                          "^(ab|ca)*[^\\u3000-\\uffff]*$"};
  const std::vector<ContentAutomaton::Length> lengths{
      {}, {0, 3}, {0, 6}, {2, 9}, {4, ContentAutomaton::kUnbounded}};
  int places = 0;
  for (const TextCoding coding :
       {TextCoding::kUtf8, TextCoding::kJsonCanonical, TextCoding::kJsonAny}) {
    const Words words(random_words(7, 3'000), coding);
    for (const std::string& pattern : patterns) {
      for (const auto& length : lengths) {
        const auto automaton = of_pattern(pattern, length);
        if (automaton->empty()) continue;
        for (const char32_t* begun : {U"", U"a", U"ab", U"0", U"x.", U"cacc"}) {
          SCOPED_TRACE(testing::Message()
                       << pattern << " [" << length.min << ", " << length.max << "] behind "
                       << encode_content(begun, TextCoding::kUtf8));
          const std::u32string_view text = begun;
          const ContentPlace place{.state = automaton->walk(text),
                                   .count = static_cast<std::uint32_t>(text.size())};
          if (place.state == ContentAutomaton::kNoState) continue;
          if (automaton->characters_min(place.state, place.count) != 0) continue;
          words.expect_exact(*automaton, place);
          if (HasFailure()) return;
          ++places;
        }
      }
    }
  }
  EXPECT_GT(places, 300);
}

// All words of five of these letters: 780 nodes below each.
std::vector<std::string> words_of_five(const std::string& letters) {
  std::vector<std::string> words{""};
  for (int length = 0; length < 5; ++length) {
    std::vector<std::string> longer;
    for (const std::string& word : words) {
      for (const char letter : letters) longer.push_back(word + letter);
    }
    words = std::move(longer);
  }
  return words;
}

TEST(ContentWalk, LooksAtNothingBelowWhatLeadsBackToTheSameState) {
  std::vector<std::string> words = words_of_five("abcde");
  words.emplace_back("ab7");
  const Words plain(words, TextCoding::kJsonCanonical);
  const auto automaton = of_pattern("^(?!.*[0-9]{2})");
  // Five first letters; below 'a' there is a digit, so its five children too, and all below "ab".
  EXPECT_EQ(plain.expect_exact(*automaton, {}), 5u + 5u + 6u);
}

TEST(ContentWalk, LooksAtNothingBelowWhatIsCountedFarFromItsBound) {
  const Words plain(words_of_five("abcde"), TextCoding::kJsonCanonical);
  // Labels as hostnames have them: each letter leads to another state.
  const auto automaton = of_pattern("^[a-z]{1,9}(\\.[a-z]{1,9})*$");
  EXPECT_EQ(plain.expect_exact(*automaton, {}), 5u);
  const std::u32string_view near = U"abcdef";  // three more letters, not four
  EXPECT_GT(plain.expect_exact(*automaton, {.state = automaton->walk(near), .count = 6}), 100u);
}

TEST(ContentWalk, LooksAtNothingBelowWhatABoundOnTheLengthEnds) {
  const Words plain(words_of_five("abcde"), TextCoding::kJsonCanonical);
  const auto automaton = of_pattern("^[^0-9]*$", {.max = 4});
  EXPECT_EQ(plain.expect_exact(*automaton, {}), 5u);
}

}  // namespace
}  // namespace zerohop
