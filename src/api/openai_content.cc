#include "api/openai_content.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/base64.h"
#include "api/openai_fields.h"
#include "base/utf8.h"
#include "core/limits.h"

namespace zerohop {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n\f\v";
constexpr std::string_view kImageNote = "[image: this model cannot see images]";

// Parts that hold text, and the member that holds it.
struct TextPart {
  std::string_view type;
  std::string_view member;
};
constexpr std::array<TextPart, 6> kTextParts{{{"text", "text"},
                                              {"input_text", "text"},
                                              {"output_text", "text"},
                                              {"summary_text", "text"},
                                              {"reasoning_text", "text"},
                                              {"refusal", "refusal"}}};

struct ForeignPart {
  std::string_view type;
  std::string_view what;  // completes "… not supported by this server"
};
constexpr std::array<ForeignPart, 8> kForeignParts{{{"image_url", "image input is"},
                                                    {"input_image", "image input is"},
                                                    {"image_file", "image input is"},
                                                    {"input_audio", "audio input is"},
                                                    {"audio_url", "audio input is"},
                                                    {"audio", "audio input is"},
                                                    {"video_url", "video input is"},
                                                    {"input_video", "video input is"}}};

bool is_image(std::string_view type) {
  return type == "image_url" || type == "input_image" || type == "image_file";
}

using Part = std::optional<OpenAiPart>;

Part text_part(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return TextBlock{std::string(text)};
}

// Behind `data:TYPE;base64,`; the whole text when it is no data URL, as older clients send it.
std::string_view base64_of(std::string_view data) {
  if (!data.starts_with("data:")) return data;
  const std::size_t comma = data.find(',');
  return comma == std::string_view::npos ? std::string_view() : data.substr(comma + 1);
}

// `file` is the object that holds `file_data`.
Result<Part> parse_file(const JsonPlace& file) {
  ZH_RETURN_IF_ERROR(file.expect_object());
  if (const auto id = file.find("file_id")) return openai_unsupported(*id, "stored files are");
  if (const auto url = file.find("file_url")) return openai_unsupported(*url, "files by URL are");
  DocumentBlock document;
  ZH_ASSIGN_OR_RETURN(auto title, parse_openai_text(file, "filename"));
  document.title = std::move(title).value_or(std::string());
  ZH_ASSIGN_OR_RETURN(const JsonPlace data, file.require("file_data"));
  ZH_ASSIGN_OR_RETURN(const std::string_view text, data.string());
  auto bytes = base64_decode(base64_of(text));
  if (!bytes || bytes->empty()) return data.error("must be a file in base64 or a base64 data URL");
  if (bytes->starts_with("%PDF-")) {
    document.pdf = *std::move(bytes);
  } else if (utf8_is_valid(*bytes)) {
    document.text = *std::move(bytes);
  } else {
    return data.error("must be a PDF or UTF-8 text; no other files can be read");
  }
  return Part(std::move(document));
}

Result<Part> parse_part(const JsonPlace& part, OpenAiContentOf of) {
  if (part.is_string()) {
    ZH_ASSIGN_OR_RETURN(const std::string_view text, part.string());
    return text_part(text);
  }
  ZH_RETURN_IF_ERROR(part.expect_object());
  ZH_ASSIGN_OR_RETURN(const JsonPlace type_place, part.require("type"));
  ZH_ASSIGN_OR_RETURN(const std::string_view type, type_place.string());
  for (const TextPart& known : kTextParts) {
    if (known.type != type) continue;
    ZH_ASSIGN_OR_RETURN(const JsonPlace place, part.require(known.member));
    ZH_ASSIGN_OR_RETURN(const std::string_view text, place.string());
    return text_part(text);
  }
  if (type == "input_file") return parse_file(part);
  if (type == "file") {
    ZH_ASSIGN_OR_RETURN(const JsonPlace file, part.require("file"));
    return parse_file(file);
  }
  if (is_image(type) && of == OpenAiContentOf::kToolResult) return text_part(kImageNote);
  for (const ForeignPart& foreign : kForeignParts) {
    if (foreign.type == type) return openai_unsupported(type_place, foreign.what);
  }
  return type_place.expected("a known type of content part");
}

}  // namespace

Result<std::vector<OpenAiPart>> parse_openai_content(const JsonPlace& content, OpenAiContentOf of) {
  std::vector<OpenAiPart> parts;
  if (content.is_string()) {
    ZH_ASSIGN_OR_RETURN(const std::string_view text, content.string());
    if (auto part = text_part(text)) parts.push_back(*std::move(part));
    return parts;
  }
  if (!content.is_array()) return content.expected("a string or an array of content parts");
  ZH_ASSIGN_OR_RETURN(const std::size_t count, content.array_size(limits::kJsonValuesMax));
  parts.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    ZH_ASSIGN_OR_RETURN(auto part, parse_part(content.element(i), of));
    if (part) parts.push_back(*std::move(part));
  }
  return parts;
}

void add_openai_parts(std::vector<OpenAiPart> parts, std::vector<ContentBlock>& blocks) {
  blocks.reserve(blocks.size() + parts.size());
  for (OpenAiPart& part : parts) {
    std::visit([&](auto& block) { blocks.emplace_back(std::move(block)); }, part);
  }
}

Result<std::vector<ToolResultPart>> parse_openai_tool_result(const JsonPlace& content) {
  ZH_ASSIGN_OR_RETURN(auto parts, parse_openai_content(content, OpenAiContentOf::kToolResult));
  std::vector<ToolResultPart> result;
  result.reserve(parts.size());
  for (OpenAiPart& part : parts) {
    std::visit([&](auto& block) { result.emplace_back(std::move(block)); }, part);
  }
  return result;
}

void trim_openai_prefill(std::vector<ContentBlock>& last) {
  while (!last.empty()) {
    auto* block = std::get_if<TextBlock>(&last.back());
    if (block == nullptr) return;
    const std::size_t kept = block->text.find_last_not_of(kWhiteSpace) + 1;  // npos + 1 is 0
    block->text.resize(kept);
    if (kept > 0) return;
    last.pop_back();
  }
}

}  // namespace zerohop
