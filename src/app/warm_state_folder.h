// The folder in which computed prefixes are kept for the next start of the server: one file each,
// named by a fingerprint of everything that its bytes depend on.
//
//   ZHWARM2\n | the state
//
// A file appears whole or not at all (written beside its place, then renamed). A state carries its
// own checksum (model/saved_state.h), which is held against it when it is restored: a damaged one
// is then computed again. Any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/token.h"

namespace zerohop {

class WarmStateFolder {
 public:
  /// `identity` names the weights and the context: states of another one are not found.
  WarmStateFolder(std::filesystem::path folder, std::string identity);

  /// Empty when there is none. Errors: kInternal (there is one, and it cannot be read or is no
  /// saved state).
  Result<std::vector<std::byte>> load(TokenSpan tokens) const;
  /// Makes the folder where it is missing. Errors: kInternal.
  Result<void> save(TokenSpan tokens, std::span<const std::byte> state) const;

  std::filesystem::path file_of(TokenSpan tokens) const;

 private:
  const std::filesystem::path folder_;
  const std::string identity_;
};

}  // namespace zerohop
