// For tests: writes the file of a tiny BERT with random weights (two layers, width 32, words of
// letters), a model of the kind that makes vectors and has no KV cells.
// Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "core/token.h"
#include "model/llama_model.h"
#include "model/model.h"

namespace zerohop {

struct TestBert {
  static constexpr std::uint32_t kWidth = 32;
  static constexpr std::uint32_t kInner = 64;
  static constexpr std::uint32_t kHeads = 2;
  static constexpr std::uint32_t kLayers = 2;
  static constexpr Token kUnknown = 1;
  static constexpr Token kBegin = 2;  ///< "[CLS]"
  static constexpr Token kEnd = 3;    ///< "[SEP]"

  PoolingType pooling = PoolingType::kMean;
  std::uint32_t context_tokens = 48;
};

/// The parts of a GGUF file, one after the other.
class TestGguf {
 public:
  void add(const std::string& key, std::uint32_t value) { begin(key, 4), put(values_, value); }
  void add(const std::string& key, float value) { begin(key, 6), put(values_, value); }
  void add(const std::string& key, bool value) { begin(key, 7), values_.push_back(value ? 1 : 0); }
  void add(const std::string& key, std::string_view value) { begin(key, 8), text(values_, value); }
  void add(const std::string& key, const std::vector<std::string>& list) {
    begin(key, 9);
    put(values_, std::uint32_t{8});
    put(values_, std::uint64_t{list.size()});
    for (const std::string& entry : list) text(values_, entry);
  }
  void add(const std::string& key, const std::vector<std::int32_t>& list) {
    begin(key, 9);
    put(values_, std::uint32_t{5});
    put(values_, std::uint64_t{list.size()});
    for (const std::int32_t entry : list) put(values_, entry);
  }

  /// A tensor of random numbers around `middle`.
  void add_tensor(const std::string& name, std::vector<std::uint64_t> shape, float middle = 0) {
    text(tensors_, name);
    put(tensors_, static_cast<std::uint32_t>(shape.size()));
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape) {
      put(tensors_, size);
      count *= size;
    }
    put(tensors_, std::uint32_t{0});  // F32
    put(tensors_, std::uint64_t{data_.size()});
    const float spread = 2.0f / std::sqrt(static_cast<float>(shape[0]));
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto share = static_cast<float>(mix64(++numbers_) >> 40) * 0x1.0p-24f;
      put(data_, middle + spread * (share - 0.5f));
    }
    pad(data_);
    ++tensor_count_;
  }

  void write(const std::filesystem::path& path) const {
    std::string file = "GGUF";
    put(file, std::uint32_t{3});
    put(file, tensor_count_);
    put(file, value_count_);
    file += values_ + tensors_;
    pad(file);
    std::ofstream(path, std::ios::binary) << file << data_;
  }

 private:
  template <class Number>
  static void put(std::string& to, Number number) {
    const auto bytes = std::bit_cast<std::array<char, sizeof number>>(number);
    to.append(bytes.data(), bytes.size());
  }
  static void text(std::string& to, std::string_view value) {
    put(to, std::uint64_t{value.size()});
    to += value;
  }
  static void pad(std::string& bytes) { bytes.resize((bytes.size() + 31) / 32 * 32, '\0'); }
  void begin(const std::string& key, std::uint32_t type) {
    text(values_, key);
    put(values_, type);
    ++value_count_;
  }

  std::string values_;
  std::string tensors_;
  std::string data_;
  std::uint64_t value_count_ = 0;
  std::uint64_t tensor_count_ = 0;
  std::uint64_t numbers_ = 0;
};

/// Single letters, at the start of a word ("▁a") and behind it.
inline void add_test_bert_vocabulary(TestGguf& file) {
  std::vector<std::string> tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  std::vector<std::int32_t> types{3, 2, 3, 3, 3};  // unknown: 2, control: 3
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    tokens.push_back(std::string("\u2581") + letter);
    tokens.emplace_back(1, letter);
  }
  types.resize(tokens.size(), 1);
  file.add("tokenizer.ggml.model", std::string_view("bert"));
  file.add("tokenizer.ggml.tokens", tokens);
  file.add("tokenizer.ggml.token_type", types);
  file.add("tokenizer.ggml.token_type_count", std::uint32_t{2});
  file.add("tokenizer.ggml.padding_token_id", std::uint32_t{0});
  file.add("tokenizer.ggml.unknown_token_id", std::uint32_t{TestBert::kUnknown});
  file.add("tokenizer.ggml.bos_token_id", std::uint32_t{TestBert::kBegin});
  file.add("tokenizer.ggml.seperator_token_id", std::uint32_t{TestBert::kEnd});
  file.add("tokenizer.ggml.mask_token_id", std::uint32_t{4});
  const std::uint64_t count = tokens.size();
  file.add_tensor("token_embd.weight", {TestBert::kWidth, count});
}

inline void add_test_bert_layer(TestGguf& file, std::uint32_t layer) {
  constexpr std::uint64_t kWidth = TestBert::kWidth;
  constexpr std::uint64_t kInner = TestBert::kInner;
  const std::string at = "blk." + std::to_string(layer) + ".";
  for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output"}) {
    file.add_tensor(at + name + ".weight", {kWidth, kWidth});
    file.add_tensor(at + name + ".bias", {kWidth});
  }
  file.add_tensor(at + "ffn_up.weight", {kWidth, kInner});
  file.add_tensor(at + "ffn_up.bias", {kInner});
  file.add_tensor(at + "ffn_down.weight", {kInner, kWidth});
  file.add_tensor(at + "ffn_down.bias", {kWidth});
  for (const char* name : {"attn_output_norm", "layer_output_norm"}) {
    file.add_tensor(at + name + ".weight", {kWidth}, 1);
    file.add_tensor(at + name + ".bias", {kWidth});
  }
}

/// The number that stands for `pooling` in a file; nothing names kUnspecified.
inline std::uint32_t pooling_number(PoolingType pooling) {
  switch (pooling) {
    case PoolingType::kMean: return 1;
    case PoolingType::kFirst: return 2;
    case PoolingType::kLast: return 3;
    case PoolingType::kRank: return 4;
    case PoolingType::kUnspecified: break;
  }
  ZH_CHECK(false);
}

inline void write_test_bert(const std::filesystem::path& path, const TestBert& bert = {}) {
  TestGguf file;
  file.add("general.architecture", std::string_view("bert"));
  file.add("bert.block_count", std::uint32_t{TestBert::kLayers});
  file.add("bert.context_length", bert.context_tokens);
  file.add("bert.embedding_length", std::uint32_t{TestBert::kWidth});
  file.add("bert.feed_forward_length", std::uint32_t{TestBert::kInner});
  file.add("bert.attention.head_count", std::uint32_t{TestBert::kHeads});
  file.add("bert.attention.layer_norm_epsilon", 1e-6f);
  file.add("bert.attention.causal", false);
  file.add("bert.pooling_type", pooling_number(bert.pooling));
  add_test_bert_vocabulary(file);
  file.add_tensor("token_types.weight", {TestBert::kWidth, 2});
  file.add_tensor("position_embd.weight", {TestBert::kWidth, bert.context_tokens});
  file.add_tensor("token_embd_norm.weight", {TestBert::kWidth}, 1);
  file.add_tensor("token_embd_norm.bias", {TestBert::kWidth});
  for (std::uint32_t layer = 0; layer < TestBert::kLayers; ++layer) {
    add_test_bert_layer(file, layer);
  }
  file.write(path);
}

/// Such a file, removed at the end.
class TestBertFile {
 public:
  explicit TestBertFile(const TestBert& bert = {})
      : path_(std::filesystem::temp_directory_path() /
              ("zerohop-bert-" + os_random_text(12) + ".gguf")) {
    write_test_bert(path_, bert);
  }
  ~TestBertFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TestBertFile(const TestBertFile&) = delete;
  TestBertFile& operator=(const TestBertFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// The model in it, named "bert".
  std::unique_ptr<Model> load() const {
    LlamaModelOptions options;
    options.path = path_.string();
    options.name = "bert";
    auto loaded = load_llama_model(options);
    ZH_CHECK(loaded.ok());
    return std::move(loaded).value();
  }

 private:
  const std::filesystem::path path_;
};

}  // namespace zerohop
