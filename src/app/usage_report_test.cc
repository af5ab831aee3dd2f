#include "app/usage_report.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

LedgerSum sum(const std::string& key) {
  LedgerSum made;
  made.day = "2026-01-31";
  made.key = key;
  made.labels = {"a,b"};
  made.requests = 2;
  made.tokens = {10, 20, 30};
  made.money_micros = 7;
  return made;
}

TEST(UsageReport, ReadsWhatIsAskedFor) {
  UsageOptions options;
  options.by = "day,label:corpus_version,model";
  options.key = "key_1";
  options.from = "2026-02-01";
  options.until = "2026-02-28";
  const Result<LedgerQuery> query = usage_query(options);
  ASSERT_TRUE(query.ok()) << query.error().message;
  EXPECT_TRUE(query->by.day && query->by.model);
  EXPECT_FALSE(query->by.key || query->by.tenant);
  EXPECT_EQ(query->by.labels, std::vector<std::string>{"corpus_version"});
  EXPECT_EQ(query->key, "key_1");
  EXPECT_FALSE(query->tenant.has_value());
  EXPECT_EQ(query->until - query->from, std::chrono::hours(28 * 24));
}

TEST(UsageReport, RefusesWordsAndDaysThatAreNone) {
  for (const std::string by : {"days", "label:", "day,,key", " day"}) {
    UsageOptions options;
    options.by = by;
    EXPECT_FALSE(usage_query(options).ok()) << by;
  }
  for (const std::string day : {"today", "2026-02-29", "2026-13-01", "2026-1-1", "26-01-0100",
                                "-026-01-01", "2026-01-32", "0000-01-01", "2026/01/01"}) {
    UsageOptions options;
    options.from = day;
    EXPECT_FALSE(usage_query(options).ok()) << day;
  }
}

TEST(UsageReport, WritesCsvWithQuotesWhereTheyAreNeeded) {
  LedgerGrouping by;
  by.key = true;
  by.labels = {"corpus"};
  EXPECT_EQ(usage_csv(by, {sum("say \"hi\""), sum("")}),
            "key,corpus,requests,uncached_input_tokens,cached_input_tokens,output_tokens,"
            "money_micros\r\n"
            "\"say \"\"hi\"\"\",\"a,b\",2,10,20,30,7\r\n"
            ",\"a,b\",2,10,20,30,7\r\n");
  EXPECT_EQ(usage_csv({}, {}),
            "requests,uncached_input_tokens,cached_input_tokens,output_tokens,money_micros\r\n");
}

TEST(UsageReport, TellsTenantsOfOneNameApart) {
  LedgerGrouping by;
  by.tenant = true;
  LedgerSum one = sum("");
  one.tenant = "acme";
  one.tenant_number = TenantId{1'234'567};
  one.labels.clear();
  EXPECT_EQ(usage_csv(by, {one}),
            "tenant,tenant_number,requests,uncached_input_tokens,cached_input_tokens,"
            "output_tokens,money_micros\r\nacme,1234567,2,10,20,30,7\r\n");
  EXPECT_NE(usage_json(by, {one}).find(R"({"tenant":"acme","tenant_number":1234567,"requests":2,)"),
            std::string::npos);
}

TEST(UsageReport, WritesJsonOfTheSameNumbers) {
  LedgerGrouping by;
  by.day = true;
  by.labels = {"corpus"};
  EXPECT_EQ(usage_json(by, {sum("k")}),
            R"({"usage":[{"day":"2026-01-31","labels":{"corpus":"a,b"},"requests":2,)"
            R"("uncached_input_tokens":10,"cached_input_tokens":20,"output_tokens":30,)"
            R"("money_micros":7}]})"
            "\n");
  EXPECT_EQ(usage_json(by, {}), "{\"usage\":[]}\n");
}

}  // namespace
}  // namespace zerohop
