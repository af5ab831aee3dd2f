#include "model/prepare_convert.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <system_error>
#include <vector>

#include "base/file_sync.h"
#include "llama.h"
#include "model/gguf_file.h"
#include "model/llama_backend.h"
#include "model/llama_file.h"
#include "model/saved_state.h"

namespace zerohop {
namespace {

Error failed(const std::string& path, const std::string& what) {
  return Error{ErrorCode::kInternal, "\"" + path + "\": " + what, "", {}};
}

// ---- Reading a head ----

std::uint64_t whole_number(const gguf_context* file, const std::string& key) {
  const int64_t id = gguf_find_key(file, key.c_str());
  if (id < 0) return 0;
  switch (gguf_get_kv_type(file, id)) {
    case GGUF_TYPE_UINT16: return gguf_get_val_u16(file, id);
    case GGUF_TYPE_UINT32: return gguf_get_val_u32(file, id);
    case GGUF_TYPE_UINT64: return gguf_get_val_u64(file, id);
    default: break;
  }
  return 0;
}

std::string text(const gguf_context* file, const char* key) {
  const int64_t id = gguf_find_key(file, key);
  if (id < 0 || gguf_get_kv_type(file, id) != GGUF_TYPE_STRING) return {};
  return gguf_get_val_str(file, id);
}

// Whether the library would convert it; near enough for a size.
bool is_matrix(const gguf_context* file, int64_t tensor) {
  const std::string_view name = gguf_get_tensor_name(file, tensor);
  return gguf_get_tensor_ne(file, tensor)[1] > 1 && name.ends_with("weight") &&
         !name.ends_with("_norm.weight");
}

std::uint64_t bytes_in(const gguf_context* file, int64_t tensor, ggml_type type) {
  const int64_t* shape = gguf_get_tensor_ne(file, tensor);
  // Rows that are no whole number of blocks become a type of more bits.
  const bool fits = shape[0] % ggml_blck_size(type) == 0;
  const std::size_t row = ggml_row_size(fits ? type : GGML_TYPE_F16, shape[0]);
  return row * static_cast<std::uint64_t>(shape[1] * shape[2] * shape[3]);
}

std::string upper_case(std::string_view name) {
  std::string out;
  for (const char c : name) out.push_back(c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c);
  return out;
}

void count_weights(const gguf_context* file, WeightFile& facts) {
  std::map<ggml_type, std::uint64_t> bytes_of;
  std::uint64_t weights = 0;
  for (int64_t i = 0; i < gguf_get_n_tensors(file); ++i) {
    const std::uint64_t now = gguf_get_tensor_size(file, i);
    weights += now;
    const bool matrix = is_matrix(file, i);
    if (matrix) bytes_of[gguf_get_tensor_type(file, i)] += now;
    facts.bytes_q8_0 += matrix ? bytes_in(file, i, GGML_TYPE_Q8_0) : now;
    facts.bytes_q4_0 += matrix ? bytes_in(file, i, GGML_TYPE_Q4_0) : now;
  }
  const std::uint64_t rest = facts.bytes - std::min(facts.bytes, weights);
  facts.bytes_q8_0 += rest;
  facts.bytes_q4_0 += rest;
  const auto most = std::ranges::max_element(
      bytes_of, [](const auto& left, const auto& right) { return left.second < right.second; });
  if (most != bytes_of.end()) facts.main_type = upper_case(ggml_type_name(most->first));
}

// ---- Checking what was written ----

// What a conversion changes on purpose: the type, and how the file was cut.
bool may_differ(std::string_view key) {
  return key == "general.file_type" || key == "general.quantization_version" ||
         key.starts_with("split.");
}

std::size_t element_bytes(gguf_type type) {
  switch (type) {
    case GGUF_TYPE_UINT8:
    case GGUF_TYPE_INT8:
    case GGUF_TYPE_BOOL: return 1;
    case GGUF_TYPE_UINT16:
    case GGUF_TYPE_INT16: return 2;
    case GGUF_TYPE_UINT64:
    case GGUF_TYPE_INT64:
    case GGUF_TYPE_FLOAT64: return 8;
    default: break;
  }
  return 4;
}

// Two values of one key, each in its file.
struct ValuePair {
  const gguf_context* left;
  const gguf_context* right;
  int64_t left_id;
  int64_t right_id;
};

bool same_array(const ValuePair& at) {
  const gguf_type type = gguf_get_arr_type(at.left, at.left_id);
  const std::size_t count = gguf_get_arr_n(at.left, at.left_id);
  if (gguf_get_arr_type(at.right, at.right_id) != type) return false;
  if (gguf_get_arr_n(at.right, at.right_id) != count) return false;
  if (type != GGUF_TYPE_STRING) {
    return std::memcmp(gguf_get_arr_data(at.left, at.left_id),
                       gguf_get_arr_data(at.right, at.right_id), count * element_bytes(type)) == 0;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (std::strcmp(gguf_get_arr_str(at.left, at.left_id, i),
                    gguf_get_arr_str(at.right, at.right_id, i)) != 0) {
      return false;
    }
  }
  return true;
}

bool same_value(const ValuePair& at) {
  const gguf_type type = gguf_get_kv_type(at.left, at.left_id);
  if (gguf_get_kv_type(at.right, at.right_id) != type) return false;
  if (type == GGUF_TYPE_ARRAY) return same_array(at);
  if (type == GGUF_TYPE_STRING) {
    return std::strcmp(gguf_get_val_str(at.left, at.left_id),
                       gguf_get_val_str(at.right, at.right_id)) == 0;
  }
  return std::memcmp(gguf_get_val_data(at.left, at.left_id),
                     gguf_get_val_data(at.right, at.right_id), element_bytes(type)) == 0;
}

// The first key of `left` that `right` has not, or has otherwise.
std::optional<std::string> changed_key(const gguf_context* left, const gguf_context* right) {
  for (int64_t i = 0; i < gguf_get_n_kv(left); ++i) {
    const char* key = gguf_get_key(left, i);
    if (may_differ(key)) continue;
    const int64_t other = gguf_find_key(right, key);
    if (other < 0 || !same_value({left, right, i, other})) return key;
  }
  return std::nullopt;
}

// The first tensor of `left` that `right` has not, or in another shape.
std::optional<std::string> changed_tensor(const gguf_context* left, const gguf_context* right) {
  for (int64_t i = 0; i < gguf_get_n_tensors(left); ++i) {
    const char* name = gguf_get_tensor_name(left, i);
    const int64_t other = gguf_find_tensor(right, name);
    if (other < 0) return name;
    const int64_t* shape = gguf_get_tensor_ne(left, i);
    if (!std::equal(shape, shape + GGML_MAX_DIMS, gguf_get_tensor_ne(right, other))) return name;
  }
  return std::nullopt;
}

// Where the last byte of the last tensor should be.
std::uint64_t bytes_promised(const gguf_context* file) {
  std::uint64_t end = 0;
  for (int64_t i = 0; i < gguf_get_n_tensors(file); ++i) {
    end = std::max<std::uint64_t>(end,
                                  gguf_get_tensor_offset(file, i) + gguf_get_tensor_size(file, i));
  }
  return gguf_get_data_offset(file) + end;
}

Result<void> write_through(const std::string& path) {
  if (const std::error_code fault = sync_to_disk(path)) return failed(path, fault.message());
  return {};
}

// ---- Converting ----

// "[  12/ 272] blk.1.attn_k.weight …" → 12 / 272
std::optional<double> share_of_line(std::string_view line) {
  if (!line.starts_with("[")) return std::nullopt;
  std::array<double, 2> numbers{};
  std::size_t at = 1;
  for (double& number : numbers) {
    at = line.find_first_not_of(" /", at);
    if (at == line.npos) return std::nullopt;
    std::uint32_t value = 0;
    const auto parsed = std::from_chars(line.data() + at, line.data() + line.size(), value);
    if (parsed.ec != std::errc{}) return std::nullopt;
    at = static_cast<std::size_t>(parsed.ptr - line.data());
    number = value;
  }
  if (numbers[1] <= 0) return std::nullopt;
  return std::min(1.0, numbers[0] / numbers[1]);
}

// The library's line has its progress in front and the name of a C++ fault at its end.
std::string reason_of(std::string line) {
  constexpr std::string_view kMark = "failed to quantize: ";
  const std::size_t mark = line.find(kMark);
  if (mark != line.npos) line.erase(0, mark + kMark.size());
  if (line.empty() || line.find("iostream error") != line.npos) {
    return "cannot be written; is the disk full?";
  }
  return line;
}

llama_ftype file_type(WeightType type) {
  return type == WeightType::kQ4_0 ? LLAMA_FTYPE_MOSTLY_Q4_0 : LLAMA_FTYPE_MOSTLY_Q8_0;
}

Result<void> convert(const Conversion& conversion) {
  llama_model_quantize_params parameters = llama_model_quantize_default_params();
  parameters.nthread = static_cast<int32_t>(conversion.threads);
  parameters.ftype = file_type(conversion.type);
  parameters.allow_requantize = true;
  parameters.pure = true;  // output and embedding matrices too: they are a fifth of a small model
  const LlamaErrorCapture capture;
  const LlamaLineListener listener([&conversion](std::string_view line) {
    const std::optional<double> share = share_of_line(line);
    if (share && conversion.progress) conversion.progress(*share);
  });
  if (llama_model_quantize(conversion.source.c_str(), conversion.target.c_str(), &parameters) !=
      0) {
    return failed(conversion.target, reason_of(capture.reason()));
  }
  // The library does not notice every failed write: a file may be short although it returned 0.
  ZH_RETURN_IF_ERROR(check_conversion(conversion.source, conversion.target));
  return write_through(conversion.target);
}

}  // namespace

std::string_view weight_type_name(WeightType type) {
  switch (type) {
    case WeightType::kQ8_0: return "Q8_0";
    case WeightType::kQ4_0: return "Q4_0";
    case WeightType::kOriginal: break;
  }
  return "original";
}

std::optional<WeightType> weight_type_named(std::string_view name) {
  for (const WeightType type : {WeightType::kOriginal, WeightType::kQ8_0, WeightType::kQ4_0}) {
    if (weight_type_name(type) == name) return type;
  }
  return std::nullopt;
}

std::uint64_t WeightFile::bytes_as(WeightType type) const {
  switch (type) {
    case WeightType::kQ8_0: return bytes_q8_0;
    case WeightType::kQ4_0: return bytes_q4_0;
    case WeightType::kOriginal: break;
  }
  return bytes;
}

Result<WeightFile> read_weight_file(const std::string& path) {
  ZH_RETURN_IF_ERROR(init_llama_backend());
  WeightFile facts;
  ZH_ASSIGN_OR_RETURN(facts.bytes, check_gguf_file(path));
  const LlamaErrorCapture capture;
  const GgufFile file = open_gguf(path);
  if (file == nullptr) {
    return Error{ErrorCode::kModelUnavailable,
                 "model file \"" + path + "\" cannot be read: " + capture.reason(),
                 "",
                 {}};
  }
  facts.fingerprint = file_fingerprint(path);
  facts.architecture = text(file.get(), "general.architecture");
  facts.experts =
      static_cast<std::uint32_t>(whole_number(file.get(), facts.architecture + ".expert_count"));
  facts.in_parts = whole_number(file.get(), "split.count") > 1;
  count_weights(file.get(), facts);
  return facts;
}

Result<void> convert_weights(const Conversion& conversion) {
  ZH_RETURN_IF_ERROR(init_llama_backend());
  Result<void> converted = convert(conversion);
  if (!converted.ok()) ::unlink(conversion.target.c_str());
  return converted;
}

Result<void> check_conversion(const std::string& source, const std::string& target) {
  const LlamaErrorCapture capture;  // what it says of a short file is told below
  const GgufFile left = open_gguf(source);
  const GgufFile right = open_gguf(target);
  if (left == nullptr) return failed(source, "cannot be read");
  if (right == nullptr) return failed(target, "was not written whole");
  std::error_code fault;
  const std::uintmax_t size = std::filesystem::file_size(target, fault);
  if (fault || size < bytes_promised(right.get())) {
    return failed(target, "was not written whole; is the disk full?");
  }
  if (gguf_get_n_tensors(left.get()) != gguf_get_n_tensors(right.get())) {
    return failed(target, "has another number of tensors than its source");
  }
  auto key = changed_key(left.get(), right.get());
  if (!key) key = changed_key(right.get(), left.get());
  if (key) return failed(target, "differs from its source in the key " + *key);
  if (const auto tensor = changed_tensor(left.get(), right.get())) {
    return failed(target, "differs from its source in the tensor " + *tensor);
  }
  return {};
}

std::optional<std::uint64_t> whole_file_checksum(const std::string& path) {
  const FileHandle file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return std::nullopt;
  std::setvbuf(file.get(), nullptr, _IONBF, 0);
  std::vector<std::byte> chunk(std::size_t{1} << 20);
  std::uint64_t sum = 0;
  std::size_t count = 0;
  while ((count = std::fread(chunk.data(), 1, chunk.size(), file.get())) > 0) {
    sum = checksum(std::span(chunk).first(count), sum);
  }
  if (std::ferror(file.get()) != 0) return std::nullopt;
  return sum;
}

}  // namespace zerohop
