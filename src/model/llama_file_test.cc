#include "model/llama_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/random.h"

namespace zerohop {
namespace {

class FileFingerprint : public testing::Test {
 protected:
  FileFingerprint()
      : path_(std::filesystem::temp_directory_path() / ("zerohop-file-" + os_random_text(12))) {}
  ~FileFingerprint() override {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  std::uint64_t of(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
    return file_fingerprint(path_.string());
  }

  const std::filesystem::path path_;
};

TEST_F(FileFingerprint, TellsFilesApartByTheirHeadTheirSamplesAndTheirSize) {
  std::string bytes(3'000'000, 'w');
  const std::uint64_t fingerprint = of(bytes);
  EXPECT_NE(fingerprint, 0u);
  EXPECT_EQ(of(bytes), fingerprint);
  EXPECT_NE(of(bytes + "w"), fingerprint);
  std::string head = bytes;
  head[70] = 'x';
  EXPECT_NE(of(head), fingerprint);
  std::string weights = bytes;
  std::fill(weights.begin() + 1'000'000, weights.begin() + 1'020'000, 'x');
  EXPECT_NE(of(weights), fingerprint) << "a tensor of 20 kB, longer than what is between samples";
}

TEST_F(FileFingerprint, ShortFilesAreReadWhole) {
  EXPECT_NE(of("GGUF"), of("GGUE"));
  EXPECT_NE(of(""), of("G"));
}

TEST_F(FileFingerprint, AFileThatIsNotThereHasNone) {
  EXPECT_EQ(file_fingerprint(path_.string()), 0u);
}

}  // namespace
}  // namespace zerohop
