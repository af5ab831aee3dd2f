// What can be known about a GGUF file without loading it: whether it is one, and what one cell of
// its KV cache will weigh. Pure functions of a file; any thread.
// Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "model/model.h"

struct llama_model;

namespace zerohop {

/// Checks that `path` is a readable file that begins like a GGUF and returns its size in bytes.
/// Errors: kModelUnavailable, one line that says what is there instead.
Result<std::uint64_t> check_gguf_file(const std::string& path);

/// The files of a model of which `path` is one: `path` alone, or all of `NAME-00001-of-00003.gguf`
/// in their order.
std::vector<std::string> model_files(const std::string& path);

/// 64 bits that tell the weights of one model from those of another: of each of its files the size,
/// the first 64 KiB and 256 samples of 4 KiB spread over the rest; 0.6 ms a file, warm. 0 when one
/// cannot be read.
std::uint64_t file_fingerprint(const std::string& path);

/// Recurrent and hybrid models: what they keep of a sequence cannot be cut.
bool has_running_state(const llama_model* model);

/// What the file's metadata tell, also for a model that was loaded for its tokenizer alone
/// (asking the library for them would abort the process then). 0 where the file does not say.
struct LlamaDimensions {
  std::uint32_t embedding = 0;  ///< width of a hidden state
  PoolingType pooling = PoolingType::kUnspecified;
  AttentionType attention = AttentionType::kCausal;
  std::uint32_t context_trained = 0;  ///< tokens
  /// Bytes of keys and values that one token occupies over all layers, in F16. An upper bound:
  /// models that share keys between layers or keep them compressed (multi-head latent attention)
  /// need less. 0 for a purely recurrent model and for one that keeps no cells.
  std::uint64_t kv_bytes_per_cell = 0;
};

/// `path` is read again only where a value differs by layer.
LlamaDimensions llama_dimensions(const llama_model* model, const std::string& path);

}  // namespace zerohop
