#include "model/llama_backend.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "llama.h"

namespace zerohop {
namespace {

TEST(LlamaBackend, FindsTheProcessorBesideTheLibrary) {
  const Result<std::vector<LlamaDevice>> devices = list_llama_devices();
  ASSERT_TRUE(devices.ok()) << devices.error().message;
  bool found = false;
  for (const LlamaDevice& device : *devices) {
    if (device.kind != LlamaDeviceKind::kCpu) continue;
    found = true;
    EXPECT_FALSE(device.name.empty());
    EXPECT_GT(device.memory_bytes_total, 0u);
    EXPECT_EQ(llama_device_kind_name(device.kind), "cpu");
  }
  EXPECT_TRUE(found);
}

TEST(LlamaBackend, KnowsTheFolderOfTheLoadedLibrary) {
  const std::filesystem::path folder = llama_library_directory();
  ASSERT_TRUE(folder.is_absolute());
  bool found = false;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    found = found || entry.path().filename().string().starts_with("libllama");
  }
  EXPECT_TRUE(found) << folder;
}

TEST(LlamaBackend, SystemInfoNamesTheLibrary) {
  ASSERT_TRUE(init_llama_backend().ok());
  EXPECT_TRUE(llama_system_info().starts_with("libllama 0.5.0")) << llama_system_info();
}

// What the library writes to its log reaches the installed function in pieces.
void library_logs(ggml_log_level level, const char* text) {
  ggml_log_callback callback = nullptr;
  void* user = nullptr;
  llama_log_get(&callback, &user);
  callback(level, text, user);
}

TEST(LlamaErrorCapture, KeepsTheFirstErrorWithoutTheLibrarysFunctionNames) {
  ASSERT_TRUE(init_llama_backend().ok());
  const LlamaErrorCapture capture;
  EXPECT_EQ(capture.reason(), "");
  library_logs(GGML_LOG_LEVEL_INFO, "loading\n");
  library_logs(GGML_LOG_LEVEL_ERROR, "llama_model_load: error loading model: ");
  library_logs(GGML_LOG_LEVEL_CONT, "unknown architecture: 'x'\nllama_load: failed\n");
  EXPECT_EQ(capture.reason(), "unknown architecture: 'x'");
}

TEST(LlamaErrorCapture, NestsAndEndsWithItsScope) {
  ASSERT_TRUE(init_llama_backend().ok());
  const LlamaErrorCapture outer;
  {
    const LlamaErrorCapture inner;
    library_logs(GGML_LOG_LEVEL_ERROR, "first\n");
    EXPECT_EQ(inner.reason(), "first");
  }
  EXPECT_EQ(outer.reason(), "");
  library_logs(GGML_LOG_LEVEL_ERROR, "second\n");
  EXPECT_EQ(outer.reason(), "second");
}

}  // namespace
}  // namespace zerohop
