#include "app/file_hash.h"

#include <fstream>
#include <vector>

#include "app/sha256.h"
#include "base/hex.h"

namespace zerohop {

Result<std::string> file_sha256(const std::filesystem::path& path) {
  constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
  Sha256 hash;
  std::ifstream file(path, std::ios::binary);
  std::vector<char> chunk(kChunkBytes);
  while (file.read(chunk.data(), kChunkBytes) || file.gcount() > 0) {
    hash.add(chunk.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.eof()) {
    return Error{ErrorCode::kModelUnavailable, path.string() + ": cannot be read", {}, {}};
  }
  return hex_of(hash.finish());
}

}  // namespace zerohop
