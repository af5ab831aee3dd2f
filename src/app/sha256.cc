#include "app/sha256.h"

#include <openssl/evp.h>

#include "base/check.h"

namespace zerohop {

Sha256::Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  ZH_CHECK(context_ != nullptr);
  ZH_CHECK(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
}

void Sha256::add(const void* data, std::size_t bytes) {
  ZH_CHECK(EVP_DigestUpdate(context_.get(), data, bytes) == 1);
}

Sha256Digest Sha256::finish() {
  Sha256Digest digest{};
  unsigned length = 0;
  ZH_CHECK(EVP_DigestFinal_ex(context_.get(), digest.data(), &length) == 1);
  ZH_CHECK(length == digest.size());
  return digest;
}

}  // namespace zerohop
