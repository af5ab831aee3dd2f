#include "api/batch_dialect.h"

#include <gtest/gtest.h>

#include "api/json_reader.h"

namespace zerohop {
namespace {

MessageBatch some_batch() {
  MessageBatch batch;
  batch.id = "msgbatch_1";
  batch.counts.processing = 2;
  batch.created_at = WallTime(std::chrono::hours(24));
  batch.expires_at = WallTime(std::chrono::hours(48));
  return batch;
}

TEST(BatchDialect, KeepsParamsAsTheyWere) {
  const auto items = parse_batch_request(
      R"({"requests":[{"custom_id":"a","params":{"max_tokens": 5, "b": 1, "a": [1.5, "x"]}},)"
      R"({"custom_id":"b","params":{"stream":false}}]})");
  ASSERT_TRUE(items.ok()) << items.error().message;
  ASSERT_EQ(items->size(), 2u);
  EXPECT_EQ(items->at(0).custom_id, "a");
  EXPECT_EQ(items->at(0).params, R"({"max_tokens":5,"b":1,"a":[1.5,"x"]})");
}

TEST(BatchDialect, RefusesWhatIsNoBatchAndNamesThePlace) {
  const std::pair<const char*, const char*> cases[]{
      {R"({})", "requests"},
      {R"({"requests":[]})", "requests"},
      {R"({"requests":[{"params":{}}]})", "requests[0].custom_id"},
      {R"({"requests":[{"custom_id":"","params":{}}]})", "requests[0].custom_id"},
      {R"({"requests":[{"custom_id":"a"}]})", "requests[0].params"},
      {R"({"requests":[{"custom_id":"a","params":[]}]})", "requests[0].params"},
      {R"({"requests":[{"custom_id":"a","params":{"stream":true}}]})", "requests[0].params.stream"},
      {R"({"requests":[{"custom_id":"a","params":{}},{"custom_id":"a","params":{}}]})",
       "requests[1].custom_id"},
  };
  for (const auto& [body, field] : cases) {
    const auto items = parse_batch_request(body);
    ASSERT_FALSE(items.ok()) << body;
    EXPECT_EQ(items.error().code, ErrorCode::kInvalidRequest);
    EXPECT_EQ(items.error().field, field);
  }
  EXPECT_FALSE(parse_batch_request(R"({"requests":[{"custom_id":")" + std::string(65, 'x') +
                                   R"(","params":{}}]})")
                   .ok());
}

TEST(BatchDialect, ARunningBatchHasNoResults) {
  EXPECT_EQ(batch_body(some_batch()),
            R"({"id":"msgbatch_1","type":"message_batch","processing_status":"in_progress",)"
            R"("request_counts":{"processing":2,"succeeded":0,"errored":0,"canceled":0,)"
            R"("expired":0},"created_at":"1970-01-02T00:00:00Z",)"
            R"("expires_at":"1970-01-03T00:00:00Z","ended_at":null,)"
            R"("cancel_initiated_at":null,"archived_at":null,"results_url":null})");
}

TEST(BatchDialect, AnEndedBatchNamesItsResultsUntilTheyAreGone) {
  MessageBatch batch = some_batch();
  batch.status = BatchStatus::kEnded;
  batch.ended_at = batch.created_at;
  EXPECT_NE(batch_body(batch).find(R"("results_url":"/v1/messages/batches/msgbatch_1/results")"),
            std::string::npos);
  batch.archived_at = batch.expires_at;
  EXPECT_NE(batch_body(batch).find(R"("results_url":null)"), std::string::npos);
}

TEST(BatchDialect, ListsNameTheirEnds) {
  const std::vector<MessageBatch> two{some_batch(), some_batch()};
  const std::string body = batch_list_body({two, true});
  EXPECT_TRUE(parse_json(body).ok());
  EXPECT_NE(body.find(R"("has_more":true,"first_id":"msgbatch_1","last_id":"msgbatch_1")"),
            std::string::npos);
  EXPECT_EQ(batch_list_body({{}, false}),
            R"({"data":[],"has_more":false,"first_id":null,"last_id":null})");
}

TEST(BatchDialect, EveryResultIsOneLineOfJson) {
  std::string lines;
  append_batch_result({"a", BatchOutcome::kSucceeded, R"({"id":"msg_1"})"}, lines);
  append_batch_result({"b\n", BatchOutcome::kErrored, R"({"type":"error"})"}, lines);
  append_batch_result({"c", BatchOutcome::kCanceled, ""}, lines);
  append_batch_result({"d", BatchOutcome::kExpired, ""}, lines);
  EXPECT_EQ(lines,
            "{\"custom_id\":\"a\",\"result\":{\"type\":\"succeeded\",\"message\":"
            "{\"id\":\"msg_1\"}}}\n"
            "{\"custom_id\":\"b\\n\",\"result\":{\"type\":\"errored\",\"error\":"
            "{\"type\":\"error\"}}}\n"
            "{\"custom_id\":\"c\",\"result\":{\"type\":\"canceled\"}}\n"
            "{\"custom_id\":\"d\",\"result\":{\"type\":\"expired\"}}\n");
}

}  // namespace
}  // namespace zerohop
