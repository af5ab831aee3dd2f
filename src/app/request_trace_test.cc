#include "app/request_trace.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "policy/pii.h"

namespace zerohop {
namespace {

constexpr const char* kTraceText = "0af7651916cd43dd8448eb211c80319c";
constexpr const char* kSpanText = "b7ad6b7169203331";

std::string parent_text(const char* flags) {
  return std::string("00-") + kTraceText + "-" + kSpanText + "-" + flags;
}

using Fields = std::vector<std::pair<std::string, std::string>>;

RequestHead head_of(const std::string& method, const Fields& fields) {
  RequestHead head;
  head.method = method;
  for (const auto& [name, value] : fields) head.headers.add(name, value);
  return head;
}

RequestTracing tracing(bool exports, double ratio = 1) {
  return RequestTracing({exports, ratio, 7});
}

TEST(RequestTracing, GoesOnWithTheTraceOfTheSender) {
  RequestTracing off = tracing(false);
  RequestTracing on = tracing(true);
  for (const auto& [flags, sampled] : {std::pair{"01", true}, {"00", false}}) {
    const RequestHead head = head_of(
        "POST",
        {{"TraceParent", parent_text(flags)}, {"tracestate", "rojo=1"}, {"tracestate", "congo=2"}});
    for (RequestTracing* one : {&off, &on}) {
      const RequestTrace trace = one->begin(head);
      EXPECT_EQ(trace_id_text(trace.trace), kTraceText);
      EXPECT_EQ(span_id_text(trace.parent), kSpanText);
      EXPECT_NE(trace.span, trace.parent);
      EXPECT_EQ(trace.sampled, sampled);
      EXPECT_EQ(trace.exported, sampled && one->exports());
      EXPECT_EQ(trace.state, "rojo=1,congo=2");
      const std::string own = span_id_text(trace.span);
      EXPECT_EQ(trace.traceparent(), std::string("00-") + kTraceText + "-" + own + "-" + flags);
    }
  }
}

TEST(RequestTracing, ASenderThatRecordsNothingIsNotOverruledNorOneThatDoes) {
  RequestTracing none = tracing(true, 0);
  RequestTracing all = tracing(true, 1);
  EXPECT_TRUE(none.begin(head_of("POST", {{"traceparent", parent_text("01")}})).exported);
  EXPECT_FALSE(all.begin(head_of("POST", {{"traceparent", parent_text("00")}})).exported);
  EXPECT_TRUE(all.begin(head_of("GET", {{"traceparent", parent_text("01")}})).exported);
}

TEST(RequestTracing, BeginsANewTraceWhereTheSendersIsMalformed) {
  for (const Fields& bad :
       {Fields{{"traceparent", "ff" + parent_text("01").substr(2)}, {"tracestate", "a=1"}},
        Fields{{"traceparent", ""}},
        Fields{{"traceparent", parent_text("01")}, {"traceparent", parent_text("01")}},
        Fields{{"traceparent", parent_text("01") + "," + parent_text("01")}}}) {
    RequestTracing off = tracing(false);
    const RequestTrace trace = off.begin(head_of("POST", bad));
    EXPECT_TRUE(trace.valid());
    EXPECT_NE(trace_id_text(trace.trace), kTraceText);
    EXPECT_FALSE(trace.parent.valid());
    EXPECT_FALSE(trace.sampled || trace.exported);
    EXPECT_EQ(trace.state, "");
    RequestTracing on = tracing(true);
    EXPECT_TRUE(on.begin(head_of("POST", bad)).exported);
    EXPECT_FALSE(on.begin(head_of("GET", bad)).sampled);
  }
}

TEST(RequestTracing, BeginsTracesByItselfOnlyForWorkThatIsExported) {
  RequestTracing off = tracing(false);
  RequestTracing on = tracing(true);
  EXPECT_FALSE(off.begin(head_of("POST", {})).valid());
  EXPECT_FALSE(off.begin(head_of("POST", {{"tracestate", "a=1"}, {"trace-parent", "x"}})).valid());
  EXPECT_FALSE(on.begin(head_of("GET", {})).valid());
  const RequestTrace trace = on.begin(head_of("POST", {{"tracestate", "a=1"}}));
  EXPECT_TRUE(trace.valid() && trace.sampled && trace.exported);
  EXPECT_FALSE(trace.parent.valid());
  EXPECT_EQ(trace.state, "");
}

TEST(RequestTracing, IdsDifferAndNoRedactorTakesThemForSomethingElse) {
  RequestTracing on = tracing(true);
  std::set<std::string> seen;
  for (int i = 0; i < 20'000; ++i) {
    const RequestTrace trace = on.begin(head_of("POST", {}));
    const std::string span = span_id_text(trace.span);
    EXPECT_TRUE(seen.insert(trace_id_text(trace.trace)).second);
    EXPECT_TRUE(seen.insert(span).second);
    EXPECT_NE(span.find_first_of("abcdef"), std::string::npos) << span;
    EXPECT_TRUE(find_pii(span).empty()) << span;
    EXPECT_TRUE(find_pii(trace_id_text(trace.trace)).empty()) << trace_id_text(trace.trace);
  }
}

// The rule of TraceIdRatioBased in OpenTelemetry's SDKs: the last 63 bits of the id as a fraction.
TEST(RequestTracing, TheRatioIsDecidedByTheIdAlone) {
  TraceId id;
  id.bytes.fill(0xff);
  std::fill(id.bytes.begin() + 8, id.bytes.end(), 0);
  EXPECT_TRUE(RequestTracing::within(id, 1e-9));
  EXPECT_FALSE(RequestTracing::within(id, 0));
  id.bytes[8] = 0x80;  // a half
  EXPECT_FALSE(RequestTracing::within(id, 0.5));
  EXPECT_TRUE(RequestTracing::within(id, 0.51));
  id.bytes.fill(0xff);
  EXPECT_FALSE(RequestTracing::within(id, 0.999'999));
  EXPECT_TRUE(RequestTracing::within(id, 1));
  RequestTracing some = tracing(true, 0.25);
  int sampled = 0;
  for (int i = 0; i < 10'000; ++i) sampled += some.begin(head_of("POST", {})).exported ? 1 : 0;
  EXPECT_GT(sampled, 2'200);
  EXPECT_LT(sampled, 2'800);
}

}  // namespace
}  // namespace zerohop
