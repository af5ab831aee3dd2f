#include "api/openai_content.h"

#include <gtest/gtest.h>

#include <string>

#include "api/openai_test_parse.h"

namespace zerohop {
namespace {

using Parts = Result<std::vector<OpenAiPart>>;

Parts read(std::string_view content, OpenAiContentOf of = OpenAiContentOf::kMessage) {
  ZH_ASSIGN_OR_RETURN(const JsonDocument document,
                      parse_json(R"({"content":)" + std::string(content) + "}"));
  const JsonPlace root(document.root());
  const auto place = root.find("content");
  return parse_openai_content(*place, of);
}

std::string text_of(const Parts& parts, std::size_t index = 0) {
  if (!parts.ok()) return error_text(parts.error());
  const auto* text = std::get_if<TextBlock>(&parts->at(index));
  return text == nullptr ? "no text" : text->text;
}

DocumentBlock document_of(const Parts& parts) {
  EXPECT_TRUE(parts.ok()) << openai_test::complaint_of(parts);
  return parts.ok() ? std::get<DocumentBlock>(parts->at(0)) : DocumentBlock{};
}

std::string complaint(std::string_view content) { return openai_test::complaint_of(read(content)); }

TEST(OpenAiContent, ReadsAStringAndEveryNameOfText) {
  EXPECT_EQ(text_of(read(R"("a")")), "a");
  for (const std::string_view type :
       {"text", "input_text", "output_text", "summary_text", "reasoning_text"}) {
    EXPECT_EQ(text_of(read(R"([{"type":")" + std::string(type) + R"(","text":"b"}])")), "b");
  }
  EXPECT_EQ(text_of(read(R"([{"type":"refusal","refusal":"c"}])")), "c");
  EXPECT_EQ(text_of(read(R"(["d"])")), "d");
}

TEST(OpenAiContent, LeavesOutEmptyText) {
  EXPECT_TRUE(read(R"("")")->empty());
  EXPECT_EQ(read(R"([{"type":"text","text":""},{"type":"text","text":"a"}])")->size(), 1u);
}

TEST(OpenAiContent, ReadsFilesOfBothShapes) {
  const DocumentBlock pdf =
      document_of(read(R"([{"type":"file","file":{"filename":"a.pdf",)"
                       R"("file_data":"data:application/pdf;base64,JVBERi0xLjQK"}}])"));
  EXPECT_EQ(pdf.title, "a.pdf");
  EXPECT_EQ(pdf.pdf, "%PDF-1.4\n");
  EXPECT_TRUE(pdf.text.empty());
  const DocumentBlock text = document_of(read(R"([{"type":"input_file","file_data":"aGVsbG8="}])"));
  EXPECT_EQ(text.text, "hello");
  EXPECT_TRUE(text.pdf.empty());
}

TEST(OpenAiContent, RefusesFilesThatItCanNotRead) {
  EXPECT_EQ(complaint(R"([{"type":"file","file":{"file_id":"x"}}])"),
            "content[0].file.file_id: stored files are not supported by this server");
  EXPECT_EQ(complaint(R"([{"type":"input_file","file_url":"x"}])"),
            "content[0].file_url: files by URL are not supported by this server");
  EXPECT_EQ(complaint(R"([{"type":"file","file":{}}])"), "content[0].file.file_data: is required");
  EXPECT_EQ(complaint(R"([{"type":"file","file":{"file_data":"data:a/b;base64,*"}}])"),
            "content[0].file.file_data: must be a file in base64 or a base64 data URL");
  EXPECT_EQ(complaint(R"([{"type":"file","file":{"file_data":"data:nothing"}}])"),
            "content[0].file.file_data: must be a file in base64 or a base64 data URL");
  EXPECT_EQ(complaint(R"([{"type":"file","file":{"file_data":"/w=="}}])"),
            "content[0].file.file_data: must be a PDF or UTF-8 text; no other files can be read");
}

TEST(OpenAiContent, RefusesWhatATextModelCanNotTakeByName) {
  EXPECT_EQ(complaint(R"([{"type":"text","text":"a"},{"type":"image_url","image_url":{}}])"),
            "content[1].type: image input is not supported by this server");
  EXPECT_EQ(complaint(R"([{"type":"input_audio"}])"),
            "content[0].type: audio input is not supported by this server");
  EXPECT_EQ(complaint(R"([{"type":"hologram"}])"),
            "content[0].type: must be a known type of content part, got \"hologram\"");
  EXPECT_EQ(complaint(R"([{"text":"a"}])"), "content[0].type: is required");
  EXPECT_EQ(complaint(R"([{"type":"text"}])"), "content[0].text: is required");
  EXPECT_EQ(complaint("[5]"), "content[0]: must be an object, got 5");
}

TEST(OpenAiContent, NotesAnImageInAResult) {
  EXPECT_EQ(text_of(read(R"([{"type":"image_url"}])", OpenAiContentOf::kToolResult)),
            "[image: this model cannot see images]");
  EXPECT_EQ(text_of(read(R"([{"type":"input_audio"}])", OpenAiContentOf::kToolResult)),
            "content[0].type: audio input is not supported by this server");
}

TEST(OpenAiContent, TrimsBlankBlocksFromTheEndOfAPrefill) {
  std::vector<ContentBlock> blocks{TextBlock{"a "}, TextBlock{" \n"}};
  trim_openai_prefill(blocks);
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(std::get<TextBlock>(blocks[0]).text, "a");
  blocks = {TextBlock{"a "}, ThinkingBlock{"b "}};
  trim_openai_prefill(blocks);
  EXPECT_EQ(std::get<TextBlock>(blocks[0]).text, "a ");
  blocks = {TextBlock{" "}};
  trim_openai_prefill(blocks);
  EXPECT_TRUE(blocks.empty());
}

}  // namespace
}  // namespace zerohop
