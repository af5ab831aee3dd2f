// Traces as clients, the log, the history and a collector see them.
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/request_history.h"
#include "app/test_collector.h"
#include "app/test_folder.h"
#include "app/test_server.h"

namespace zerohop {
namespace {

namespace json = boost::json;

constexpr const char* kTraceText = "0af7651916cd43dd8448eb211c80319c";
constexpr const char* kSpanText = "b7ad6b7169203331";
const std::string kSampled = std::string("00-") + kTraceText + "-" + kSpanText + "-01";
const std::string kUnsampled = kSampled.substr(0, 53) + "00";

const std::string kHello =
    R"({"model":"fake","max_tokens":7,"messages":[{"role":"user","content":"Zebras only"}]})";

TestRequest hello(const std::string& headers) { return {"/v1/messages", kHello, headers}; }

std::string parent_line(const std::string& value) { return "traceparent: " + value + "\r\n"; }

TestServerOptions exporting(const TestCollector& collector) {
  TestServerOptions options;
  options.model = always_says("A quiet sentence.");
  options.configure = [url = collector.url()](Config& config) {
    config.otlp.endpoint = url;
    config.otlp.interval_seconds = 3'600;  // everything comes at the end
  };
  return options;
}

using Attributes = std::map<std::string, json::value>;

Attributes attributes_of(const json::value& span) {
  Attributes attributes;
  for (const json::value& one : span.at("attributes").as_array()) {
    attributes[std::string(one.at("key").as_string())] = one.at("value");
  }
  return attributes;
}

std::string text_in(const Attributes& attributes, const std::string& key) {
  const auto found = attributes.find(key);
  return found == attributes.end() ? "(none)" : text_at(found->second, "/stringValue");
}

std::uint64_t long_in(const json::value& value, const char* name) {
  return std::stoull(std::string(value.at(name).as_string()));
}

TEST(ServerTracing, AnswersCarryTheServersOwnSpanOfTheClientsTrace) {
  const RunningServer server(always_says("A quiet sentence."));
  const std::string state = "tracestate: rojo=1\r\nTraceState: congo=2\r\n";
  for (const TestRequest& request :
       {hello(parent_line(kSampled) + state),
        TestRequest{"/healthz", "", parent_line(kSampled) + state, "GET"},
        TestRequest{"/nowhere", "", parent_line(kSampled) + state, "GET"},
        TestRequest{"/v1/messages", "{", parent_line(kSampled) + state}}) {
    const Answer answer = ask(server, request);
    const std::string own = answer.header("traceparent");
    ASSERT_EQ(own.size(), 55u) << request.path;
    EXPECT_EQ(own.substr(0, 36), kSampled.substr(0, 36)) << request.path;
    EXPECT_NE(own.substr(36, 16), kSpanText);
    EXPECT_EQ(own.substr(53), "01");
    EXPECT_EQ(answer.header("tracestate"), "rojo=1,congo=2");
  }
  EXPECT_EQ(ask(server, hello(parent_line(kUnsampled))).header("traceparent").substr(53), "00");
}

TEST(ServerTracing, WithoutAnExporterOnlyWhoAsksIsTraced) {
  const RunningServer server(always_says("A quiet sentence."));
  EXPECT_EQ(ask(server, hello("")).header("traceparent"), "");
  EXPECT_EQ(ask(server, hello("tracestate: a=1\r\n")).header("tracestate"), "");
  const Answer answer = ask(server, hello(parent_line("00-xyz") + "tracestate: a=1\r\n"));
  EXPECT_EQ(answer.status, 200);
  const std::string fresh = answer.header("traceparent");
  ASSERT_EQ(fresh.size(), 55u);
  EXPECT_EQ(fresh.substr(53), "00");
  EXPECT_EQ(answer.header("tracestate"), "");
  EXPECT_EQ(metric(server, "zerohop_otlp_exports_total", ""), 0);
}

TEST(ServerTracing, TheHistoryNamesTraceAndSpan) {
  const RunningServer server(always_says("A quiet sentence."));
  const Answer traced = ask(server, hello(parent_line(kSampled)));
  ask(server, hello(""));
  server.settle();
  const json::value list = get(server, "/v1/requests").json();
  EXPECT_EQ(text_at(list, "/data/1/trace_id"), kTraceText);
  EXPECT_EQ(text_at(list, "/data/1/span_id"), traced.header("traceparent").substr(36, 16));
  EXPECT_EQ(text_at(list, "/data/0/trace_id"), "(none)");
  const json::value one = get(server, "/v1/requests/" + traced.header("request-id")).json();
  EXPECT_EQ(text_at(one, "/trace_id"), kTraceText);
}

TEST(ServerTracing, TheLogLineNamesTraceAndSpan) {
  log_configure({LogLevel::kInfo, LogFormat::kJson});
  testing::internal::CaptureStderr();
  std::string own;
  {
    const RunningServer server(always_says("A quiet sentence."));
    own = ask(server, hello(parent_line(kSampled))).header("traceparent");
  }
  const std::string log = testing::internal::GetCapturedStderr();
  log_configure({});
  EXPECT_NE(log.find(R"("trace_id":")" + std::string(kTraceText) + R"(","span_id":")" +
                     own.substr(36, 16) + R"(")"),
            std::string::npos)
      << log;
}

TEST(ServerTracing, ASpanTellsWhatTheRequestWas) {
  const TestCollector collector;
  Answer answer;
  {
    const RunningServer server(exporting(collector));
    answer = ask(server, hello(parent_line(kSampled) + "tracestate: rojo=1\r\n"));
  }
  const auto spans = collector.spans();
  ASSERT_GE(spans.size(), 5u);
  const json::value& root = spans[0];
  EXPECT_EQ(text_at(root, "/traceId"), kTraceText);
  EXPECT_EQ(text_at(root, "/parentSpanId"), kSpanText);
  EXPECT_EQ(text_at(root, "/spanId"), answer.header("traceparent").substr(36, 16));
  EXPECT_EQ(text_at(root, "/traceState"), "rojo=1");
  EXPECT_EQ(text_at(root, "/name"), "chat fake");
  EXPECT_EQ(number_at(root, "/kind"), 2);
  const Attributes attributes = attributes_of(root);
  EXPECT_EQ(text_in(attributes, "gen_ai.request.model"), "fake");
  EXPECT_EQ(text_in(attributes, "zerohop.request.id"), answer.header("request-id"));
  const json::value body = answer.json();
  for (const auto& [attribute, usage] : {std::pair{"gen_ai.usage.input_tokens", "input_tokens"},
                                         {"gen_ai.usage.output_tokens", "output_tokens"}}) {
    EXPECT_EQ(text_at(attributes.at(attribute), "/intValue"),
              text_at(body, std::string("/usage/") + usage))
        << attribute;
  }
  EXPECT_EQ(
      text_at(attributes.at("gen_ai.response.finish_reasons"), "/arrayValue/values/0/stringValue"),
      text_at(body, "/stop_reason"));
}

TEST(ServerTracing, PhasesLieBehindEachOtherInsideTheirRequest) {
  const TestCollector collector;
  {
    const RunningServer server(exporting(collector));
    ask(server, hello(""));
    json::object stream = json::parse(kHello).as_object();
    stream["stream"] = true;
    ask(server, {"/v1/messages", json::serialize(stream), ""});
  }
  const auto spans = collector.spans();
  std::optional<json::value> root;
  std::vector<std::string> names;
  std::uint64_t before = 0;
  for (const json::value& span : spans) {
    const std::uint64_t begin = long_in(span, "startTimeUnixNano");
    const std::uint64_t end = long_in(span, "endTimeUnixNano");
    EXPECT_LE(begin, end);
    if (number_at(span, "/kind") == 2) {
      root = span;
      before = begin;
      continue;
    }
    ASSERT_TRUE(root.has_value());
    names.push_back(text_at(span, "/name"));
    EXPECT_EQ(text_at(span, "/parentSpanId"), text_at(*root, "/spanId"));
    EXPECT_EQ(text_at(span, "/traceId"), text_at(*root, "/traceId"));
    EXPECT_GE(begin, before) << names.back();
    EXPECT_LE(end, long_in(*root, "endTimeUnixNano")) << names.back();
    before = begin;
  }
  // The fake model may compute in less time than it takes to look at the clock.
  for (const char* phase : {"receive", "prepare", "queue"}) {
    EXPECT_EQ(std::ranges::count(names, phase), 2) << phase;
  }
}

TEST(ServerTracing, RefusalsAndFailuresAreSpansWithTheirCause) {
  const TestCollector collector;
  {
    const RunningServer server(exporting(collector));
    post(server, "/v1/messages", R"({"model":"fake","max_tokens":7,"messages":5})");
    post(server, "/v1/embeddings", R"({"model":"fake","input":"Zebras only"})");
    post(server, "/v1/messages/count_tokens", kHello);
    get(server, "/healthz");
  }
  std::vector<json::value> roots;
  for (const json::value& span : collector.spans()) {
    if (number_at(span, "/kind") == 2) roots.push_back(span);
  }
  ASSERT_EQ(roots.size(), 3u);  // nobody asked for the probe's
  const Attributes refused = attributes_of(roots[0]);
  EXPECT_EQ(text_in(refused, "error.type"), "invalid_request");
  EXPECT_EQ(text_at(refused.at("http.response.status_code"), "/intValue"), "400");
  EXPECT_FALSE(refused.contains("gen_ai.usage.input_tokens"));
  EXPECT_EQ(text_at(roots[0], "/status"), "(none)");
  EXPECT_EQ(text_in(attributes_of(roots[1]), "gen_ai.operation.name"), "embeddings");
  EXPECT_EQ(text_at(roots[2], "/name"), "POST /v1/messages/count_tokens");
}

// What never happened is no span: a list has no body, and what is refused at its head neither.
TEST(ServerTracing, HasNoPhaseThatDidNotHappen) {
  const TestCollector collector;
  TestServerOptions options = exporting(collector);
  const TestFolder folder;
  options.batches = folder.path();
  options.configure = [configure = options.configure](Config& config) {
    configure(config);
    config.limits.tenant_defaults = {{"requests_per_minute", "2"}};
  };
  const std::string parent = parent_line(kSampled);
  {
    const RunningServer server(options);
    EXPECT_EQ(ask(server, {"/v1/models", "", parent, "GET"}).status, 200);
    EXPECT_EQ(ask(server, {"/nowhere", kHello, parent}).status, 404);
    EXPECT_EQ(ask(server, {"/v1/messages", R"({"messages":5})", parent}).status, 400);
    EXPECT_EQ(ask(server, {"/v1/messages/batches", R"({"requests":5})", parent}).status, 400);
    EXPECT_EQ(ask(server, hello(parent)).status, 429);
  }
  std::map<std::string, std::string> phases;  // of each root
  std::string root;
  for (const json::value& span : collector.spans()) {
    if (number_at(span, "/kind") == 2) {
      root = text_at(span, "/name") + " " +
             text_at(attributes_of(span).at("http.response.status_code"), "/intValue");
      phases[root];
    } else {
      phases[root] += text_at(span, "/name") + ",";
    }
  }
  EXPECT_EQ(phases, (std::map<std::string, std::string>{
                        {"GET /v1/models 200", ""},
                        {"POST 404", ""},
                        {"chat 400", "receive,prepare,"},
                        {"POST /v1/messages/batches 400", "receive,prepare,"},
                        {"chat 429", ""}}));
}

TEST(ServerTracing, TheSendersChoiceIsRespectedAndTheRatioDecidesForTheOthers) {
  const TestCollector collector;
  TestServerOptions options = exporting(collector);
  options.configure = [configure = options.configure](Config& config) {
    configure(config);
    config.otlp.sample_ratio = 0;
  };
  {
    const RunningServer server(options);
    const Answer own = ask(server, hello(""));
    EXPECT_EQ(own.header("traceparent").substr(53), "00");
    ask(server, hello(parent_line(kUnsampled)));
    ask(server, hello(parent_line(kSampled)));
  }
  std::size_t roots = 0;
  for (const json::value& span : collector.spans()) {
    roots += number_at(span, "/kind") == 2 ? 1 : 0;
    EXPECT_EQ(text_at(span, "/traceId"), kTraceText);
  }
  EXPECT_EQ(roots, 1u);
}

TEST(ServerTracing, NothingOfAPromptOrAnAnswerOrAKeyIsExported) {
  const TestCollector collector;
  {
    const RunningServer server(exporting(collector));
    ask(server, hello("x-api-key: sk-zebras-only-key\r\nuser-agent: jo@example.org\r\n"));
    post(server, "/v1/messages",
         R"({"model":"fake","max_tokens":7,"messages":[{"role":"Zebras only"}]})");
    post(server, "/v1/embeddings", R"({"model":"fake","input":"Zebras only"})");
  }
  ASSERT_GE(collector.received().size(), 2u);
  for (const auto& one : collector.received()) {
    for (const char* word : {"Zebras", "zebras", "quiet sentence", "jo@example.org"}) {
      EXPECT_EQ(one.body.find(word), std::string::npos) << word << "\n" << one.body;
    }
  }
}

TEST(ServerTracing, StrangersFillNobodysTraces) {
  const TestCollector collector;
  TestServerOptions options = exporting(collector);
  options.configure = [configure = options.configure](Config& config) {
    configure(config);
    config.auth.required = AuthRequired::kAlways;
    config.otlp.metrics = false;
  };
  {
    const RunningServer server(options);
    const Answer answer = ask(server, hello(parent_line(kSampled) + "x-api-key: wrong\r\n"));
    EXPECT_EQ(answer.status, 401);
    EXPECT_EQ(answer.header("traceparent").size(), 55u);
  }
  EXPECT_TRUE(collector.received().empty());
}

TEST(ServerTracing, TheLastMetricsAreThoseOfThePage) {
  const TestCollector collector;
  double page = 0;
  {
    const RunningServer server(exporting(collector));
    ask(server, hello(""));
    ask(server, hello(""));
    server.settle();
    page = metric(server, "zerohop_http_requests_total", R"(route="/v1/messages",status="200")");
  }
  EXPECT_EQ(page, 2);
  std::optional<std::string> told;
  for (const auto& one : collector.received()) {
    if (one.path != "/v1/metrics") continue;
    const json::value body = json::parse(one.body);
    for (const json::value& metric :
         body.at_pointer("/resourceMetrics/0/scopeMetrics/0/metrics").as_array()) {
      if (text_at(metric, "/name") != "zerohop_http_requests_total") continue;
      for (const json::value& point : metric.at_pointer("/sum/dataPoints").as_array()) {
        const Attributes labels = attributes_of(point);
        if (text_in(labels, "route") == "/v1/messages") told = text_at(point, "/asInt");
      }
    }
  }
  EXPECT_EQ(told, "2");
}

}  // namespace
}  // namespace zerohop
