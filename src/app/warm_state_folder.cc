#include "app/warm_state_folder.h"

#include <array>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "app/sha256.h"
#include "app/whole_file.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "ZHWARM1\n";
constexpr std::size_t kDigestBytes = std::tuple_size_v<Sha256Digest>;
constexpr std::size_t kHeadBytes = 8 + kDigestBytes;
static_assert(kMagic.size() + kDigestBytes == kHeadBytes);

Sha256Digest digest_of(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.add(bytes.data(), bytes.size());
  return hash.finish();
}

template <class Bytes>
std::string_view text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
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
  constexpr std::size_t kNameBytes = 16;
  const Sha256Digest digest = hash.finish();
  return folder_ / (hex_of(std::span(digest).first<kNameBytes>()) + ".state");
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
  const Sha256Digest digest = digest_of(state);
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
  const Sha256Digest digest = digest_of(state);
  failed = write_whole(file, {kMagic, text_of(digest), text_of(state)}, Durable::kNo);
  if (failed) return fault(file, "cannot be written: " + failed.message());
  return {};
}

}  // namespace zerohop
