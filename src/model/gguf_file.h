// Heads of GGUF files, opened through the library. Private to model/.
#pragma once

#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "gguf.h"

namespace zerohop {

struct GgufFree {
  void operator()(gguf_context* file) const { gguf_free(file); }
};
using GgufFile = std::unique_ptr<gguf_context, GgufFree>;

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FileHandle = std::unique_ptr<std::FILE, FileCloser>;

/// Null when it is no GGUF file; the library has logged why.
inline GgufFile open_gguf(const std::string& path) {
  try {
    return GgufFile(gguf_init_from_file(path.c_str(), {true, nullptr}));
  } catch (const std::exception&) {  // a count that no memory holds
    return nullptr;
  }
}

}  // namespace zerohop
