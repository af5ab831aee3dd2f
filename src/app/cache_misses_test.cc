#include "app/cache_misses.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace zerohop {
namespace {

RecordedMiss miss_of(const CacheMiss& miss, const std::string& id = "req_1") {
  return {1'700'000'000, id, 500, 14, miss};
}

TEST(CacheMisses, TellOfTheLatestFirst) {
  CacheMisses misses;
  misses.record(miss_of({MissCause::kSystemChanged, CacheCap::kNone, 14, 486}));
  misses.record(miss_of({MissCause::kEvicted, CacheCap::kHostBytes, 100, 200}, "req_2"));
  const boost::json::value body = boost::json::parse(misses.body(std::nullopt));
  const auto& data = body.at("data").as_array();
  ASSERT_EQ(data.size(), 2u);
  EXPECT_EQ(data[0].at("request_id"), "req_2");
  EXPECT_EQ(data[0].at("cap"), "host_bytes");
  EXPECT_TRUE(data[0].at("section").is_null());
  EXPECT_EQ(data[1].at("cause"), "system_changed");
  EXPECT_EQ(data[1].at("section"), "system");
  EXPECT_EQ(data[1].at("position"), 14);
  EXPECT_EQ(data[1].at("missed_tokens"), 486);
  EXPECT_EQ(data[1].at("cached_tokens"), 14);
  EXPECT_TRUE(data[1].at("cap").is_null());
  EXPECT_EQ(data[1].at("time"), "2023-11-14T22:13:20Z");
}

TEST(CacheMisses, KeepTheLastHundredAndNoHits) {
  CacheMisses misses;
  misses.record(miss_of({}));
  EXPECT_EQ(misses.body(std::nullopt), R"({"data":[]})");
  for (int i = 0; i < 150; ++i) {
    misses.record(miss_of({MissCause::kCold, CacheCap::kNone, 0, 0}, std::to_string(i)));
  }
  const boost::json::value body = boost::json::parse(misses.body(std::nullopt));
  ASSERT_EQ(body.at("data").as_array().size(), CacheMisses::kKept);
  EXPECT_EQ(body.at("data").at(0).at("request_id"), "149");
}

TEST(CacheMisses, AdviseOnEveryCause) {
  EXPECT_NE(miss_advice({MissCause::kSystemChanged, CacheCap::kNone, 14, 9})
                .find("near its beginning, at token 14; what changes"),
            std::string::npos);
  EXPECT_NE(miss_advice({MissCause::kSystemChanged, CacheCap::kNone, 900, 9})
                .find("changes at token 900"),
            std::string::npos);
  for (std::uint8_t cause = 0; cause < kMissCauses; ++cause) {
    for (std::uint8_t cap = 0; cap <= static_cast<std::uint8_t>(CacheCap::kNotKept); ++cap) {
      const CacheMiss miss{static_cast<MissCause>(cause), static_cast<CacheCap>(cap), 1, 2};
      EXPECT_GT(miss_advice(miss).size(), 10u);
    }
  }
}

}  // namespace
}  // namespace zerohop
