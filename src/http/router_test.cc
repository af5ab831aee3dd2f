#include "http/router.h"

#include <gtest/gtest.h>

#include <string>

#include "http/exchange.h"

namespace zerohop {
namespace {

Handler nothing() {
  return [](Exchange&) -> Awaitable<void> { co_return; };
}

Router sample() {
  Router router;
  router.add("GET", "/", nothing());
  router.add("GET", "/v1/models/{id...}", nothing());
  router.add("GET", "/v1/batches/{id}", nothing());
  router.add("DELETE", "/v1/batches/{id}", nothing());
  router.add("GET", "/v1/batches/{id}/results", nothing());
  router.add("POST", "/v1/batches/special", nothing());
  router.add("GET", "/v1/models", nothing());
  return router;
}

TEST(Router, FindsLiteralsAndCaptures) {
  const Router router = sample();
  EXPECT_EQ(router.match("GET", "/").pattern, "/");
  EXPECT_EQ(router.match("GET", "/v1/models").pattern, "/v1/models");
  const RouteMatch batch = router.match("DELETE", "/v1/batches/b_1");
  ASSERT_EQ(batch.outcome, RouteOutcome::kFound);
  EXPECT_EQ(batch.pattern, "/v1/batches/{id}");
  EXPECT_EQ(batch.parameters.get("id"), "b_1");
  EXPECT_EQ(router.match("GET", "/v1/batches/b_1/results").pattern, "/v1/batches/{id}/results");
}

TEST(Router, RestTakesSlashesEscapedOrNot) {
  const Router router = sample();
  EXPECT_EQ(router.match("GET", "/v1/models/org/name:tag").parameters.get("id"), "org/name:tag");
  EXPECT_EQ(router.match("GET", "/v1/models/org%2Fname").parameters.get("id"), "org/name");
}

TEST(Router, EscapedLiteralsAreTheSameSegments) {
  EXPECT_EQ(sample().match("GET", "/v1/%6dodels").pattern, "/v1/models");
  EXPECT_EQ(sample().match("GET", "/v1%2Fmodels").outcome, RouteOutcome::kUnknownPath);
}

TEST(Router, TheMostSpecificPatternWithTheMethodWins) {
  const Router router = sample();
  EXPECT_EQ(router.match("POST", "/v1/batches/special").pattern, "/v1/batches/special");
  EXPECT_EQ(router.match("GET", "/v1/batches/special").pattern, "/v1/batches/{id}");
}

TEST(Router, OrderOfAddingDoesNotMatter) {
  Router router;
  router.add("GET", "/a/{x...}", nothing());
  router.add("GET", "/a/{x}", nothing());
  router.add("GET", "/a/b", nothing());
  EXPECT_EQ(router.match("GET", "/a/b").pattern, "/a/b");
  EXPECT_EQ(router.match("GET", "/a/c").pattern, "/a/{x}");
  EXPECT_EQ(router.match("GET", "/a/c/d").pattern, "/a/{x...}");
}

TEST(Router, HeadFallsBackToGet) {
  EXPECT_EQ(sample().match("HEAD", "/v1/models").pattern, "/v1/models");
  EXPECT_EQ(sample().match("head", "/v1/models").outcome, RouteOutcome::kWrongMethod);
}

TEST(Router, TellsUnknownPathsFromWrongMethods) {
  const Router router = sample();
  EXPECT_EQ(router.match("GET", "/v2").outcome, RouteOutcome::kUnknownPath);
  EXPECT_EQ(router.match("GET", "/v1/batches").outcome, RouteOutcome::kUnknownPath);
  const RouteMatch wrong = router.match("PUT", "/v1/batches/special");
  EXPECT_EQ(wrong.outcome, RouteOutcome::kWrongMethod);
  EXPECT_EQ(wrong.allow, "DELETE, GET, HEAD, OPTIONS, POST");
  EXPECT_EQ(router.match("OPTIONS", "/v1/models").outcome, RouteOutcome::kOptions);
  EXPECT_EQ(router.match("OPTIONS", "/v2").outcome, RouteOutcome::kUnknownPath);
  EXPECT_EQ(router.match("OPTIONS", "*").outcome, RouteOutcome::kOptions);
  EXPECT_EQ(router.match("GET", "*").outcome, RouteOutcome::kUnknownPath);
}

TEST(Router, RefusesMalformedEscapes) {
  EXPECT_EQ(sample().match("GET", "/v1/batches/%4").outcome, RouteOutcome::kBadPath);
}

TEST(RouterDeathTest, TheSameRouteTwiceIsABug) {
  Router router = sample();
  EXPECT_DEATH(router.add("GET", "/v1/models", nothing()), "check failed");
  EXPECT_DEATH(router.add("GET", "no-slash", nothing()), "check failed");
  EXPECT_DEATH(router.add("GET", "/a/{rest...}/b", nothing()), "check failed");
}

}  // namespace
}  // namespace zerohop
