// For tests: writes files of tiny models with random weights that generate tokens, one for each way
// in which libllama keeps what it computed: cells for every token, cells of a sliding window in
// every second layer, and a running state. A decode takes 0.1 ms, so that thousands fit a test.
#pragma once

#include "model/llama_test_bert.h"

namespace zerohop {

enum class TinyKind : std::uint8_t {
  kDense,         ///< "llama"
  kWindow,        ///< "gemma3", window of kTinyWindow tokens in one of two layers
  kRunningState,  ///< "mamba"
};

inline constexpr std::uint32_t kTinyLayers = 2;
inline constexpr std::int32_t kTinyWindow = 16;
inline constexpr std::uint32_t kTinyContext = 4096;
inline constexpr Token kTinyFirstLetter = 5;  ///< tokens from here on are letters
inline constexpr Token kTinyLetters = 52;

inline void add_tiny_attention_layer(TestGguf& file, std::uint32_t layer, TinyKind kind) {
  constexpr std::uint64_t kWidth = TestBert::kWidth;
  constexpr std::uint64_t kInner = TestBert::kInner;
  constexpr std::uint64_t kHead = kWidth / TestBert::kHeads;
  const std::string at = "blk." + std::to_string(layer) + ".";
  for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output"}) {
    file.add_tensor(at + name + ".weight", {kWidth, kWidth});
  }
  for (const char* name : {"attn_norm", "ffn_norm"}) {
    file.add_tensor(at + name + ".weight", {kWidth}, 1);
  }
  for (const char* name : {"ffn_gate", "ffn_up"}) {
    file.add_tensor(at + name + ".weight", {kWidth, kInner});
  }
  file.add_tensor(at + "ffn_down.weight", {kInner, kWidth});
  if (kind != TinyKind::kWindow) return;
  for (const char* name : {"post_attention_norm", "post_ffw_norm"}) {
    file.add_tensor(at + name + ".weight", {kWidth}, 1);
  }
  for (const char* name : {"attn_q_norm", "attn_k_norm"}) {
    file.add_tensor(at + name + ".weight", {kHead}, 1);
  }
}

inline void add_tiny_running_layer(TestGguf& file, std::uint32_t layer) {
  constexpr std::uint64_t kWidth = TestBert::kWidth;
  constexpr std::uint64_t kInner = 2 * kWidth;
  const std::string at = "blk." + std::to_string(layer) + ".";
  file.add_tensor(at + "attn_norm.weight", {kWidth}, 1);
  file.add_tensor(at + "ssm_in.weight", {kWidth, 2 * kInner});
  file.add_tensor(at + "ssm_conv1d.weight", {4, kInner});
  file.add_tensor(at + "ssm_conv1d.bias", {kInner});
  file.add_tensor(at + "ssm_x.weight", {kInner, 2 + 2 * 8});
  file.add_tensor(at + "ssm_dt.weight", {2, kInner});
  file.add_tensor(at + "ssm_dt.bias", {kInner});
  file.add_tensor(at + "ssm_a", {8, kInner}, -1);
  file.add_tensor(at + "ssm_d", {kInner});
  file.add_tensor(at + "ssm_out.weight", {kInner, kWidth});
}

inline std::string tiny_architecture(TinyKind kind) {
  switch (kind) {
    case TinyKind::kDense: return "llama";
    case TinyKind::kWindow: return "gemma3";
    case TinyKind::kRunningState: break;
  }
  return "mamba";
}

inline void write_tiny_model(const std::filesystem::path& path, TinyKind kind) {
  const std::string name = tiny_architecture(kind);
  TestGguf file;
  file.add("general.architecture", std::string_view(name));
  file.add(name + ".block_count", kTinyLayers);
  file.add(name + ".context_length", kTinyContext);
  file.add(name + ".embedding_length", std::uint32_t{TestBert::kWidth});
  file.add(name + ".attention.layer_norm_rms_epsilon", 1e-6f);
  if (kind == TinyKind::kRunningState) {
    file.add(name + ".feed_forward_length", std::uint32_t{0});
    file.add(name + ".attention.head_count", std::uint32_t{0});
    file.add(name + ".ssm.conv_kernel", std::uint32_t{4});
    file.add(name + ".ssm.inner_size", std::uint32_t{2 * TestBert::kWidth});
    file.add(name + ".ssm.state_size", std::uint32_t{8});
    file.add(name + ".ssm.time_step_rank", std::uint32_t{2});
  } else {
    file.add(name + ".feed_forward_length", std::uint32_t{TestBert::kInner});
    file.add(name + ".attention.head_count", std::uint32_t{TestBert::kHeads});
  }
  if (kind == TinyKind::kWindow) {
    file.add(name + ".attention.sliding_window", static_cast<std::uint32_t>(kTinyWindow));
    file.add(name + ".attention.sliding_window_pattern", std::uint32_t{2});
  }
  add_test_bert_vocabulary(file);
  file.add_tensor("output_norm.weight", {TestBert::kWidth}, 1);
  for (std::uint32_t layer = 0; layer < kTinyLayers; ++layer) {
    if (kind == TinyKind::kRunningState) {
      add_tiny_running_layer(file, layer);
    } else {
      add_tiny_attention_layer(file, layer, kind);
    }
  }
  file.write(path);
}

/// The model of that kind. Its file is gone at once: the model has been read by then.
inline std::unique_ptr<Model> load_tiny_model(TinyKind kind) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("zerohop-tiny-" + os_random_text(12) + ".gguf");
  write_tiny_model(path, kind);
  LlamaModelOptions options;
  options.path = path.string();
  options.name = "tiny";
  auto loaded = load_llama_model(options);
  ZH_CHECK(loaded.ok());
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  return std::move(loaded).value();
}

inline std::vector<Token> tiny_tokens(Random& random, std::size_t count) {
  std::vector<Token> tokens;
  while (tokens.size() < count) {
    tokens.push_back(kTinyFirstLetter +
                     static_cast<Token>(random.below(static_cast<std::uint64_t>(kTinyLetters))));
  }
  return tokens;
}

}  // namespace zerohop
