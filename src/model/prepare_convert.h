// Another ggml type for the weights of a model file: what has to be known of a file before, and the
// conversion itself. Everything but the weights stays as it is: tokenizer, chat template and all
// other metadata, checked key by key in the file that was written.
//
// Files, no loaded models. Blocks the calling thread; any thread.
// Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"

namespace zerohop {

/// What the weights of a file are stored in.
enum class WeightType : std::uint8_t {
  kOriginal,  ///< as the file was given
  kQ8_0,      ///< 8 bits and a scale for each 32: 8.5 bits a weight
  kQ4_0,      ///< 4 bits and a scale for each 32: 4.5 bits a weight
};

/// "original", "Q8_0", "Q4_0".
std::string_view weight_type_name(WeightType type);
/// Nothing for a name that is none of them.
std::optional<WeightType> weight_type_named(std::string_view name);

struct WeightFile {
  std::string architecture;
  std::string main_type;          ///< in which most bytes of the weights are, such as "Q4_1"
  std::uint64_t bytes = 0;        ///< of the file
  std::uint64_t fingerprint = 0;  ///< file_fingerprint() of it
  std::uint32_t experts = 0;      ///< of a mixture of experts; 0: it is none
  bool in_parts = false;          ///< the first of several files
  std::uint64_t bytes_q8_0 = 0;   ///< about what the file would take in that type
  std::uint64_t bytes_q4_0 = 0;

  std::uint64_t bytes_as(WeightType type) const;
};

/// Reads the head of a GGUF file; milliseconds. Errors: kModelUnavailable.
Result<WeightFile> read_weight_file(const std::string& path);

struct Conversion {
  std::string source;
  std::string target;  ///< replaced if it is there
  WeightType type = WeightType::kQ8_0;
  std::uint32_t threads = 1;
  std::function<void(double)> progress;  ///< the share done, 0 to 1; may be empty
};

/// Writes `target` and hands its bytes to the disk (fsync). Matrices get the wanted type also where
/// they are stored in fewer bits now; norms and biases stay. Default model: 0.7 s on two cores.
/// Errors: kInternal, one line with the reason (a full disk, say); `target` is then not there.
Result<void> convert_weights(const Conversion& conversion);

/// Whether `target` is whole and has everything of `source` but the types of its weights. Part of
/// convert_weights(). Errors: kInternal, which names what differs.
Result<void> check_conversion(const std::string& source, const std::string& target);

/// checksum() of a whole file: 4 GB/s when it is cached. Nothing when it cannot be read.
std::optional<std::uint64_t> whole_file_checksum(const std::string& path);

}  // namespace zerohop
