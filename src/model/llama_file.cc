#include "model/llama_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/whole_number.h"
#include "llama.h"
#include "model/gguf_file.h"
#include "model/saved_state.h"

namespace zerohop {
namespace {

constexpr std::size_t kHeaderBytes = 24;  // magic, version, tensor count, key count
constexpr std::uint64_t kBytesOfF16 = 2;

Error unavailable(const std::string& path, const std::string& what) {
  return Error{ErrorCode::kModelUnavailable, "model file \"" + path + "\" " + what, {}, {}};
}

std::optional<std::uint64_t> single_value(const llama_model* model, const std::string& key) {
  char buffer[32];
  const int32_t size = llama_model_meta_val_str(model, key.c_str(), buffer, sizeof buffer);
  if (size <= 0 || static_cast<std::size_t>(size) >= sizeof buffer) return std::nullopt;
  return whole_number<std::uint64_t>({buffer, static_cast<std::size_t>(size)});
}

// Arrays are not among the values that a loaded model hands out, so they come from the file.
std::vector<std::uint64_t> layer_values(const std::string& path, const std::string& key) {
  const GgufFile file = open_gguf(path);
  std::vector<std::uint64_t> values;
  if (file == nullptr) return values;
  const int64_t id = gguf_find_key(file.get(), key.c_str());
  if (id < 0 || gguf_get_kv_type(file.get(), id) != GGUF_TYPE_ARRAY) return values;
  const gguf_type type = gguf_get_arr_type(file.get(), id);
  if (type != GGUF_TYPE_UINT32 && type != GGUF_TYPE_INT32) return values;
  const auto* bytes = static_cast<const char*>(gguf_get_arr_data(file.get(), id));
  for (std::size_t i = 0; i < gguf_get_arr_n(file.get(), id); ++i) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes + i * sizeof value, sizeof value);
    values.push_back(value);
  }
  return values;
}

// Architectures that compute every text anew: the library makes their contexts without cells. Their
// files need not say that they look at the whole text.
constexpr std::array<std::string_view, 9> kWithoutCells{
    "bert",     "jina-bert-v2", "jina-bert-v3", "nomic-bert",     "nomic-bert-moe",
    "neo-bert", "eurobert",     "modern-bert",  "gemma-embedding"};

bool keeps_cells(std::string_view architecture) {
  return std::ranges::find(kWithoutCells, architecture) == kWithoutCells.end();
}

AttentionType attention_of(const llama_model* model, const std::string& architecture) {
  if (!keeps_cells(architecture)) return AttentionType::kWholeText;
  char value[8];
  const std::string key = architecture + ".attention.causal";
  const int32_t size = llama_model_meta_val_str(model, key.c_str(), value, sizeof value);
  return size > 0 && std::string_view(value) == "false" ? AttentionType::kWholeText
                                                        : AttentionType::kCausal;
}

// Reads the keys of one architecture, "llama.block_count" and so on.
struct Metadata {
  const llama_model* model;
  const std::string& path;
  std::string architecture;

  std::uint64_t value(const char* name) const {
    return single_value(model, architecture + name).value_or(0);
  }

  // One value for each of `layers`, whether the file has one for all or one for each.
  std::vector<std::uint64_t> by_layer(const char* name, std::uint64_t layers) const {
    const std::string key = architecture + name;
    if (const auto same = single_value(model, key)) {
      return std::vector<std::uint64_t>(layers, *same);
    }
    std::vector<std::uint64_t> values = layer_values(path, key);
    if (values.size() > layers) values.resize(layers);
    return values;
  }
};

// More layers than any model has; keeps a damaged file from asking for the memory of 2^64 of them.
constexpr std::uint64_t kLayersMax = 4096;

std::uint64_t kv_bytes_per_cell(const Metadata& metadata, std::uint64_t embedding) {
  const std::uint64_t layers = std::min(metadata.value(".block_count"), kLayersMax);
  const std::vector<std::uint64_t> queries = metadata.by_layer(".attention.head_count", layers);
  std::vector<std::uint64_t> heads = metadata.by_layer(".attention.head_count_kv", layers);
  if (heads.empty()) heads = queries;  // as many key heads as query heads, unless it is said
  const std::uint64_t most =
      queries.empty() ? 0 : *std::max_element(queries.begin(), queries.end());
  const std::uint64_t usual = most == 0 ? 0 : embedding / most;
  const auto width = [&metadata, usual](const char* name) {
    const std::uint64_t said = metadata.value(name);
    return said != 0 ? said : usual;
  };
  const std::uint64_t widths = width(".attention.key_length") + width(".attention.value_length");
  return std::accumulate(heads.begin(), heads.end(), std::uint64_t{0}) * widths * kBytesOfF16;
}

// The numbers are those of llama_pooling_type.
PoolingType pooling_of(std::optional<std::uint64_t> value) {
  if (value == std::uint64_t{LLAMA_POOLING_TYPE_MEAN}) return PoolingType::kMean;
  if (value == std::uint64_t{LLAMA_POOLING_TYPE_CLS}) return PoolingType::kFirst;
  if (value == std::uint64_t{LLAMA_POOLING_TYPE_LAST}) return PoolingType::kLast;
  if (value == std::uint64_t{LLAMA_POOLING_TYPE_RANK}) return PoolingType::kRank;
  return PoolingType::kUnspecified;
}

// Of one file, behind those that `sum` was made of; nothing when it cannot be read.
std::optional<std::uint64_t> fingerprint_of(const std::string& path, std::uint64_t sum) {
  constexpr std::uint64_t kHead = 64 * 1024;
  constexpr std::uint64_t kSample = 4 * 1024;
  constexpr std::uint64_t kSamples = 256;
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  const FileHandle file(std::fopen(path.c_str(), "rb"));
  if (error || file == nullptr) return std::nullopt;
  std::vector<std::byte> buffer(kHead);
  buffer.resize(std::fread(buffer.data(), 1, kHead, file.get()));
  sum = checksum(buffer, sum ^ size);
  buffer.resize(kSample);
  for (std::uint64_t i = 0; i < kSamples && size > kHead + kSample; ++i) {
    const std::uint64_t at = kHead + (size - kHead - kSample) / kSamples * (i + 1);
    if (fseeko(file.get(), static_cast<off_t>(at), SEEK_SET) != 0) return std::nullopt;
    if (std::fread(buffer.data(), 1, kSample, file.get()) != kSample) return std::nullopt;
    sum = checksum(buffer, sum);
  }
  return sum;
}

}  // namespace

Result<std::uint64_t> check_gguf_file(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    return unavailable(path, "does not exist");
  }
  if (status.type() == std::filesystem::file_type::directory) {
    return unavailable(path, "is a folder, not a GGUF file");
  }
  if (error || status.type() != std::filesystem::file_type::regular) {
    return unavailable(path,
                       error ? "cannot be read: " + error.message() : "is not a regular file");
  }
  const FileHandle file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    return unavailable(path, "cannot be read: " + std::generic_category().message(errno));
  }
  std::array<char, kHeaderBytes> header{};
  const std::size_t count = std::fread(header.data(), 1, header.size(), file.get());
  const std::string_view start(header.data(), count);
  if (start.starts_with("version https://git-lfs")) {
    return unavailable(path, "is a Git LFS pointer, not the model itself");
  }
  if (!start.starts_with("GGUF")) return unavailable(path, "is not a GGUF file");
  if (count < kHeaderBytes) return unavailable(path, "is cut off: it ends inside its header");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return unavailable(path, "cannot be read: " + error.message());
  return static_cast<std::uint64_t>(size);
}

std::vector<std::string> model_files(const std::string& path) {
  // "-00001-of-00003.gguf"; the library counts from one and pads to five digits.
  constexpr std::string_view kForm = "-ddddd-of-ddddd.gguf";
  const std::string_view tail =
      std::string_view(path).substr(path.size() - std::min(path.size(), kForm.size()));
  const bool fits = std::ranges::equal(tail, kForm, [](char c, char form) {
    return form == 'd' ? c >= '0' && c <= '9' : c == form;
  });
  if (!fits) return {path};
  std::uint32_t count = 0;
  std::from_chars(tail.data() + 10, tail.data() + 15, count);
  if (count == 0) return {path};
  const std::string name = path.substr(0, path.size() - kForm.size());
  std::vector<std::string> files;
  for (std::uint32_t i = 1; i <= count; ++i) {
    std::string number = std::to_string(i);
    number.insert(0, 5 - number.size(), '0');
    files.push_back(name + "-" + number + std::string(tail.substr(6)));
  }
  return files;
}

std::uint64_t file_fingerprint(const std::string& path) {
  std::uint64_t sum = 0;
  for (const std::string& file : model_files(path)) {
    const std::optional<std::uint64_t> next = fingerprint_of(file, sum);
    if (!next) return 0;
    sum = *next;
  }
  return sum;
}

bool has_running_state(const llama_model* model) {
  return llama_model_is_recurrent(model) || llama_model_is_hybrid(model);
}

LlamaDimensions llama_dimensions(const llama_model* model, const std::string& path) {
  char buffer[64];
  const int32_t size =
      llama_model_meta_val_str(model, "general.architecture", buffer, sizeof buffer);
  if (size <= 0 || static_cast<std::size_t>(size) >= sizeof buffer) return {};
  const Metadata metadata{model, path, std::string(buffer, static_cast<std::size_t>(size))};
  LlamaDimensions dimensions;
  dimensions.embedding = static_cast<std::uint32_t>(metadata.value(".embedding_length"));
  dimensions.context_trained = static_cast<std::uint32_t>(metadata.value(".context_length"));
  dimensions.pooling = pooling_of(single_value(model, metadata.architecture + ".pooling_type"));
  dimensions.attention = attention_of(model, metadata.architecture);
  if (keeps_cells(metadata.architecture)) {
    dimensions.kv_bytes_per_cell = kv_bytes_per_cell(metadata, dimensions.embedding);
  }
  // Some models end in a layer of another width.
  const auto width_out = static_cast<std::uint32_t>(metadata.value(".embedding_length_out"));
  if (width_out != 0) dimensions.embedding = width_out;
  return dimensions;
}

}  // namespace zerohop
