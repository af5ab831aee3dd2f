// What can go wrong with a file that keeps things. Plain values; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.h"

namespace zerohop {

enum class StoreFault : std::uint8_t {
  kFull,         ///< the disk, or the size that the owner allowed, is used up; nothing was changed
  kBusy,         ///< another process holds the file for longer than the busy timeout
  kCorrupt,      ///< the file is damaged or no database at all
  kNewer,        ///< written by a newer version of the program
  kUnavailable,  ///< cannot be opened, read or written: missing folder, permission, I/O error
};

struct StoreError {
  StoreFault fault = StoreFault::kUnavailable;
  std::string message;  ///< for operators: names the file
};

template <class T>
using StoreResult = BasicResult<T, StoreError>;

/// For a client, who must not learn the names of files. kFull and kBusy are kOverloaded with advice
/// when to come back; the rest is kInternal.
Error client_error(const StoreError& error);

/// For the operator at start-up: kConfiguration, with the whole message.
Error startup_error(const StoreError& error);

}  // namespace zerohop
