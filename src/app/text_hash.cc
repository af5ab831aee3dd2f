#include "app/text_hash.h"

#include <openssl/evp.h>

#include <array>

#include "base/check.h"

namespace zerohop {

std::uint64_t text_hash(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  ZH_CHECK(EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha256(), nullptr) ==
           1);
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < sizeof hash; ++i) hash = hash << 8 | digest[i];
  return hash == 0 ? 1 : hash;
}

}  // namespace zerohop
