#include "app/document_text.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "app/test_folder.h"
#include "app/test_pdf.h"

namespace zerohop {
namespace {

Conversation conversation_with(DocumentBlock document) {
  Conversation conversation;
  conversation.messages.push_back({Role::kUser, {TextBlock{"Read this."}, std::move(document)}});
  return conversation;
}

TEST(DocumentText, ReadsThePagesOfAPdfInOrder) {
  const auto text = pdf_text(make_pdf({"The first page.", "And the second."}), {});
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(*text, "The first page.\n\nAnd the second.");
}

TEST(DocumentText, RefusesWhatIsNoPdf) {
  for (const std::string& bytes : {std::string("not a PDF"), std::string("%PDF-1.4\n%%EOF\n"),
                                   make_pdf({"cut off"}).substr(0, 60)}) {
    const auto text = pdf_text(bytes, {});
    ASSERT_FALSE(text.ok());
    EXPECT_EQ(text.error().code, ErrorCode::kInvalidRequest);
  }
}

TEST(DocumentText, RefusesAPdfWithoutText) {
  const auto text = pdf_text(make_pdf({""}), {});
  ASSERT_FALSE(text.ok());
  EXPECT_NE(text.error().message.find("no text"), std::string::npos);
}

TEST(DocumentText, RefusesMorePagesThanTheLimit) {
  DocumentLimits limits;
  limits.pages_max = 2;
  EXPECT_TRUE(pdf_text(make_pdf({"a", "b"}), limits).ok());
  const auto text = pdf_text(make_pdf({"a", "b", "c", "d"}), limits);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().message, "the PDF has more pages than 2 pages");
}

TEST(DocumentText, RefusesMoreBytesAndMoreTextThanTheLimits) {
  const std::string pdf =
      make_pdf(std::vector<std::string>(10, "Forty bytes of text stand on this page."));
  DocumentLimits small_file;
  small_file.pdf_bytes_max = pdf.size() - 1;
  EXPECT_FALSE(pdf_text(pdf, small_file).ok());
  DocumentLimits little_text;
  little_text.text_bytes_max = 100;
  const auto text = pdf_text(pdf, little_text);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().message, "the PDF holds more text than 100 bytes");
}

TEST(DocumentText, EndsAConverterThatTakesTooLong) {
  DocumentLimits limits;
  const TestFolder folder;
  const std::filesystem::path program = folder.path() / "endless";
  std::ofstream(program) << "#!/bin/sh\nexec sleep 600\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  limits.program = program.string();
  limits.time_max = std::chrono::milliseconds(1);
  const auto text = pdf_text("%PDF", limits);
  ASSERT_FALSE(text.ok());
  EXPECT_NE(text.error().message.find("takes longer"), std::string::npos);
}

TEST(DocumentText, SaysWhenNoConverterIsInstalled) {
  DocumentLimits limits;
  limits.program = "no-such-converter";
  const auto text = pdf_text(make_pdf({"a"}), limits);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().code, ErrorCode::kInvalidRequest);
  EXPECT_NE(text.error().message.find("poppler-utils"), std::string::npos);
}

TEST(DocumentText, FillsDocumentsInMessagesAndInToolResults) {
  Conversation conversation = conversation_with({"t", "", "", make_pdf({"one"})});
  ToolResultBlock result;
  result.content.push_back(DocumentBlock{"", "", "", make_pdf({"two"})});
  result.content.push_back(DocumentBlock{"", "", "kept", ""});
  conversation.messages.push_back({Role::kUser, {result}});
  ASSERT_TRUE(has_unread_documents(conversation));
  ASSERT_TRUE(read_documents(conversation, {}).ok());
  EXPECT_FALSE(has_unread_documents(conversation));
  EXPECT_EQ(std::get<DocumentBlock>(conversation.messages[0].content[1]).text, "one");
  const auto& parts = std::get<ToolResultBlock>(conversation.messages[1].content[0]).content;
  EXPECT_EQ(std::get<DocumentBlock>(parts[0]).text, "two");
  EXPECT_EQ(std::get<DocumentBlock>(parts[1]).text, "kept");
}

TEST(DocumentText, NamesTheDocumentThatCannotBeRead) {
  Conversation conversation = conversation_with({"", "", "", "broken"});
  const auto read = read_documents(conversation, {});
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().field, "messages[0].content[1]");
}

}  // namespace
}  // namespace zerohop
