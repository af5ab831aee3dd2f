// Content that is no plain text: documents, images, search results. Internal to api/; the rules are
// those of anthropic_request.h. Pure functions; any thread.
#pragma once

#include <optional>
#include <string>

#include "api/json_place.h"
#include "api/parse_options.h"
#include "core/content.h"
#include "core/error.h"

namespace zerohop {

/// A `document` block. Errors: sources that live elsewhere (url, file), which nobody fetches here;
/// base64 that is none.
Result<DocumentBlock> parse_document(const JsonPlace& block, const ParseOptions& options);

/// True when the source of this `document` block lives elsewhere: inside a tool result a note takes
/// its place, because a refusal would end an agent's conversation for good.
bool is_remote_document(const JsonPlace& block);

/// What stands for an `image` or a remote `document` where neither can be shown, such as
/// `[image: image/png, 12 kB; this model cannot see images]`.
Result<std::string> image_note(const JsonPlace& block);
std::string remote_document_note(const JsonPlace& block);

/// A `search_result` block as text: title, source, content.
Result<std::string> search_result_text(const JsonPlace& block);

/// The text of a string or of an array of text blocks, joined by line breaks; images in between are
/// noted.
Result<std::string> joined_text(const JsonPlace& content);

}  // namespace zerohop
