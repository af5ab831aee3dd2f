// What LimitService decides by itself; limits through the whole server: server_limits_test.cc.
#include "app/limit_service.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "admission/old_ledger_test_kit.h"
#include "app/test_folder.h"

namespace zerohop {
namespace {

constexpr const char* kOldRows = R"sql(
INSERT INTO usage VALUES (1767225600000, 'key_kept', 'acme', 'm', 1, 1, 0, 0, 1, 0);
INSERT INTO usage VALUES (1767225600000, 'key_dropped', 'acme', 'm', 1, 1, 0, 0, 2, 0);
)sql";

KeyStoreContents contents_with(std::vector<TenantId> erased) {
  KeyStoreContents contents;
  contents.tenants.push_back({.number = TenantId{7}, .name = "acme"});
  contents.keys.push_back({.number = KeyId{1}, .id = "key_kept", .tenant = TenantId{7}});
  contents.erased_tenants = std::move(erased);
  contents.had_keys = true;
  return contents;
}

// Tokens of the answers in an old ledger, by the number of the tenant whose they are taken to be.
std::map<std::uint64_t, std::uint64_t> adopted(std::vector<TenantId> erased) {
  const TestFolder folder;
  DatabaseOptions file;
  file.path = ledger_file(folder.path()).string();
  const std::string old = std::string(kOldLedgerTables) + kOldRows;
  const std::string_view scripts[]{old};
  EXPECT_TRUE(Database::open(file, scripts).ok());
  const Config config;
  const VirtualClock clock;
  boost::asio::io_context io;
  {
    LimitService limits(config, clock);
    EXPECT_TRUE(limits.keep(folder.path(), io.get_executor()).ok());
    limits.adopt_old_rows(std::make_shared<const KeyRing>(contents_with(std::move(erased))));
    limits.close_books();
  }
  LedgerQuery query;
  query.by.tenant = true;
  std::map<std::uint64_t, std::uint64_t> tokens;
  const std::vector<LedgerSum> sums = Ledger::open(file).value()->sums(query).value();
  for (const LedgerSum& sum : sums) tokens[sum.tenant_number.value] += sum.tokens.output;
  return tokens;
}

using Tokens = std::map<std::uint64_t, std::uint64_t>;

TEST(LimitService, GivesOldRowsToTheTenantThatHasTheirKeyOrAlwaysHadTheirName) {
  EXPECT_EQ(adopted({}), (Tokens{{7, 3}}));
  EXPECT_EQ(adopted({TenantId{8}}), (Tokens{{7, 3}})) << "erased, but made later";
}

TEST(LimitService, GivesATenantThatWasMadeAnewNothingOfTheOneThatHadItsName) {
  EXPECT_EQ(adopted({TenantId{5}}), (Tokens{{0, 2}, {7, 1}}));
}

}  // namespace
}  // namespace zerohop
