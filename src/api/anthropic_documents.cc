#include "api/anthropic_documents.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "api/base64.h"
#include "base/utf8.h"
#include "core/limits.h"

namespace zerohop {
namespace {

// Text of a stranger inside a note stays on one short line.
std::string shortened(std::string_view text) {
  constexpr std::size_t kShownBytes = 200;
  std::string shown(text.substr(0, kShownBytes));
  shown.resize(shown.size() - utf8_incomplete_suffix(shown));
  std::ranges::replace(shown, '\n', ' ');
  if (shown.size() < text.size()) shown.append("…");
  return shown;
}

// As many bytes as these digits of base64 hold, in a unit that people read.
std::string size_text(std::string_view base64) {
  const std::size_t padding = base64.ends_with("==") ? 2 : base64.ends_with('=') ? 1 : 0;
  const std::size_t groups = base64.size() / 4;
  const std::size_t bytes = groups == 0 ? 0 : groups * 3 - padding;
  if (bytes < 1'000) return std::to_string(bytes) + " bytes";
  if (bytes < 1'000'000) return std::to_string(bytes / 1'000) + " kB";
  return std::to_string(bytes / 1'000'000) + " MB";
}

Result<std::string> optional_text(const JsonPlace& block, std::string_view key) {
  const auto place = block.find(key);
  if (!place) return std::string();
  ZH_ASSIGN_OR_RETURN(const std::string_view text, place->string());
  return std::string(text);
}

Result<std::string> decode(const JsonPlace& source) {
  ZH_ASSIGN_OR_RETURN(const JsonPlace data, source.require("data"));
  ZH_ASSIGN_OR_RETURN(const std::string_view digits, data.string());
  if (digits.empty()) return data.error("must not be empty");
  auto bytes = base64_decode(digits);
  if (!bytes) return data.error("must be base64 with padding and without line breaks");
  return *std::move(bytes);
}

Result<void> read_base64(const JsonPlace& source, DocumentBlock& document) {
  ZH_ASSIGN_OR_RETURN(const JsonPlace media_place, source.require("media_type"));
  ZH_ASSIGN_OR_RETURN(const std::string_view media, media_place.string());
  if (media == "application/pdf") {
    ZH_ASSIGN_OR_RETURN(document.pdf, decode(source));
    return {};
  }
  if (!media.starts_with("text/")) return media_place.expected("\"application/pdf\"");
  ZH_ASSIGN_OR_RETURN(document.text, decode(source));
  if (utf8_is_valid(document.text)) return {};
  return source.error("must hold valid UTF-8");
}

Result<void> read_plain(const JsonPlace& source, const ParseOptions& options,
                        DocumentBlock& document) {
  if (options.strict()) {
    ZH_ASSIGN_OR_RETURN(const JsonPlace media, source.require("media_type"));
    ZH_ASSIGN_OR_RETURN(const std::string_view type, media.string());
    if (type != "text/plain") return media.expected("\"text/plain\"");
  }
  ZH_ASSIGN_OR_RETURN(const JsonPlace data, source.require("data"));
  ZH_ASSIGN_OR_RETURN(const std::string_view text, data.string());
  document.text = text;
  return {};
}

Result<void> read_source(const JsonPlace& source, const ParseOptions& options,
                         DocumentBlock& document) {
  ZH_RETURN_IF_ERROR(source.expect_object());
  ZH_ASSIGN_OR_RETURN(const JsonPlace type_place, source.require("type"));
  ZH_ASSIGN_OR_RETURN(const std::string_view type, type_place.string());
  if (type == "base64") return read_base64(source, document);
  if (type == "text") return read_plain(source, options, document);
  if (type == "content") {
    ZH_ASSIGN_OR_RETURN(const JsonPlace content, source.require("content"));
    ZH_ASSIGN_OR_RETURN(document.text, joined_text(content));
    return {};
  }
  if (type == "url" || type == "file") {
    return type_place.error("documents of source type " + std::string(type) +
                            " are not supported by this server; send base64, text or content");
  }
  return type_place.expected("\"base64\", \"text\", \"content\", \"url\" or \"file\"");
}

std::string source_note(const JsonPlace& source) {
  const std::string_view type = source.text_or_empty("type");
  if (type == "url") return shortened(source.text_or_empty("url"));
  if (type == "file") return "file " + shortened(source.text_or_empty("file_id"));
  std::string note = shortened(source.text_or_empty("media_type"));
  if (!note.empty()) note.append(", ");
  return note + size_text(source.text_or_empty("data"));
}

// One block of a text: its text, or a note about an image.
Result<std::string> part_text(const JsonPlace& block) {
  ZH_RETURN_IF_ERROR(block.expect_object());
  ZH_ASSIGN_OR_RETURN(const JsonPlace type_place, block.require("type"));
  ZH_ASSIGN_OR_RETURN(const std::string_view type, type_place.string());
  if (type == "image") return image_note(block);
  if (type != "text") return type_place.expected("\"text\" or \"image\"");
  ZH_ASSIGN_OR_RETURN(const JsonPlace text_place, block.require("text"));
  ZH_ASSIGN_OR_RETURN(const std::string_view text, text_place.string());
  return std::string(text);
}

}  // namespace

Result<std::string> joined_text(const JsonPlace& content) {
  if (content.is_string()) {
    ZH_ASSIGN_OR_RETURN(const std::string_view text, content.string());
    return std::string(text);
  }
  if (!content.is_array()) return content.expected("a string or an array of content blocks");
  ZH_ASSIGN_OR_RETURN(const std::size_t count, content.array_size(limits::kJsonValuesMax));
  std::string joined;
  for (std::size_t i = 0; i < count; ++i) {
    ZH_ASSIGN_OR_RETURN(const std::string text, part_text(content.element(i)));
    if (text.empty()) continue;
    if (!joined.empty()) joined.push_back('\n');
    joined.append(text);
  }
  return joined;
}

Result<DocumentBlock> parse_document(const JsonPlace& block, const ParseOptions& options) {
  DocumentBlock document;
  ZH_ASSIGN_OR_RETURN(document.title, optional_text(block, "title"));
  ZH_ASSIGN_OR_RETURN(document.context, optional_text(block, "context"));
  ZH_ASSIGN_OR_RETURN(const JsonPlace source, block.require("source"));
  ZH_RETURN_IF_ERROR(read_source(source, options, document));
  return document;
}

bool is_remote_document(const JsonPlace& block) {
  const auto source = block.find("source");
  if (!source) return false;
  const std::string_view type = source->text_or_empty("type");
  return type == "url" || type == "file";
}

Result<std::string> image_note(const JsonPlace& block) {
  ZH_ASSIGN_OR_RETURN(const JsonPlace source, block.require("source"));
  ZH_RETURN_IF_ERROR(source.expect_object());
  return "[image: " + source_note(source) + "; this model cannot see images]";
}

std::string remote_document_note(const JsonPlace& block) {
  const auto source = block.find("source");
  return "[document: " + (source ? source_note(*source) : std::string()) +
         "; not available on this server]";
}

Result<std::string> search_result_text(const JsonPlace& block) {
  ZH_ASSIGN_OR_RETURN(const std::string title, optional_text(block, "title"));
  ZH_ASSIGN_OR_RETURN(const std::string source, optional_text(block, "source"));
  ZH_ASSIGN_OR_RETURN(const JsonPlace content, block.require("content"));
  ZH_ASSIGN_OR_RETURN(const std::string text, joined_text(content));
  std::string result = "Search result: " + title;
  if (!source.empty()) result.append("\nSource: ").append(source);
  return result + "\n" + text;
}

}  // namespace zerohop
