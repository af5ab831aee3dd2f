#include "model/llama_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "model/llama_test_model.h"

namespace zerohop {
namespace {

std::string file_with(const std::string& name, const std::string& bytes) {
  const std::string path = testing::TempDir() + "zerohop_" + name + ".gguf";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// The first `count` bytes of the default model.
std::string head_of_default_model(std::size_t count) {
  std::string bytes(count, '\0');
  std::ifstream file(default_model_path(), std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

template <class Integer>
void append(std::string& bytes, Integer value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// A GGUF with one key, general.architecture, and no tensors.
std::string gguf_of_architecture(const std::string& architecture) {
  const std::string key = "general.architecture";
  std::string bytes = "GGUF";
  append<std::uint32_t>(bytes, 3);  // version
  append<std::uint64_t>(bytes, 0);  // tensors
  append<std::uint64_t>(bytes, 1);  // keys
  append<std::uint64_t>(bytes, key.size());
  bytes += key;
  append<std::uint32_t>(bytes, 8);  // string
  append<std::uint64_t>(bytes, architecture.size());
  return bytes + architecture + std::string(64, '\0');
}

Error load_error(const std::string& path) {
  LlamaModelOptions options;
  options.path = path;
  Result<std::unique_ptr<Model>> model = load_llama_model(options);
  if (model.ok()) return Error{ErrorCode::kInternal, "it loaded", {}, {}};
  EXPECT_EQ(model.error().message.find('\n'), std::string::npos) << model.error().message;
  EXPECT_NE(model.error().message.find(path), std::string::npos) << model.error().message;
  return model.error();
}

void expect_unavailable(const Error& error, const std::string& part) {
  EXPECT_EQ(error.code, ErrorCode::kModelUnavailable) << error.message;
  EXPECT_NE(error.message.find(part), std::string::npos) << error.message;
}

TEST(LlamaModel, SaysWhatIsWrongWithAFileThatIsNoModel) {
  expect_unavailable(load_error("/nonexistent/model.gguf"), "does not exist");
  expect_unavailable(load_error(testing::TempDir()), "is a folder");
  expect_unavailable(load_error("/dev/null"), "is not a regular file");
  expect_unavailable(load_error(file_with("empty", "")), "is not a GGUF file");
  expect_unavailable(load_error(file_with("text", "<html>not found</html>, padded to a header")),
                     "is not a GGUF file");
  expect_unavailable(load_error(file_with("lfs", "version https://git-lfs.github.com/spec/v1\n")),
                     "Git LFS pointer");
  expect_unavailable(load_error(file_with("short", "GGUF\x03")), "ends inside its header");
}

TEST(LlamaModel, SaysWhatIsWrongWithADamagedModel) {
  expect_unavailable(load_error(file_with("keys", head_of_default_model(100'000))),
                     "does not load");
  expect_unavailable(load_error(file_with("tensors", head_of_default_model(20'000'000))),
                     "does not load");
  std::string garbage = "GGUF";
  append<std::uint32_t>(garbage, 3);
  garbage.append(4096, '\xff');
  expect_unavailable(load_error(file_with("garbage", garbage)), "does not load");
}

TEST(LlamaModel, NamesAnArchitectureThatTheLibraryDoesNotKnow) {
  const Error error = load_error(file_with("architecture", gguf_of_architecture("zerohopformer")));
  expect_unavailable(error, "zerohopformer");
}

TEST(LlamaModel, RefusesDevicesThatAreNotThere) {
  LlamaModelOptions options;
  options.path = default_model_path();
  options.devices = {"NoSuchDevice7"};
  const Result<std::unique_ptr<Model>> absent = load_llama_model(options);
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().code, ErrorCode::kConfiguration);
  EXPECT_EQ(absent.error().field, "devices");
  options.devices = {"CPU"};
  const Result<std::unique_ptr<Model>> processor = load_llama_model(options);
  ASSERT_FALSE(processor.ok());
  EXPECT_EQ(processor.error().code, ErrorCode::kConfiguration);
}

TEST(LlamaModel, RefusesATemplateThatIsNoJinja) {
  LlamaModelOptions options;
  options.path = default_model_path();
  options.load = LlamaLoad::kTokenizerOnly;
  options.chat_template_override = "{% if messages %}";
  const Result<std::unique_ptr<Model>> model = load_llama_model(options);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().code, ErrorCode::kModelUnavailable);
  EXPECT_NE(model.error().message.find("cannot be parsed: "), std::string::npos);
  EXPECT_EQ(model.error().message.find("unknown reason"), std::string::npos)
      << model.error().message;
}

TEST(LlamaModel, ReportsItsProgressUpToTheEnd) {
  LlamaModelOptions options;
  options.path = default_model_path();
  std::vector<double> seen;
  options.progress = [&seen](double done) { seen.push_back(done); };
  const Result<std::unique_ptr<Model>> model = load_llama_model(options);
  ASSERT_TRUE(model.ok()) << model.error().message;
  ASSERT_FALSE(seen.empty());
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 1.0);
}

TEST(LlamaModel, LoadedForItsTokenizerAloneItTokenizesAndMakesNoContext) {
  LlamaModelOptions options;
  options.path = default_model_path();
  options.name = "words";
  options.load = LlamaLoad::kTokenizerOnly;
  const Result<std::unique_ptr<Model>> model = load_llama_model(options);
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_EQ((*model)->info().name, "words");
  EXPECT_EQ((*model)->info().context_trained, 8192u);
  EXPECT_EQ((*model)->info().kv_bytes_per_cell, 23'040u);
  const Tokenizer& tokenizer = (*model)->tokenizer();
  EXPECT_EQ(tokenizer.detokenize(tokenizer.tokenize("Hello", SpecialTokens::kInert)), "Hello");
  const Result<std::unique_ptr<ModelContext>> context = (*model)->make_context({});
  ASSERT_FALSE(context.ok());
  EXPECT_EQ(context.error().code, ErrorCode::kConfiguration);
}

using LlamaModelInfo = WithDefaultModel;

TEST_F(LlamaModelInfo, DescribesTheDefaultModel) {
  const ModelInfo& info = model->info();
  EXPECT_EQ(info.name, "smollm2-135m");
  EXPECT_EQ(info.architecture, "llama");
  EXPECT_FALSE(info.description.empty());
  EXPECT_EQ(info.file_bytes, std::filesystem::file_size(default_model_path()));
  EXPECT_EQ(info.vocabulary, 49152u);
  EXPECT_EQ(info.embedding, 576u);
  EXPECT_EQ(info.pooling, PoolingType::kUnspecified);
  EXPECT_EQ(info.context_trained, 8192u);
  EXPECT_GT(info.parameters, 130'000'000u);
  // 30 layers × 3 heads × (64 + 64) × 2 bytes
  EXPECT_EQ(info.kv_bytes_per_cell, 23'040u);
}

}  // namespace
}  // namespace zerohop
