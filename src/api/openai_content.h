// Content of a message or of a tool's result in the OpenAI dialect: a string, or an array of parts
// as the Chat Completions API (`text`, `refusal`, `file`, `image_url` …) or the Responses API
// (`input_text`, `output_text`, `input_file` …) names them. Both names are understood everywhere.
//
// Files are turned into documents when their data is in the request and is PDF or UTF-8 text. What
// a text model can not read is refused by name, except that an image inside a tool's result becomes
// a note: the client can not leave it out, and the agent would stop.
// Internal to api/. Pure functions; any thread.
#pragma once

#include <variant>
#include <vector>

#include "api/json_place.h"
#include "core/content.h"
#include "core/error.h"

namespace zerohop {

enum class OpenAiContentOf : std::uint8_t { kMessage, kToolResult };

using OpenAiPart = std::variant<TextBlock, DocumentBlock>;

/// Parts without text are left out.
Result<std::vector<OpenAiPart>> parse_openai_content(const JsonPlace& content, OpenAiContentOf of);

/// Appends `parts` to a message.
void add_openai_parts(std::vector<OpenAiPart> parts, std::vector<ContentBlock>& blocks);

/// The content of a tool's result.
Result<std::vector<ToolResultPart>> parse_openai_tool_result(const JsonPlace& content);

/// Takes white space from the end of a conversation that ends with an assistant's text, which
/// generation then continues: most tokenizers would split the next word in a way that they never
/// saw in training.
void trim_openai_prefill(std::vector<ContentBlock>& last);

}  // namespace zerohop
