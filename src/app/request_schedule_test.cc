#include "app/request_schedule.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace zerohop {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

RequestHead head_with(const Fields& fields) {
  RequestHead head;
  for (const auto& [name, value] : fields) head.headers.add(name, value);
  return head;
}

constexpr TimePoint kReceived{std::chrono::seconds(100)};

Result<RequestSchedule> schedule_of(const Fields& fields, const Config& config = {}) {
  const RequestHead head = head_with(fields);
  return read_schedule(tenant_of(config, {}, head.headers), head, kReceived);
}

TEST(RequestSchedule, SaysNothingForARequestThatSaysNothing) {
  const auto schedule = schedule_of({});
  ASSERT_TRUE(schedule.ok());
  EngineRequest request;
  apply_schedule(*schedule, AnswerShape::kWhole, request);
  EXPECT_EQ(request.scheduling.tenant, TenantId{});
  EXPECT_EQ(request.cache.scope, kPublicScope);
  EXPECT_EQ(request.cache.affinity, 0u);
  EXPECT_FALSE(request.scheduling.deadline.has_value());
}

TEST(RequestSchedule, TakesTheClientsOwnKeyOfItsPrefixes) {
  const auto affinity = [](const std::string& key) {
    return schedule_of({{"X-Anthropic-Cache-Key", key}})->affinity;
  };
  EXPECT_NE(affinity("a"), 0u);
  EXPECT_EQ(affinity("a"), affinity("a"));
  EXPECT_NE(affinity("a"), affinity("b"));
  EXPECT_TRUE(schedule_of({{"x-anthropic-cache-key", std::string(256, 'k')}}).ok());
  for (const std::string& bad : {std::string(257, 'k'), std::string("\t"), std::string("é")}) {
    const auto refused = schedule_of({{"x-anthropic-cache-key", bad}});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().field, "x-anthropic-cache-key");
  }
}

TEST(RequestSchedule, BoundsAWholeAnswerByTheClientsPatience) {
  const auto deadline = [](const Fields& fields, AnswerShape shape) {
    EngineRequest request;
    apply_schedule(*schedule_of(fields), shape, request);
    return request.scheduling.deadline;
  };
  const Fields patient{{"x-stainless-timeout", "600"}};
  EXPECT_EQ(deadline(patient, AnswerShape::kWhole), kReceived + std::chrono::seconds(600));
  EXPECT_EQ(deadline(patient, AnswerShape::kStream), std::nullopt);
  const Fields both{{"x-stainless-timeout", "600"}, {"anthropic-deadline-ms", "250"}};
  EXPECT_EQ(deadline(both, AnswerShape::kWhole), kReceived + std::chrono::milliseconds(250));
  EXPECT_EQ(deadline(both, AnswerShape::kStream), kReceived + std::chrono::milliseconds(250));
  EXPECT_EQ(deadline({{"x-stainless-timeout", "soon"}}, AnswerShape::kWhole), std::nullopt);
}

TEST(RequestSchedule, RefusesADeadlineThatIsNone) {
  for (const char* bad : {"0", "-1", "soon", "", "1.5", "86400001", "99999999999999999999"}) {
    const auto refused = schedule_of({{"anthropic-deadline-ms", bad}});
    ASSERT_FALSE(refused.ok()) << bad;
    EXPECT_EQ(refused.error().field, "anthropic-deadline-ms");
  }
}

TEST(RequestSchedule, RefusesAtTheDoorWhatTheQueueMakesTooLate) {
  const auto schedule = schedule_of({{"anthropic-deadline-ms", "1000"}});
  EngineSnapshot engine;
  EXPECT_TRUE(check_deadline(*schedule, AnswerShape::kStream, {engine, kReceived}).ok())
      << "no rates are known";
  engine.prefill_tokens_per_second = 500;
  engine.decode_step_seconds = 0.01;
  engine.queued_tokens = 100;
  EXPECT_TRUE(check_deadline(*schedule, AnswerShape::kStream, {engine, kReceived}).ok());
  engine.queued_tokens = 5'000;
  const Result<void> refused = check_deadline(*schedule, AnswerShape::kStream, {engine, kReceived});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kOverloaded);
  EXPECT_GE(refused.error().retry_after, std::chrono::seconds(8));
  // A tenant that asks for little has less in front of it.
  EXPECT_TRUE(
      check_deadline(*schedule, AnswerShape::kStream, {engine, kReceived, {}, InFront{1, 250}})
          .ok());
  // A client that gives up does so on a whole answer.
  const auto patient = schedule_of({{"x-stainless-timeout", "1"}});
  EXPECT_TRUE(check_deadline(*patient, AnswerShape::kStream, {engine, kReceived}).ok());
  const Result<void> whole = check_deadline(*patient, AnswerShape::kWhole, {engine, kReceived});
  ASSERT_FALSE(whole.ok());
  EXPECT_NE(whole.error().message.find("x-stainless-timeout"), std::string::npos);
}

TEST(RequestSchedule, RefusesAnAnswerThatWouldUsuallyEndTooLate) {
  const auto schedule = schedule_of({{"anthropic-deadline-ms", "4000"}});
  EngineSnapshot engine;
  engine.prefill_tokens_per_second = 500;
  engine.decode_step_seconds = 0.01;
  engine.request_seconds = 3;
  engine.queued_tokens = 1'000;
  DoorView door{engine, kReceived};
  const auto checked = [&] { return check_deadline(*schedule, AnswerShape::kStream, door).ok(); };
  EXPECT_TRUE(checked()) << "its length is not known";
  door.max_tokens = 1'000;
  EXPECT_FALSE(checked()) << "2 s in the queue, 3 s like the others";
  door.max_tokens = 100;
  EXPECT_TRUE(checked()) << "1 s at most";
  door.max_tokens = 1'000;
  door.engine.queued_tokens = 0;
  EXPECT_TRUE(checked()) << "it starts at once";
}

TEST(RequestSchedule, CountsAPlaceForEachOfSeveralAnswers) {
  const auto schedule = schedule_of({{"anthropic-deadline-ms", "4000"}});
  EngineSnapshot engine;
  engine.prefill_tokens_per_second = 500;
  engine.decode_step_seconds = 0.01;
  engine.request_seconds = 3;
  engine.sequences_max = 4;
  DoorView door{engine, kReceived};
  door.max_tokens = 1'000;
  door.choices = 4;
  EXPECT_TRUE(check_deadline(*schedule, AnswerShape::kWhole, door).ok()) << "all at once";
  door.choices = 8;
  EXPECT_FALSE(check_deadline(*schedule, AnswerShape::kWhole, door).ok())
      << "half of them 3 s behind the others";
  EXPECT_TRUE(check_wait(door, std::chrono::seconds(1)).ok()) << "the first one starts at once";
}

TEST(RequestSchedule, RefusesWhatWouldWaitForTooLong) {
  EngineSnapshot engine;
  engine.queued_tokens = 5'000;
  const DoorView unknown{engine, kReceived};
  EXPECT_TRUE(check_wait(unknown, std::chrono::seconds(1)).ok()) << "no rates are known";
  engine.prefill_tokens_per_second = 500;
  const DoorView door{engine, kReceived};
  EXPECT_TRUE(check_wait(door, std::chrono::seconds(10)).ok());
  const Result<void> refused = check_wait(door, std::chrono::seconds(9));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kOverloaded);
  EXPECT_EQ(refused.error().detail, kWaitRefusal);
  EXPECT_EQ(refused.error().retry_after, std::chrono::seconds(1));
  EXPECT_EQ(refused.error().message,
            "the first token would come after about 10000 ms, and requests wait at most 9000 ms");
  // A slow machine without a queue refuses nobody.
  engine.queued_tokens = 0;
  engine.decode_step_seconds = 100;
  EXPECT_TRUE(check_wait({engine, kReceived}, std::chrono::seconds(1)).ok());
}

TEST(RequestSchedule, RefusesNobodyForWhomAPlaceIsFree) {
  EngineSnapshot engine;
  engine.prefill_tokens_per_second = 100;
  engine.sequences_max = 8;
  engine.prefilling = 1;
  engine.prefill_tokens = 30'000;  // of a document that somebody else, or the same one, has sent
  EXPECT_TRUE(check_wait({engine, kReceived}, std::chrono::seconds(1)).ok());
  engine.prefilling = 8;
  const Result<void> refused = check_wait({engine, kReceived}, std::chrono::seconds(1));
  ASSERT_FALSE(refused.ok());
  EXPECT_GT(refused.error().retry_after, std::chrono::seconds(100));
}

TEST(RequestSchedule, NeverAdvisesToComeBackAtOnce) {
  EngineSnapshot engine;
  engine.prefill_tokens_per_second = 500;
  engine.queued_tokens = 5'001;
  const Result<void> refused = check_wait({engine, kReceived}, std::chrono::seconds(10));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().retry_after, std::chrono::milliseconds(500));
}

TEST(RequestSchedule, ReadsTheLongestWaitOfEachClass) {
  Config config;
  config.scheduler.max_wait_seconds = 30;
  EXPECT_EQ(class_waits(config)->at(2), std::chrono::seconds(30));
  config.queue.class_wait_max_seconds = {1.5, 20, 600};
  EXPECT_EQ(class_waits(config)->at(0), std::chrono::milliseconds(1'500));
  EXPECT_EQ(class_waits(config)->at(2), std::chrono::seconds(600));
  for (const std::vector<double>& bad :
       {std::vector<double>{1, 2}, {1, 2, 3, 4}, {0, 1, 1}, {1, 1, 1e6}}) {
    config.queue.class_wait_max_seconds = bad;
    EXPECT_FALSE(class_waits(config).ok());
  }
}

TEST(RequestSchedule, RefusesWhatCameTooLateItself) {
  const auto schedule = schedule_of({{"anthropic-deadline-ms", "10"}});
  const EngineSnapshot idle;
  const auto refused = check_deadline(*schedule, AnswerShape::kStream,
                                      {idle, kReceived + std::chrono::milliseconds(17)});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "the deadline (anthropic-deadline-ms) passed 7 ms before the request could be queued");
  EXPECT_FALSE(check_deadline(*schedule, AnswerShape::kStream,
                              {idle, kReceived + std::chrono::milliseconds(10)})
                   .ok());
}

TEST(RequestTenant, IsOneForAllUnlessConfigured) {
  const RequestHead a = head_with({{"x-api-key", "a"}});
  const RequestHead b = head_with({{"authorization", "Bearer b"}});
  Config config;
  EXPECT_EQ(tenant_of(config, {}, a.headers).tenant, tenant_of(config, {}, b.headers).tenant);
  EXPECT_EQ(tenant_of(config, {}, a.headers).scope, kPublicScope);
  config.scheduler.tenant_by = TenantBy::kCredential;
  EXPECT_NE(tenant_of(config, {}, a.headers).tenant, tenant_of(config, {}, b.headers).tenant);
  EXPECT_EQ(tenant_of(config, {}, a.headers).scope, kPublicScope);
  config.cache.share = CacheShare::kTenant;
  EXPECT_NE(tenant_of(config, {}, a.headers).scope, tenant_of(config, {}, b.headers).scope);
  EXPECT_NE(tenant_of(config, {}, {}).scope, kPublicScope);
}

TEST(RequestTenant, OfBatchesIsNoClients) {
  Config config;
  EXPECT_EQ(batch_tenant(config).scope, kPublicScope);
  config.cache.share = CacheShare::kTenant;
  EXPECT_NE(batch_tenant(config).scope, kPublicScope);
  EXPECT_NE(batch_tenant(config).scope, tenant_of(config, {}, {}).scope);
}

TEST(TenantOf, AKeysTenantDecidesWhateverTheCredential) {
  Config config;
  TenantRecord record;
  record.number = TenantId{7};
  record.weight = 2.5;
  record.priority = PriorityClass::kPriority;
  const KeyRecord key;
  const Caller caller{&key, &record};
  const RequestHead head = head_with({{"x-api-key", "a"}});
  RequestTenant tenant = tenant_of(config, caller, head.headers);
  EXPECT_EQ(tenant.tenant, TenantId{7});
  EXPECT_EQ(tenant.weight, 2.5);
  EXPECT_EQ(tenant.priority, PriorityClass::kPriority);
  // Tenants are kept apart unless the operator says otherwise.
  EXPECT_EQ(tenant.scope, ScopeId{7});
  EXPECT_EQ(batch_tenant(config, record).scope, ScopeId{7});
  config.cache.share = CacheShare::kAll;
  EXPECT_EQ(tenant_of(config, caller, head.headers).scope, kPublicScope);

  const RequestSchedule schedule = read_schedule(tenant, head, kReceived).value();
  EngineRequest request;
  apply_schedule(schedule, AnswerShape::kWhole, request);
  EXPECT_EQ(request.scheduling.tenant, TenantId{7});
  EXPECT_EQ(request.scheduling.tenant_weight, 2.5);
  EXPECT_EQ(request.scheduling.priority, PriorityClass::kPriority);
  EXPECT_EQ(request.cache.scope, ScopeId{7});

  // A client may ask for less than its tenant has, never for more.
  request.scheduling.priority = PriorityClass::kBatch;
  apply_schedule(schedule, AnswerShape::kWhole, request);
  EXPECT_EQ(request.scheduling.priority, PriorityClass::kBatch);
  request.scheduling.priority = PriorityClass::kPriority;
  RequestSchedule modest = schedule;
  modest.tenant.priority = PriorityClass::kStandard;
  apply_schedule(modest, AnswerShape::kWhole, request);
  EXPECT_EQ(request.scheduling.priority, PriorityClass::kStandard);
}

TEST(RequestTenant, KnowsBothFormsOfACredential) {
  const auto credential = [](const Fields& fields) {
    return std::string(credential_of(head_with(fields).headers));
  };
  EXPECT_EQ(credential({}), "");
  EXPECT_EQ(credential({{"x-api-key", "k"}}), "k");
  EXPECT_EQ(credential({{"Authorization", "bearer  t"}}), "t");
  EXPECT_EQ(credential({{"Authorization", "Basic eA=="}}), "");
  EXPECT_EQ(credential({{"Authorization", "Bearer"}}), "");
  EXPECT_EQ(credential({{"x-api-key", "k"}, {"Authorization", "Bearer k"}}), "k");
  // Two that differ are none: which of them is meant cannot be known.
  EXPECT_EQ(credential({{"x-api-key", "k"}, {"Authorization", "Bearer t"}}), "");
}

}  // namespace
}  // namespace zerohop
