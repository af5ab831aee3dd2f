#include "api/openai_embeddings.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "api/base64.h"
#include "api/json_place.h"
#include "api/json_writer.h"
#include "api/openai_fields.h"
#include "api/openai_wire.h"
#include "api/shared_fields.h"

namespace zerohop {
namespace {

Result<EmbeddingEncoding> parse_encoding(const JsonPlace& body) {
  const auto place = body.find("encoding_format");
  if (!place) return EmbeddingEncoding::kFloat;
  ZH_ASSIGN_OR_RETURN(const std::string_view encoding, place->string());
  if (encoding == "float") return EmbeddingEncoding::kFloat;
  if (encoding == "base64") return EmbeddingEncoding::kBase64;
  return place->expected(R"("float" or "base64")");
}

Result<std::optional<std::uint32_t>> parse_dimensions(const JsonPlace& body) {
  using Dimensions = std::optional<std::uint32_t>;
  const auto place = body.find("dimensions");
  if (!place) return Dimensions();
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  ZH_ASSIGN_OR_RETURN(const std::int64_t dimensions, place->integer({1, kMost}));
  return Dimensions(static_cast<std::uint32_t>(dimensions));
}

Result<void> refuse_empty(const JsonPlace& input, const std::vector<OpenAiPrompt>& prompts) {
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const auto* text = std::get_if<std::string>(&prompts[i]);
    if (text == nullptr || !text->empty()) continue;
    if (!input.is_array()) return input.error("must not be empty");
    return input.element(i).error("must not be empty");
  }
  return {};
}

void append_floats(const std::vector<float>& vector, std::string& out) {
  out.push_back('[');
  for (std::size_t i = 0; i < vector.size(); ++i) {
    if (i > 0) out.push_back(',');
    append_openai_number(vector[i], out);
  }
  out.push_back(']');
}

void append_float_bytes(const std::vector<float>& vector, std::string& out) {
  std::string bytes;
  bytes.reserve(vector.size() * sizeof(float));
  for (const float number : vector) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    for (int shift = 0; shift < 32; shift += 8) {
      bytes.push_back(static_cast<char>(bits >> shift & 0xff));
    }
  }
  out.push_back('"');
  append_base64(bytes, out);
  out.push_back('"');
}

}  // namespace

Result<OpenAiEmbeddingsRequest> parse_embeddings_request(std::string_view body,
                                                         const ParseOptions& options) {
  ZH_ASSIGN_OR_RETURN(const JsonDocument document, parse_json(body));
  const JsonPlace root(document.root());
  ZH_RETURN_IF_ERROR(root.expect_object());
  OpenAiEmbeddingsRequest request;
  ZH_ASSIGN_OR_RETURN(request.model, parse_model_name(root, options));
  ZH_ASSIGN_OR_RETURN(const JsonPlace input, root.require("input"));
  ZH_ASSIGN_OR_RETURN(request.inputs, parse_openai_prompts(input, kEmbeddingInputsMax));
  ZH_RETURN_IF_ERROR(refuse_empty(input, request.inputs));
  ZH_ASSIGN_OR_RETURN(request.encoding, parse_encoding(root));
  ZH_ASSIGN_OR_RETURN(request.dimensions, parse_dimensions(root));
  return request;
}

Result<std::string> openai_embeddings_body(const OpenAiEmbeddings& embeddings) {
  std::string body = R"({"object":"list","data":[)";
  for (std::size_t i = 0; i < embeddings.vectors.size(); ++i) {
    const std::vector<float>& vector = embeddings.vectors[i];
    if (!std::all_of(vector.begin(), vector.end(), [](float x) { return std::isfinite(x); })) {
      return Error{
          ErrorCode::kModelFailure, "the model gave an embedding that is no number", "", {}};
    }
    if (i > 0) body.push_back(',');
    body.append(R"({"object":"embedding","index":)");
    append_json_integer(static_cast<std::int64_t>(i), body);
    body.append(R"(,"embedding":)");
    if (embeddings.encoding == EmbeddingEncoding::kFloat) {
      append_floats(vector, body);
    } else {
      append_float_bytes(vector, body);
    }
    body.push_back('}');
  }
  body.append(R"(],"model":)");
  append_json_string(embeddings.model, body);
  const auto tokens = static_cast<std::int64_t>(embeddings.prompt_tokens);
  body.append(R"(,"usage":{"prompt_tokens":)");
  append_json_integer(tokens, body);
  body.append(R"(,"total_tokens":)");
  append_json_integer(tokens, body);
  body.append("}}");
  return body;
}

}  // namespace zerohop
