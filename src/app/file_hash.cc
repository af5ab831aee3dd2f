#include "app/file_hash.h"

#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <memory>
#include <vector>

#include "base/check.h"

namespace zerohop {

Result<std::string> file_sha256(const std::filesystem::path& path) {
  constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                   EVP_MD_CTX_free);
  ZH_CHECK(context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1);

  std::ifstream file(path, std::ios::binary);
  std::vector<char> chunk(kChunkBytes);
  while (file.read(chunk.data(), kChunkBytes) || file.gcount() > 0) {
    const auto count = static_cast<std::size_t>(file.gcount());
    ZH_CHECK(EVP_DigestUpdate(context.get(), chunk.data(), count) == 1);
  }
  if (!file.eof()) {
    return Error{ErrorCode::kModelUnavailable, path.string() + ": cannot be read", {}, {}};
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  ZH_CHECK(EVP_DigestFinal_ex(context.get(), digest.data(), &length) == 1);

  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (unsigned i = 0; i < length; ++i) {
    hex.push_back(kDigits[digest[i] >> 4]);
    hex.push_back(kDigits[digest[i] & 15]);
  }
  return hex;
}

}  // namespace zerohop
