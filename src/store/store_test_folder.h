// A folder for the files of one test, removed with everything in it. Test code only.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/check.h"

namespace zerohop {

class StoreTestFolder {
 public:
  StoreTestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "zerohop-store-XXXXXX").string();
    ZH_CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~StoreTestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  StoreTestFolder(const StoreTestFolder&) = delete;
  StoreTestFolder& operator=(const StoreTestFolder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace zerohop
