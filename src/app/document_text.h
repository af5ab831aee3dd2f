// Documents of a conversation → text. PDF files go through `pdftotext` (poppler) in a child process
// with limits on time, memory, pages and text: a hostile file costs its own request and nothing
// else.
//
// Blocks the calling thread for as long as a conversion takes: a thread made for waiting, never the
// I/O thread, never a worker.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "core/error.h"
#include "core/request.h"

namespace zerohop {

struct DocumentLimits {
  std::size_t pdf_bytes_max = std::size_t{32} << 20;  ///< of one file
  std::size_t pages_max = 600;
  std::size_t text_bytes_max = std::size_t{8} << 20;  ///< of one document
  std::chrono::milliseconds time_max{20'000};         ///< of one document
  std::string program = "pdftotext";
};

/// Whether some document of `conversation` still has to become text.
bool has_unread_documents(const Conversation& conversation);

/// Gives every document its text. Errors: kInvalidRequest with the path of the document: too large,
/// too many pages, takes too long, encrypted, broken, holds no text, or no converter is installed.
Result<void> read_documents(Conversation& conversation, const DocumentLimits& limits);

/// The text of one PDF file, pages parted by a blank line. Errors: kInvalidRequest, without a path.
Result<std::string> pdf_text(const std::string& pdf, const DocumentLimits& limits);

}  // namespace zerohop
