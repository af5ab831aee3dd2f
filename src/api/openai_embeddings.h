// OpenAI dialect: POST /v1/embeddings, both ways. Pure functions; any thread.
// Source: Embeddings API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/openai_prompts.h"
#include "api/parse_options.h"
#include "core/error.h"

namespace zerohop {

enum class EmbeddingEncoding : std::uint8_t {
  kFloat,   ///< arrays of numbers
  kBase64,  ///< little-endian 32-bit floats, in base64
};

struct OpenAiEmbeddingsRequest {
  std::string model;                 ///< as the client named it; may be empty
  std::vector<OpenAiPrompt> inputs;  ///< not empty, nor is any of them
  EmbeddingEncoding encoding = EmbeddingEncoding::kFloat;
  /// Wanted length of each vector; the model's own when nothing is given. What the model can not
  /// give is for the caller to refuse.
  std::optional<std::uint32_t> dimensions;
};

/// The hosted API's limit.
inline constexpr std::size_t kEmbeddingInputsMax = 2'048;

/// Errors are kInvalidRequest with the path.
Result<OpenAiEmbeddingsRequest> parse_embeddings_request(std::string_view body,
                                                         const ParseOptions& options);

struct OpenAiEmbeddings {
  std::string model;                        ///< the name to echo; valid UTF-8
  std::vector<std::vector<float>> vectors;  ///< in the order of the inputs
  EmbeddingEncoding encoding = EmbeddingEncoding::kFloat;
  std::uint64_t prompt_tokens = 0;
};

/// The reply. kModelFailure when a number is not finite: it has no form in JSON and no use.
Result<std::string> openai_embeddings_body(const OpenAiEmbeddings& embeddings);

}  // namespace zerohop
