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

TEST_F(FileFingerprint, OfAModelInPartsIsOfAllOfThem) {
  const std::filesystem::path folder = path_.string() + "-parts";
  std::filesystem::create_directories(folder);
  const auto part = [&](int number) {
    return folder / ("m-0000" + std::to_string(number) + "-of-00003.gguf");
  };
  const auto write = [&](int number, const std::string& bytes) {
    std::ofstream(part(number), std::ios::binary | std::ios::trunc) << bytes;
  };
  for (int number = 1; number <= 3; ++number) write(number, "GGUF" + std::to_string(number));
  EXPECT_EQ(model_files(part(1).string()),
            (std::vector{part(1).string(), part(2).string(), part(3).string()}));
  const std::uint64_t fingerprint = file_fingerprint(part(1).string());
  EXPECT_NE(fingerprint, 0u);
  write(3, "GGUF4");
  EXPECT_NE(file_fingerprint(part(1).string()), fingerprint);
  std::filesystem::remove(part(2));
  EXPECT_EQ(file_fingerprint(part(1).string()), 0u);
  std::filesystem::remove_all(folder);
}

TEST(ModelFiles, AreOneUnlessTheNameCountsThem) {
  for (const std::string name : {"m.gguf", "m-00001-of-0003.gguf", "-of-.gguf", "",
                                 "m-00001-of-00000.gguf", "m-0000x-of-00002.gguf"}) {
    EXPECT_EQ(model_files(name), std::vector{name});
  }
}

TEST_F(FileFingerprint, AFileThatIsNotThereHasNone) {
  EXPECT_EQ(file_fingerprint(path_.string()), 0u);
}

}  // namespace
}  // namespace zerohop
