#include "admission/key_text.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>

#include "base/check.h"
#include "base/hex.h"
#include "base/random.h"

namespace zerohop {

std::string make_key_text() { return std::string(kKeyMark) + os_random_text(kKeyRandomCharacters); }

bool is_key_text(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  return text.size() == kKeyCharacters && text.starts_with(kKeyMark) &&
         std::ranges::all_of(text.substr(kKeyMark.size()), plain);
}

// A context that has taken the secret in is copied for each text, which skips half of the work.
KeyHasher::KeyHasher(std::string_view secret) : prepared_(nullptr, EVP_MAC_CTX_free) {
  EVP_MAC* const method = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  ZH_CHECK(method != nullptr);
  prepared_.reset(EVP_MAC_CTX_new(method));
  EVP_MAC_free(method);  // the context holds on to it
  ZH_CHECK(prepared_ != nullptr);
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end()};
  const auto* bytes = reinterpret_cast<const unsigned char*>(secret.data());
  ZH_CHECK(EVP_MAC_init(prepared_.get(), bytes, secret.size(), parameters) == 1);
}

KeyHash KeyHasher::hash(std::string_view text) const {
  const std::unique_ptr<EVP_MAC_CTX, void (*)(EVP_MAC_CTX*)> context(
      EVP_MAC_CTX_dup(prepared_.get()), EVP_MAC_CTX_free);
  ZH_CHECK(context != nullptr);
  KeyHash hash{};
  std::size_t length = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  ZH_CHECK(EVP_MAC_update(context.get(), bytes, text.size()) == 1);
  ZH_CHECK(EVP_MAC_final(context.get(), hash.data(), &length, hash.size()) == 1);
  ZH_CHECK(length == hash.size());
  return hash;
}

bool same_hash(const KeyHash& left, const KeyHash& right) {
  return CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

bool read_hash(std::string_view digits, KeyHash& hash) {
  if (digits.size() != 2 * hash.size()) return false;
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const int high = hex_digit_value(static_cast<unsigned char>(digits[2 * i]));
    const int low = hex_digit_value(static_cast<unsigned char>(digits[2 * i + 1]));
    if (high < 0 || low < 0) return false;
    hash[i] = static_cast<unsigned char>(high << 4 | low);
  }
  return true;
}

}  // namespace zerohop
