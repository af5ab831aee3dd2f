#include "app/text_hash.h"

#include "app/sha256.h"

namespace zerohop {

std::uint64_t text_hash(std::string_view text) {
  Sha256 whole;
  whole.add(text.data(), text.size());
  const Sha256Digest digest = whole.finish();
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < sizeof hash; ++i) hash = hash << 8 | digest[i];
  return hash == 0 ? 1 : hash;
}

}  // namespace zerohop
