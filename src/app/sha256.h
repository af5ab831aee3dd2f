// SHA-256 of bytes that come piece by piece, and bytes as hex digits. One object belongs to one
// thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

struct evp_md_ctx_st;  // EVP_MD_CTX of OpenSSL

namespace zerohop {

using Sha256Digest = std::array<unsigned char, 32>;

class Sha256 {
 public:
  Sha256();

  /// The next `bytes` bytes at `data`.
  void add(const void* data, std::size_t bytes);
  /// Of all that was added. Once; nothing can be added after it.
  Sha256Digest finish();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

}  // namespace zerohop
