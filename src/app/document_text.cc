#include "app/document_text.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "app/child_process.h"
#include "base/utf8.h"

namespace zerohop {
namespace {

constexpr char kPageEnd = '\f';  // pdftotext writes one behind every page
// Decoding a hostile stream may ask for any amount.
constexpr std::uint64_t kMemoryBytesMax = std::uint64_t{2} << 30;

// What pdftotext returns.
constexpr int kCannotOpen = 1;
constexpr int kNotPermitted = 3;

Error refuse(std::string message) { return invalid_request("", std::move(message)); }

std::string count_text(std::size_t count, const char* unit) {
  return std::to_string(count) + " " + unit;
}

// The reason why the converter gave no text, if it did not.
Result<void> check_exit(const ChildExit& exit, const DocumentLimits& limits) {
  if (exit.timed_out) {
    return refuse("the PDF takes longer to read than " +
                  count_text(static_cast<std::size_t>(limits.time_max.count()), "ms"));
  }
  if (exit.overflowed) {
    return refuse("the PDF holds more text than " + count_text(limits.text_bytes_max, "bytes"));
  }
  switch (exit.code) {
    case 0: return {};
    case kCannotOpen: return refuse("the PDF cannot be opened: it is broken or encrypted");
    case kNotPermitted: return refuse("the PDF does not permit to copy its text");
    default: return refuse("the PDF cannot be read");
  }
}

// One page after another, without the white space around them, parted by blank lines.
std::string join_pages(std::string_view output) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  std::string text;
  while (!output.empty()) {
    const std::size_t end = std::min(output.find(kPageEnd), output.size());
    std::string_view page = output.substr(0, end);
    output.remove_prefix(std::min(end + 1, output.size()));
    const std::size_t first = page.find_first_not_of(kSpace);
    if (first == page.npos) continue;
    page = page.substr(first, page.find_last_not_of(kSpace) - first + 1);
    if (!text.empty()) text.append("\n\n");
    text.append(page);
  }
  return text;
}

template <class Visit>
Result<void> visit_documents(Conversation& conversation, Visit visit) {
  for (std::size_t m = 0; m < conversation.messages.size(); ++m) {
    std::vector<ContentBlock>& blocks = conversation.messages[m].content;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const std::string path =
          "messages[" + std::to_string(m) + "].content[" + std::to_string(b) + "]";
      if (auto* document = std::get_if<DocumentBlock>(&blocks[b])) {
        ZH_RETURN_IF_ERROR(visit(*document, path));
      }
      auto* result = std::get_if<ToolResultBlock>(&blocks[b]);
      if (result == nullptr) continue;
      for (std::size_t p = 0; p < result->content.size(); ++p) {
        auto* document = std::get_if<DocumentBlock>(&result->content[p]);
        if (document == nullptr) continue;
        ZH_RETURN_IF_ERROR(visit(*document, path + ".content[" + std::to_string(p) + "]"));
      }
    }
  }
  return {};
}

}  // namespace

bool has_unread_documents(const Conversation& conversation) {
  const auto unread = [](const auto& part) {
    const auto* document = std::get_if<DocumentBlock>(&part);
    return document != nullptr && !document->pdf.empty();
  };
  return std::ranges::any_of(conversation.messages, [&](const Message& message) {
    return std::ranges::any_of(message.content, [&](const ContentBlock& block) {
      const auto* result = std::get_if<ToolResultBlock>(&block);
      return unread(block) || (result != nullptr && std::ranges::any_of(result->content, unread));
    });
  });
}

Result<void> read_documents(Conversation& conversation, const DocumentLimits& limits) {
  return visit_documents(conversation,
                         [&](DocumentBlock& document, const std::string& path) -> Result<void> {
                           if (document.pdf.empty()) return {};
                           Result<std::string> text = pdf_text(document.pdf, limits);
                           if (!text.ok()) {
                             Error error = std::move(text).error();
                             error.field = path;
                             return error;
                           }
                           document.text = std::move(text).value();
                           document.pdf.clear();
                           return {};
                         });
}

Result<std::string> pdf_text(const std::string& pdf, const DocumentLimits& limits) {
  if (pdf.size() > limits.pdf_bytes_max) {
    return refuse("the PDF is larger than " + count_text(limits.pdf_bytes_max, "bytes"));
  }
  ChildCommand command;
  // One page more than allowed tells whether there are too many.
  command.arguments = {
      limits.program, "-q", "-enc", "UTF-8", "-l", std::to_string(limits.pages_max + 1), "-", "-"};
  command.input = pdf;
  command.errors = ChildErrors::kDropped;
  command.output_bytes_max = limits.text_bytes_max;
  command.overflow = ChildOverflow::kKill;
  command.time_limit = limits.time_max;
  command.tick = std::chrono::milliseconds(20);
  command.memory_bytes_max = kMemoryBytesMax;
  Result<ChildExit> exit = run_child(command);
  if (!exit.ok() && exit.error().code == ErrorCode::kNotFound) {
    return refuse(
        "this server cannot read PDF documents: pdftotext (poppler-utils) is not "
        "installed beside it");
  }
  if (!exit.ok()) return std::move(exit).error();
  ZH_RETURN_IF_ERROR(check_exit(*exit, limits));
  const auto pages = static_cast<std::size_t>(std::ranges::count(exit->output, kPageEnd));
  if (pages > limits.pages_max) {
    return refuse("the PDF has more pages than " + count_text(limits.pages_max, "pages"));
  }
  std::string text = utf8_replace_invalid(join_pages(exit->output));
  if (text.empty()) return refuse("the PDF holds no text; scanned pages are not read");
  return text;
}

}  // namespace zerohop
