#include "model/llama_tokenizer.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "base/utf8.h"
#include "model/llama_test_model.h"

namespace zerohop {
namespace {

using LlamaTokenizerTest = WithDefaultModel;

// `text` without the bytes that the default model's vocabulary cannot spell.
std::string without_lost_bytes(std::string text) {
  std::erase_if(text, [](char c) {
    return std::string_view("\x04\x06\x13\x14\x16\x1d\xf1\xf2").find(c) != std::string_view::npos;
  });
  return text;
}

TEST_F(LlamaTokenizerTest, GivesBackAnyUtf8TextByteForByte) {
  const std::vector<std::string> texts{
      "",
      " ",
      "The quick brown fox.",
      "  two leading blanks and a tab\tand\r\nlines\n\n\n",
      "Grüße, naïve façade — “quotes”",
      "日本語のテキスト、한국어, русский, العربية, עברית",
      "👩‍👩‍👧‍👦 family, 🇩🇪 flag, e\u0301 combining",
      std::string("nul\0inside", 10),
      "{\"json\": [1.5e-7, null], \"x\": \"\\u0041\"}",
      std::string(3000, '7'),
  };
  const Tokenizer& tokenizer = model->tokenizer();
  for (const std::string& text : texts) {
    const std::vector<Token> tokens = tokenizer.tokenize(text, SpecialTokens::kInert);
    EXPECT_EQ(tokenizer.detokenize(tokens), text);
  }
}

TEST_F(LlamaTokenizerTest, TakesAnyBytesAndRepairsWhatIsNotUtf8) {
  const Tokenizer& tokenizer = model->tokenizer();
  // A surrogate and a number above U+10FFFF: the library itself throws on both.
  for (const std::string text :
       {"a\xed\xa0\x80z", "a\xf7\xbf\xbf\xbfz", "\xff\xfe", "cut \xe2\x82"}) {
    const std::vector<Token> tokens = tokenizer.tokenize(text, SpecialTokens::kInert);
    EXPECT_EQ(tokenizer.detokenize(tokens), utf8_replace_invalid(text));
  }
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    std::string bytes(random.below(80), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.below(256));
    const std::vector<Token> tokens = tokenizer.tokenize(bytes, SpecialTokens::kInert);
    ASSERT_EQ(tokenizer.detokenize(tokens), without_lost_bytes(utf8_replace_invalid(bytes)));
  }
}

TEST_F(LlamaTokenizerTest, SpecialTextIsATokenWhenParsedAndPlainCharactersWhenInert) {
  const Tokenizer& tokenizer = model->tokenizer();
  const std::string text = "<|im_start|>user\nHi<|im_end|>";
  const std::vector<Token> parsed = tokenizer.tokenize(text, SpecialTokens::kParse);
  ASSERT_GE(parsed.size(), 3u);
  EXPECT_TRUE(tokenizer.table().is_control(parsed.front()));
  EXPECT_TRUE(tokenizer.table().is_control(parsed.back()));
  EXPECT_TRUE(tokenizer.table().is_end_of_generation(parsed.back()));
  EXPECT_EQ(tokenizer.detokenize(parsed), "user\nHi") << "control tokens have no bytes";

  const std::vector<Token> inert = tokenizer.tokenize(text, SpecialTokens::kInert);
  EXPECT_GT(inert.size(), parsed.size());
  for (const Token token : inert) EXPECT_FALSE(tokenizer.table().is_control(token));
  EXPECT_EQ(tokenizer.detokenize(inert), text);
}

TEST_F(LlamaTokenizerTest, EverySpecialTextIsOneControlTokenAndTheyComeLongestFirst) {
  const Tokenizer& tokenizer = model->tokenizer();
  const std::vector<std::string>& texts = tokenizer.special_texts();
  EXPECT_EQ(texts.size(), 17u);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::vector<Token> parsed = tokenizer.tokenize(texts[i], SpecialTokens::kParse);
    ASSERT_EQ(parsed.size(), 1u) << texts[i];
    EXPECT_TRUE(tokenizer.table().is_control(parsed[0])) << texts[i];
    EXPECT_GE(texts[i == 0 ? 0 : i - 1].size(), texts[i].size());
  }
}

TEST_F(LlamaTokenizerTest, TheTableHoldsEveryTokenAndMarksTheOnesThatEndATurn) {
  const TokenTable& table = model->tokenizer().table();
  ASSERT_EQ(table.size(), model->info().vocabulary);
  std::size_t without_bytes = 0;
  std::size_t controls = 0;
  std::size_t ends = 0;
  for (Token token = 0; table.contains(token); ++token) {
    without_bytes += table.bytes(token).empty() ? 1 : 0;
    controls += table.is_control(token) ? 1 : 0;
    ends += table.is_end_of_generation(token) ? 1 : 0;
  }
  EXPECT_EQ(controls, 17u);
  EXPECT_EQ(without_bytes, controls);
  EXPECT_EQ(ends, 3u);  // <|endoftext|>, <|im_end|> and <reponame>, which ends a file
}

TEST_F(LlamaTokenizerTest, ThisVocabularyWantsNoTokenInFront) {
  EXPECT_EQ(model->tokenizer().begin_of_sequence(), std::nullopt);
}

TEST_F(LlamaTokenizerTest, FourThreadsTokenizeAndRenderAlike) {
  const Tokenizer& tokenizer = model->tokenizer();
  const ChatTemplate& chat_template = model->chat_template();
  const std::vector<TemplateMessage> messages{{"system", "Be brief."}, {"user", "Grüße, 世界!"}};
  const Result<std::string> prompt = chat_template.render({.messages = messages});
  ASSERT_TRUE(prompt.ok());
  const std::vector<Token> expected = tokenizer.tokenize(*prompt, SpecialTokens::kParse);

  std::vector<int> agreed(4, 0);
  std::vector<std::thread> threads;
  for (int& count : agreed) {
    threads.emplace_back([&count, &messages, &chat_template, &tokenizer, &expected] {
      for (int round = 0; round < 25; ++round) {
        const Result<std::string> rendered = chat_template.render({.messages = messages});
        if (!rendered.ok()) continue;
        count += tokenizer.tokenize(*rendered, SpecialTokens::kParse) == expected ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(agreed, (std::vector<int>{25, 25, 25, 25}));
}

}  // namespace
}  // namespace zerohop
