#include "app/otlp_span_text.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace zerohop {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

SpanRecord answered() {
  SpanRecord span;
  span.trace.trace.bytes.fill(0xab);
  span.trace.span.bytes.fill(0x12);
  span.trace.parent.bytes.fill(0xcd);
  span.trace.sampled = span.trace.exported = true;
  span.trace.state = "rojo=1";
  span.operation = "chat";
  span.began = WallTime(std::chrono::seconds(1'700'000'000));
  RequestRecord& request = span.request;
  request.id = "req_1";
  request.tenant = "acme";
  request.method = "POST";
  request.route = "/v1/messages";
  request.peer = "10.0.0.7";
  request.user_agent = "probe/1.0";
  request.model = "small";
  request.tier = "smollm2";
  request.class_name = "standard";
  request.streamed = true;
  request.status = 200;
  request.end = "completed";
  request.state = RequestState::kDone;
  request.usage.prompt_tokens = 30;
  request.usage.prompt_tokens_cached = 20;
  request.usage.output_tokens = 7;
  request.max_tokens = 64;
  request.stop_reason = "end_turn";
  request.miss_cause = "none";
  request.error_message = "never told";
  request.key = "key_never_told";
  request.total = milliseconds(500);
  request.first_token = milliseconds(120);
  request.labels = {{"channel", "web"}};
  span.phases = {{"queue", milliseconds(10), milliseconds(20)},
                 {"prefill", milliseconds(20), milliseconds(120)}};
  return span;
}

Endpoint place() {
  Endpoint endpoint;
  endpoint.host = "127.0.0.1";
  endpoint.port = 8080;
  return endpoint;
}

otlp::Resource sender() { return {"llm", "1.2.3", "cpu-1", "cpu", {}, {}}; }

std::string text_of(const SpanRecord& span) {
  return otlp_span_text(std::vector<SpanRecord>{span}, place(), sender());
}

json::array spans_of(const SpanRecord& span) {
  return json::parse(text_of(span)).at_pointer("/resourceSpans/0/scopeSpans/0/spans").as_array();
}

// The values of attributes, as they are written.
std::map<std::string, std::string> attributes_of(const json::value& span) {
  std::map<std::string, std::string> attributes;
  for (const json::value& one : span.at("attributes").as_array()) {
    const std::string key(one.at("key").as_string());
    EXPECT_TRUE(attributes.emplace(key, json::serialize(one.at("value"))).second) << key;
  }
  return attributes;
}

TEST(OtlpSpanText, IsTheJsonFormOfOneRequestAndItsPhases) {
  SpanRecord span = answered();
  span.phases.resize(1);
  span.operation = {};
  span.request = {};
  span.request.method = "GET";
  span.request.route = "/v1/models";
  span.request.status = 200;
  span.request.end = "completed";
  span.request.total = milliseconds(500);
  EXPECT_EQ(text_of(span),
            R"({"resourceSpans":[{"resource":{"attributes":[)"
            R"({"key":"service.name","value":{"stringValue":"llm"}},)"
            R"({"key":"service.version","value":{"stringValue":"1.2.3"}},)"
            R"({"key":"service.instance.id","value":{"stringValue":"cpu-1"}},)"
            R"({"key":"instance_id","value":{"stringValue":"cpu-1"}},)"
            R"({"key":"pool","value":{"stringValue":"cpu"}}]},)"
            R"("scopeSpans":[{"scope":{"name":"zerohop","version":"1.2.3"},"spans":[)"
            R"({"traceId":"abababababababababababababababab","spanId":"1212121212121212",)"
            R"("parentSpanId":"cdcdcdcdcdcdcdcd","traceState":"rojo=1","flags":769,)"
            R"("name":"GET /v1/models","kind":2,)"
            R"("startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000500000000",)"
            R"("attributes":[{"key":"http.request.method","value":{"stringValue":"GET"}},)"
            R"({"key":"http.route","value":{"stringValue":"/v1/models"}},)"
            R"({"key":"http.response.status_code","value":{"intValue":"200"}},)"
            R"({"key":"url.scheme","value":{"stringValue":"http"}},)"
            R"({"key":"server.address","value":{"stringValue":"127.0.0.1"}},)"
            R"({"key":"server.port","value":{"intValue":"8080"}},)"
            R"({"key":"zerohop.end","value":{"stringValue":"completed"}},)"
            R"({"key":"zerohop.state","value":{"stringValue":"idle"}}]},)"
            R"({"traceId":"abababababababababababababababab","spanId":")" +
                std::string(spans_of(span).at(1).at("spanId").as_string()) +
                R"(","parentSpanId":"1212121212121212","traceState":"rojo=1","flags":257,)"
                R"("name":"queue","kind":1,)"
                R"("startTimeUnixNano":"1700000000010000000",)"
                R"("endTimeUnixNano":"1700000000020000000","attributes":[]}]}]}]})");
}

TEST(OtlpSpanText, FollowsTheConventionsForGenerativeModels) {
  const json::array spans = spans_of(answered());
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0].at("name").as_string(), "chat small");
  const auto attributes = attributes_of(spans[0]);
  const std::map<std::string, std::string> expected{
      {"gen_ai.operation.name", R"({"stringValue":"chat"})"},
      {"gen_ai.provider.name", R"({"stringValue":"zerohop"})"},
      {"gen_ai.request.model", R"({"stringValue":"small"})"},
      {"gen_ai.request.max_tokens", R"({"intValue":"64"})"},
      {"gen_ai.response.model", R"({"stringValue":"smollm2"})"},
      {"gen_ai.response.finish_reasons",
       R"({"arrayValue":{"values":[{"stringValue":"end_turn"}]}})"},
      {"gen_ai.usage.input_tokens", R"({"intValue":"30"})"},
      {"gen_ai.usage.cache_read.input_tokens", R"({"intValue":"20"})"},
      {"gen_ai.usage.output_tokens", R"({"intValue":"7"})"},
      {"zerohop.request.id", R"({"stringValue":"req_1"})"},
      {"zerohop.request.label.channel", R"({"stringValue":"web"})"},
      {"zerohop.stream", R"({"boolValue":true})"},
      {"zerohop.first_token_ms", R"({"doubleValue":120})"},
      {"client.address", R"({"stringValue":"10.0.0.7"})"}};
  for (const auto& [key, value] : expected) {
    ASSERT_TRUE(attributes.contains(key)) << key;
    EXPECT_EQ(json::parse(attributes.at(key)), json::parse(value)) << key;
  }
  EXPECT_FALSE(attributes.contains("error.type"));
  EXPECT_FALSE(spans[0].as_object().contains("status"));
}

TEST(OtlpSpanText, HasNeitherKeysNorMessages) {
  EXPECT_EQ(text_of(answered()).find("never"), std::string::npos);
}

TEST(OtlpSpanText, PhasesAreSpansOfTheirOwnBelowTheRequest) {
  const json::array spans = spans_of(answered());
  std::set<std::string> ids;
  for (const json::value& span : spans) {
    EXPECT_TRUE(ids.insert(std::string(span.at("spanId").as_string())).second);
    EXPECT_EQ(span.at("traceId"), spans[0].at("traceId"));
  }
  EXPECT_EQ(spans[0].at("parentSpanId").as_string(), "cdcdcdcdcdcdcdcd");
  for (std::size_t i = 1; i < spans.size(); ++i) {
    EXPECT_EQ(spans[i].at("parentSpanId"), spans[0].at("spanId"));
    EXPECT_EQ(spans[i].at("spanId").as_string().size(), 16u);
    EXPECT_EQ(spans[i].at("kind").as_int64(), 1);
  }
  EXPECT_EQ(spans[2].at("startTimeUnixNano").as_string(), "1700000000020000000");
  EXPECT_EQ(spans[2].at("endTimeUnixNano").as_string(), "1700000000120000000");
}

TEST(OtlpSpanText, ARootHasNoParentAndNoState) {
  SpanRecord span = answered();
  span.trace.parent = {};
  span.trace.state.clear();
  const json::value root = spans_of(span)[0];
  EXPECT_FALSE(root.as_object().contains("parentSpanId"));
  EXPECT_FALSE(root.as_object().contains("traceState"));
  EXPECT_EQ(root.at("flags").as_int64(), 0x101);
}

struct Failure {
  int status;
  const char* end;
  const char* code;
  const char* type;  // "": none is told
  bool error;
};

TEST(OtlpSpanText, OnlyTheServersFaultsAreErrors) {
  for (const Failure& failure :
       std::vector<Failure>{{200, "completed", "", "", false},
                            {200, "completed", "model_failure", "model_failure", true},
                            {200, "aborted", "", "aborted", true},
                            {0, "peer_gone", "", "", false},
                            {400, "completed", "invalid_request", "invalid_request", false},
                            {429, "completed", "rate_limited", "rate_limited", false},
                            {500, "completed", "", "500", true},
                            {529, "completed", "overloaded", "overloaded", true}}) {
    SpanRecord span = answered();
    span.request.status = failure.status;
    span.request.end = failure.end;
    span.request.error_code = failure.code;
    const json::value told = spans_of(span)[0];
    const auto attributes = attributes_of(told);
    const auto type = attributes.find("error.type");
    EXPECT_EQ(
        type == attributes.end() ? "" : json::parse(type->second).at("stringValue").as_string(),
        failure.type);
    const json::value* status = told.as_object().if_contains("status");
    ASSERT_EQ(status != nullptr, failure.error) << failure.status << failure.end;
    if (status != nullptr) {
      EXPECT_EQ(status->at("code").as_int64(), 2);
    }
  }
}

TEST(OtlpSpanText, WhateverStrangersSendIsOneTextInside) {
  SpanRecord span = answered();
  span.request.model = "a\"b\\c\n\x01 \xff\xfe \xe2\x82\xac";
  span.request.method = "BREW\"";
  span.operation = {};
  span.request.labels = {{"channel", std::string("\0x", 2)}};
  const auto attributes = attributes_of(spans_of(span)[0]);
  EXPECT_NE(attributes.at("http.request.method").find("_OTHER"), std::string::npos);
  span.operation = "chat";
  EXPECT_TRUE(spans_of(span)[0].at("name").as_string().starts_with("chat a\"b\\c\n\x01 "));
}

TEST(OtlpResource, OwnAttributesStandInPlaceOfOurs) {
  otlp::Resource resource = sender();
  resource.labels = {{"zone", "a"}};
  resource.attributes = {{"pool", "mine"}, {"deployment.environment.name", "test"}};
  std::string out;
  otlp::begin_payload(out, "Spans", resource);
  otlp::end_payload(out);
  const auto attributes = attributes_of(json::parse(out).at_pointer("/resourceSpans/0/resource"));
  EXPECT_EQ(attributes.at("pool"), R"({"stringValue":"mine"})");
  EXPECT_EQ(attributes.at("deployment.environment.name"), R"({"stringValue":"test"})");
  EXPECT_EQ(attributes.at("zerohop.instance.label.zone"), R"({"stringValue":"a"})");
  EXPECT_EQ(attributes.at("service.instance.id"), R"({"stringValue":"cpu-1"})");
}

TEST(OperationOf, IsWhatTheRouteAsksOfTheModel) {
  EXPECT_EQ(operation_of("/v1/messages"), "chat");
  EXPECT_EQ(operation_of("/v1/v1/chat/completions"), "chat");
  EXPECT_EQ(operation_of("/responses"), "chat");
  EXPECT_EQ(operation_of("/v1/completions"), "text_completion");
  EXPECT_EQ(operation_of("/v1/embeddings"), "embeddings");
  EXPECT_EQ(operation_of("/v1/messages/count_tokens"), "");
  EXPECT_EQ(operation_of("/v1/messages/batches"), "");
  EXPECT_EQ(operation_of(""), "");
}

}  // namespace
}  // namespace zerohop
