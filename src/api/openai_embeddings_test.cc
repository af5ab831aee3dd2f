#include "api/openai_embeddings.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "api/base64.h"
#include "api/json_place.h"
#include "api/openai_test_parse.h"

namespace zerohop {
namespace {

Result<OpenAiEmbeddingsRequest> parse(std::string_view fields) {
  return parse_embeddings_request("{" + std::string(fields) + "}", {});
}

std::string complaint(std::string_view fields) { return openai_test::complaint_of(parse(fields)); }

TEST(OpenAiEmbeddings, ReadsTextsAndTokens) {
  EXPECT_EQ(parse(R"("input":"a")")->inputs.size(), 1u);
  const auto request = parse(R"("input":["a",[1,2]],"encoding_format":"base64","dimensions":64)");
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(std::get<std::string>(request->inputs[0]), "a");
  EXPECT_EQ(std::get<std::vector<Token>>(request->inputs[1]), (std::vector<Token>{1, 2}));
  EXPECT_EQ(request->encoding, EmbeddingEncoding::kBase64);
  EXPECT_EQ(request->dimensions, 64u);
}

TEST(OpenAiEmbeddings, RefusesBrokenRequests) {
  EXPECT_EQ(complaint(""), "input: is required");
  EXPECT_EQ(complaint(R"("input":"")"), "input: must not be empty");
  EXPECT_EQ(complaint(R"("input":["a",""])"), "input[1]: must not be empty");
  EXPECT_EQ(complaint(R"("input":[])"), "input: must not be empty");
  EXPECT_EQ(complaint(R"("input":"a","encoding_format":"hex")"),
            R"(encoding_format: must be "float" or "base64", got "hex")");
  EXPECT_EQ(complaint(R"("input":"a","dimensions":0)"),
            "dimensions: must be an integer from 1 to 2147483647, got 0");
}

TEST(OpenAiEmbeddings, WritesNumbersThatReadBackTheSame) {
  OpenAiEmbeddings embeddings;
  embeddings.model = "m";
  embeddings.vectors = {{0.1f, -1e-7f, 3.4e38f}};
  embeddings.prompt_tokens = 3;
  const std::string body = openai_embeddings_body(embeddings).value();
  const auto document = parse_json(body);
  ASSERT_TRUE(document.ok()) << body;
  const auto& vector = document->root().at("data").at(0).at("embedding").as_array();
  for (std::size_t i = 0; i < vector.size(); ++i) {
    EXPECT_EQ(static_cast<float>(vector[i].to_number<double>()), embeddings.vectors[0][i]);
  }
  EXPECT_EQ(document->root().at("usage").at("total_tokens").as_int64(), 3);
}

TEST(OpenAiEmbeddings, WritesLittleEndianFloatsInBase64) {
  OpenAiEmbeddings embeddings;
  embeddings.encoding = EmbeddingEncoding::kBase64;
  embeddings.vectors = {{1.0f, -2.0f}};
  const std::string body = openai_embeddings_body(embeddings).value();
  const auto document = parse_json(body);
  const auto& text = document->root().at("data").at(0).at("embedding").as_string();
  EXPECT_EQ(base64_decode({text.data(), text.size()}),
            std::string("\x00\x00\x80\x3f\x00\x00\x00\xc0", 8));
}

TEST(OpenAiEmbeddings, RefusesToWriteWhatIsNoNumber) {
  OpenAiEmbeddings embeddings;
  embeddings.vectors = {{1.0f}, {std::nanf("")}};
  const auto body = openai_embeddings_body(embeddings);
  ASSERT_FALSE(body.ok());
  EXPECT_EQ(body.error().code, ErrorCode::kModelFailure);
}

TEST(OpenAiBase64, PadsToWholeGroupsAndReadsBack) {
  const auto encoded = [](std::string_view bytes) {
    std::string out;
    append_base64(bytes, out);
    return out;
  };
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  EXPECT_EQ(base64_decode(encoded(all)), all);
}

}  // namespace
}  // namespace zerohop
