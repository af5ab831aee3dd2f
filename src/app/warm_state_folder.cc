#include "app/warm_state_folder.h"

#include <array>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/sha256.h"
#include "app/whole_file.h"
#include "base/hex.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "ZHWARM2\n";

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
  std::array<char, kMagic.size()> head{};
  stream.seekg(0);
  if (bytes <= head.size() || !stream.read(head.data(), head.size()) ||
      std::string_view(head.data(), head.size()) != kMagic) {
    return fault(file, "is no saved state");
  }
  std::vector<std::byte> state(bytes - head.size());
  stream.read(reinterpret_cast<char*>(state.data()), static_cast<std::streamsize>(state.size()));
  if (!stream) return fault(file, "cannot be read");
  return state;
}

Result<void> WarmStateFolder::save(TokenSpan tokens, std::span<const std::byte> state) const {
  const fs::path file = file_of(tokens);
  std::error_code failed;
  fs::create_directories(folder_, failed);
  if (failed) return fault(folder_, "cannot be made: " + failed.message());
  const std::string_view bytes(reinterpret_cast<const char*>(state.data()), state.size());
  failed = write_whole(file, {kMagic, bytes}, Durable::kNo);
  if (failed) return fault(file, "cannot be written: " + failed.message());
  return {};
}

}  // namespace zerohop
