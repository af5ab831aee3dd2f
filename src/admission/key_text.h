// The text of an API key, and what is kept of it.
//
//   sk-zh-  4T7bKq…                                38 characters
//   mark    32 characters of base62, 190 bits      `shown`: the first 4 of them, to tell keys apart
//
// Kept is HMAC-SHA256 of the text under a secret of the store, not a slow password hash: 166 bits
// that nobody was shown cannot be guessed, and a slow hash would cost each request milliseconds.
// The secret makes hashes of two stores differ, and keeps a stranger from choosing texts whose
// hashes begin alike: so neither the place in the index nor the time of a comparison tells anything
// about a key. HMAC-SHA256 and not BLAKE2, because the processor computes SHA-256 itself.
//
// Immutable values; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct evp_mac_ctx_st;  // EVP_MAC_CTX of OpenSSL

namespace zerohop {

inline constexpr std::string_view kKeyMark = "sk-zh-";
inline constexpr std::size_t kKeyRandomCharacters = 32;
inline constexpr std::size_t kKeyCharacters = kKeyMark.size() + kKeyRandomCharacters;
inline constexpr std::size_t kKeyShownCharacters = kKeyMark.size() + 4;
inline constexpr std::size_t kKeySecretCharacters = 43;  ///< of base62: 256 bits

/// A new key, from the operating system's generator.
std::string make_key_text();

/// Whether `text` could be a key of this program at all. What is not need not be hashed.
bool is_key_text(std::string_view text);

using KeyHash = std::array<unsigned char, 32>;

class KeyHasher {
 public:
  explicit KeyHasher(std::string_view secret);

  /// 0.5 µs.
  KeyHash hash(std::string_view text) const;

 private:
  std::unique_ptr<evp_mac_ctx_st, void (*)(evp_mac_ctx_st*)> prepared_;  // never changed
};

/// In a time that does not depend on what is equal.
bool same_hash(const KeyHash& left, const KeyHash& right);

/// Back from hex_of() (base/hex.h). False where `digits` are none.
bool read_hash(std::string_view digits, KeyHash& hash);

}  // namespace zerohop
