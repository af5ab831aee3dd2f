// A thousand keys for servers under test, in a folder of their own that goes with the object. All
// of them, and their tenant, have a limit of every kind, and none of these refuses anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/test_folder.h"

namespace zerohop::bench {

class DoorKeys {
 public:
  /// The first call of any makes all: some seconds, as every key is safe on disk before the next.
  const std::vector<std::string>& texts();
  /// One more, that may make one request a minute.
  const std::string& slow();

  /// The environment of a server that asks for these keys and keeps usage and budgets, each time in
  /// another folder.
  std::vector<std::string> environment();
  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  void make();

  const TestFolder folder_;
  std::vector<std::string> texts_;
  std::string slow_;
  int servers_ = 0;
};

/// A thousand tenants with a key each and no limits, in memory where the system has a folder there:
/// nothing that is measured with them writes.
class TenantKeys {
 public:
  TenantKeys();
  ~TenantKeys();
  TenantKeys(const TenantKeys&) = delete;
  TenantKeys& operator=(const TenantKeys&) = delete;

  const std::vector<std::string>& texts() const { return texts_; }
  /// The environment of a server that asks for these keys and has series for all their tenants.
  std::vector<std::string> environment() const;
  const std::filesystem::path& folder() const { return folder_; }

  /// Every tenant gets an answer of one token, so that the server at `port` has all its series.
  void use_all(std::uint16_t port) const;

 private:
  const std::filesystem::path folder_;
  std::vector<std::string> texts_;
};

/// A header line.
std::string key_header(const std::string& key);

}  // namespace zerohop::bench
