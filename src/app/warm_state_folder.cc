#include "app/warm_state_folder.h"

#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/check.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "ZHWARM1\n";
constexpr std::size_t kDigestBytes = 32;
constexpr std::size_t kHeadBytes = 8 + kDigestBytes;
static_assert(kMagic.size() + kDigestBytes == kHeadBytes);

using Digest = std::array<unsigned char, kDigestBytes>;

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    ZH_CHECK(context_ != nullptr);
    ZH_CHECK(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }
  void add(const void* data, std::size_t bytes) {
    ZH_CHECK(EVP_DigestUpdate(context_.get(), data, bytes) == 1);
  }
  Digest finish() {
    Digest digest{};
    unsigned length = 0;
    ZH_CHECK(EVP_DigestFinal_ex(context_.get(), digest.data(), &length) == 1);
    ZH_CHECK(length == kDigestBytes);
    return digest;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

Digest digest_of(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.add(bytes.data(), bytes.size());
  return hash.finish();
}

Error fault(const fs::path& file, const std::string& what) {
  return Error{ErrorCode::kInternal, file.string() + ": " + what, "", {}};
}

}  // namespace

WarmStateFolder::WarmStateFolder(fs::path folder, std::string identity)
    : folder_(std::move(folder)), identity_(std::move(identity)) {}

fs::path WarmStateFolder::file_of(TokenSpan tokens) const {
  Sha256 hash;
  hash.add(identity_.data(),
           identity_.size() + 1);  // with its zero: no other pair runs together so
  hash.add(tokens.data(), tokens.size_bytes());
  const Digest digest = hash.finish();
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr std::size_t kNameBytes = 16;
  std::string name;
  for (std::size_t i = 0; i < kNameBytes; ++i) {
    name.push_back(kDigits[digest[i] >> 4]);
    name.push_back(kDigits[digest[i] & 15]);
  }
  return folder_ / (name + ".state");
}

Result<std::vector<std::byte>> WarmStateFolder::load(TokenSpan tokens) const {
  const fs::path file = file_of(tokens);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::vector<std::byte>();
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  if (!stream) return fault(file, "cannot be read");
  const auto bytes = static_cast<std::size_t>(stream.tellg());
  std::array<char, kHeadBytes> head{};
  stream.seekg(0);
  if (bytes < kHeadBytes || !stream.read(head.data(), kHeadBytes) ||
      std::string_view(head.data(), kMagic.size()) != kMagic) {
    return fault(file, "is no saved state");
  }
  std::vector<std::byte> state(bytes - kHeadBytes);
  stream.read(reinterpret_cast<char*>(state.data()), static_cast<std::streamsize>(state.size()));
  if (!stream) return fault(file, "cannot be read");
  const Digest digest = digest_of(state);
  if (std::memcmp(head.data() + kMagic.size(), digest.data(), kDigestBytes) != 0) {
    return fault(file, "is damaged");
  }
  return state;
}

Result<void> WarmStateFolder::save(TokenSpan tokens, std::span<const std::byte> state) const {
  const fs::path file = file_of(tokens);
  std::error_code failed;
  fs::create_directories(folder_, failed);
  if (failed) return fault(folder_, "cannot be made: " + failed.message());
  fs::path beside = file;
  beside += "." + std::to_string(getpid()) + ".part";
  const Digest digest = digest_of(state);
  std::ofstream stream(beside, std::ios::binary | std::ios::trunc);
  stream.write(kMagic.data(), static_cast<std::streamsize>(kMagic.size()));
  stream.write(reinterpret_cast<const char*>(digest.data()), kDigestBytes);
  stream.write(reinterpret_cast<const char*>(state.data()),
               static_cast<std::streamsize>(state.size()));
  stream.close();
  if (!stream) {
    fs::remove(beside, failed);
    return fault(beside, "cannot be written");
  }
  fs::rename(beside, file, failed);
  if (failed) return fault(file, "cannot be written: " + failed.message());
  return {};
}

}  // namespace zerohop
