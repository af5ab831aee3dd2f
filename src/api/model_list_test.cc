#include "api/model_list.h"

#include <gtest/gtest.h>

#include <vector>

#include "api/error_body.h"
#include "api/json_place.h"

namespace zerohop {
namespace {

std::vector<ModelDescription> models(int count) {
  std::vector<ModelDescription> list;
  for (int i = 0; i < count; ++i) {
    list.push_back({"m" + std::to_string(i), "Model", 1'700'000'000, 8192, 4096, {}});
  }
  return list;
}

// `first…last of N, more` of a page.
std::string page(int count, const ModelPageQuery& query) {
  const auto body = model_list_body(models(count), query);
  if (!body.ok()) return error_text(body.error());
  const auto document = parse_json(*body);
  if (!document.ok()) return document.error().message;
  const auto& root = document->root().as_object();
  std::string ids;
  for (const auto& model : root.at("data").as_array()) {
    ids += std::string(model.as_object().at("id").as_string()) + " ";
  }
  return ids + (root.at("has_more").as_bool() ? "more" : "end");
}

TEST(ModelList, ServesBothDialectsInOneReply) {
  const std::vector<ModelDescription> one{{"a/b:c", "A \"B\"", 1'700'000'000, 8192, 4096, {}}};
  const auto body = model_list_body(one, {});
  ASSERT_TRUE(body.ok());
  EXPECT_EQ(*body,
            R"({"object":"list","data":[{"id":"a/b:c","type":"model","object":"model",)"
            R"("display_name":"A \"B\"","created_at":"2023-11-14T22:13:20Z","created":1700000000,)"
            R"("owned_by":"zerohop","max_input_tokens":8192,"max_tokens":4096,)"
            R"("capabilities":{"batch":{"supported":false},"citations":{"supported":false},)"
            R"("code_execution":{"supported":false},"compaction":null,)"
            R"("context_management":{"supported":false,)"
            R"("clear_thinking_20251015":{"supported":false},)"
            R"("clear_tool_uses_20250919":{"supported":false},)"
            R"("compact_20260112":{"supported":false}},"effort":{"supported":false,)"
            R"("low":{"supported":false},"medium":{"supported":false},)"
            R"("high":{"supported":false},"xhigh":{"supported":false},)"
            R"("max":{"supported":false}},"image_input":{"supported":false},)"
            R"("pdf_input":{"supported":false},"server_tools":{"supported":false,)"
            R"("code_execution":{"supported":false},"web_search":{"supported":false}},)"
            R"("structured_outputs":{"supported":false},"thinking":{"supported":false,)"
            R"("types":{"adaptive":{"supported":false},"between_tools":{"supported":true},)"
            R"("disabled":{"supported":true},"enabled":{"supported":false}}}},)"
            R"("lifecycle":"active","line":null,"deprecated_at":null,"retires_at":null}],)"
            R"("has_more":false,"first_id":"a/b:c","last_id":"a/b:c"})");
}

TEST(ModelList, AnEmptyListHasNullIds) {
  const auto body = model_list_body({}, {});
  ASSERT_TRUE(body.ok());
  EXPECT_EQ(*body,
            R"({"object":"list","data":[],"has_more":false,"first_id":null,"last_id":null})");
}

TEST(ModelList, PagesForwards) {
  EXPECT_EQ(page(3, {.limit = "2"}), "m0 m1 more");
  EXPECT_EQ(page(3, {.limit = "2", .after_id = "m1"}), "m2 end");
  EXPECT_EQ(page(3, {.limit = "3"}), "m0 m1 m2 end");
  EXPECT_EQ(page(3, {.after_id = "m2"}), "end");
}

TEST(ModelList, PagesBackwards) {
  EXPECT_EQ(page(5, {.limit = "2", .before_id = "m4"}), "m2 m3 more");
  EXPECT_EQ(page(5, {.limit = "2", .before_id = "m2"}), "m0 m1 end");
  EXPECT_EQ(page(5, {.before_id = "m0"}), "end");
}

TEST(ModelList, ShowsTwentyUnlessAskedForMore) {
  EXPECT_TRUE(page(21, {}).ends_with("m19 more"));
  EXPECT_TRUE(page(21, {.limit = "1000"}).ends_with("m20 end"));
}

TEST(ModelList, RefusesLimitsOutOfRange) {
  for (const char* limit : {"0", "1001", "-1", "", "ten", "5x", " 5", "99999999999999999999"}) {
    EXPECT_EQ(page(3, {.limit = limit}), "limit: must be an integer from 1 to 1000") << limit;
  }
}

TEST(ModelList, RefusesUnknownIdsAndTwoDirections) {
  EXPECT_EQ(page(3, {.after_id = "zz"}), "after_id: no such model");
  EXPECT_EQ(page(3, {.before_id = "zz"}), "before_id: no such model");
  EXPECT_EQ(page(3, {.after_id = "m0", .before_id = "m2"}),
            "before_id: cannot be combined with after_id");
}

TEST(ModelList, FindsOneModelByItsExactId) {
  const auto list = models(2);
  const auto found = model_body(list, "m1");
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->starts_with(R"({"id":"m1","type":"model","object":"model")"));
  const auto missing = model_body(list, "m");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(error_text(missing.error()), "model: no model is named 'm'");
}

TEST(ModelList, WritesTheEpochForAnUnknownDate) {
  const std::vector<ModelDescription> one{{"m", "M", 0, 1, 1}};
  EXPECT_NE(model_body(one, "m")->find(R"("created_at":"1970-01-01T00:00:00Z","created":0)"),
            std::string::npos);
}

TEST(ModelList, KeepsDatesWithinFourDigitYears) {
  const std::vector<ModelDescription> two{{"future", "F", 1'000'000'000'000'000, 1, 1},
                                          {"leap", "L", 951'782'399, 1, 1}};
  EXPECT_NE(model_body(two, "future")->find("9999-12-31T23:59:59Z"), std::string::npos);
  EXPECT_NE(model_body(two, "leap")->find("2000-02-28T23:59:59Z"), std::string::npos);
}

TEST(ModelList, SaysWhatAModelCanBeAskedFor) {
  std::vector<ModelDescription> one = models(1);
  one[0].abilities = {.thinking = true, .batch = true, .pdf_input = true};
  const auto body = model_body(one, "m0");
  ASSERT_TRUE(body.ok());
  EXPECT_NE(body->find(R"("batch":{"supported":true})"), std::string::npos);
  EXPECT_NE(body->find(R"("pdf_input":{"supported":true})"), std::string::npos);
  EXPECT_NE(body->find(R"("structured_outputs":{"supported":false})"), std::string::npos);
  EXPECT_NE(body->find(R"("thinking":{"supported":true,"types":{"adaptive":{"supported":true})"),
            std::string::npos);
  EXPECT_NE(body->find(R"("enabled":{"supported":true}}})"), std::string::npos);
}

TEST(ModelList, FiltersByLifecycle) {
  EXPECT_EQ(page(2, {.lifecycle = "active"}), "m0 m1 end");
  EXPECT_EQ(page(2, {.lifecycle = "deprecated"}), "end");
  EXPECT_EQ(page(2, {.lifecycle = "retired"}), "end");
  EXPECT_EQ(page(2, {.lifecycle = "new"}), "lifecycle: must be active, deprecated or retired");
}

}  // namespace
}  // namespace zerohop
