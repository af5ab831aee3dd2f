// For tests: a folder of its own below the system's temporary one, removed at the end.
#pragma once

#include <filesystem>
#include <string>

#include "base/check.h"
#include "base/random.h"

namespace zerohop {

class TestFolder {
 public:
  TestFolder() : path_(std::filesystem::temp_directory_path() / ("zerohop-" + os_random_text(12))) {
    ZH_CHECK(std::filesystem::create_directories(path_));
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace zerohop
