// The exporter against collectors that take what comes, that refuse it, and that are not there.
#include "app/otlp_exporter.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <fstream>
#include <set>
#include <string>

#include "app/test_collector.h"
#include "app/test_folder.h"

namespace zerohop {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Config config_for(const std::string& endpoint) {
  Config config;
  config.instance.id = "test-1";
  config.otlp.endpoint = endpoint;
  config.otlp.interval_seconds = 3'600;  // what is to come, comes by other causes
  config.otlp.metrics = false;
  return config;
}

// An exporter on an I/O thread of its own: that of the test.
class Sender {
 public:
  explicit Sender(const Config& config) : service_(config, clock_) {
    OtlpExporterParts parts;
    parts.service = &service_;
    parts.server.host = "127.0.0.1";
    parts.server.port = 8080;
    parts.environment = {{"COLLECTOR_TOKEN", "Bearer secret-token"}};
    parts.backoff_first = milliseconds(1);
    auto opened = OtlpExporter::open(std::move(parts), io_.get_executor());
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    exporter_ = std::move(opened).value();
    OtlpExporter::start(exporter_);
    io_.poll();
  }
  ~Sender() {
    finish();
    service_.workers.join();
    service_.waiters.join();
  }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  // Of requests with so many phases.
  void add(std::size_t requests, std::size_t phases = 0) {
    for (std::size_t i = 0; i < requests; ++i) {
      SpanRecord span;
      span.trace.trace.bytes.fill(0x11);
      span.trace.span.bytes.fill(0x22);
      span.trace.sampled = span.trace.exported = true;
      span.request.id = "req_" + std::to_string(added_++);
      span.phases.assign(phases, {"decode", seconds(1), seconds(2)});
      service_.spans.add(std::move(span));
    }
  }

  /// Runs until `condition` holds. False: it never did.
  bool run_until(const std::function<bool()>& condition) {
    const TimePoint deadline = clock_.now() + seconds(30);
    while (!condition() && clock_.now() < deadline) io_.run_one_for(milliseconds(5));
    return condition();
  }
  /// To its end.
  void finish() {
    exporter_->finish();
    io_.run();
    io_.restart();
  }

  std::uint64_t lost(const char* cause) {
    return service_.registry.counter("zerohop_otlp_spans_dropped_total", {cause}).value();
  }
  std::uint64_t exports(const char* result, const char* signal = "traces") {
    return service_.registry.counter("zerohop_otlp_exports_total", {signal, result}).value();
  }
  Service& service() { return service_; }

 private:
  const SteadyClock clock_;
  Service service_;
  boost::asio::io_context io_;
  std::shared_ptr<OtlpExporter> exporter_;
  std::size_t added_ = 0;
};

// zerohop.request.id of each span, in the order of arrival.
std::vector<std::string> ids_in(const TestCollector& collector) {
  std::vector<std::string> ids;
  for (const boost::json::value& span : collector.spans()) {
    for (const boost::json::value& attribute : span.at("attributes").as_array()) {
      if (attribute.at("key").as_string() != "zerohop.request.id") continue;
      ids.emplace_back(attribute.at_pointer("/value/stringValue").as_string());
    }
  }
  return ids;
}

TEST(OtlpExporter, SendsWhatWaitsAtTheEnd) {
  const TestCollector collector;
  Sender sender(config_for(collector.url()));
  sender.add(3);
  EXPECT_TRUE(collector.received().empty());
  sender.finish();
  EXPECT_EQ(ids_in(collector), (std::vector<std::string>{"req_0", "req_1", "req_2"}));
  const auto received = collector.received();
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0].content_type, "application/json");
  EXPECT_EQ(received[0].authorization, "");
  EXPECT_EQ(sender.exports("ok"), 1u);
}

TEST(OtlpExporter, SendsBeforeItsTimeWhenABatchIsFull) {
  const TestCollector collector;
  Sender sender(config_for(collector.url()));
  sender.add(OtlpExporter::kBatchMax + 10);
  EXPECT_TRUE(sender.run_until([&] { return sender.exports("ok") == 2; }));
  EXPECT_EQ(ids_in(collector).size(), OtlpExporter::kBatchMax + 10);
  EXPECT_EQ(sender.lost("queue_full"), 0u);
}

TEST(OtlpExporter, SendsEveryInterval) {
  const TestCollector collector;
  Config config = config_for(collector.url());
  config.otlp.interval_seconds = 1;
  config.otlp.metrics = true;
  Sender sender(config);
  sender.add(1);
  EXPECT_TRUE(sender.run_until([&] { return sender.exports("ok", "metrics") == 2; }));
  EXPECT_EQ(sender.exports("ok"), 1u);  // nothing is sent where nothing waits
  for (const auto& one : collector.received()) {
    EXPECT_EQ(boost::json::parse(one.body).as_object().contains("resourceMetrics"),
              one.path == "/v1/metrics");
  }
}

TEST(OtlpExporter, SendsTheSameSpansAgainWhereItIsToldTo) {
  for (const int status : {429, 502, 503, 504}) {
    const TestCollector collector([status](std::size_t number, const TestCollector::Received&) {
      return number < 3 ? HttpResponse(status, {{"retry-after", "0"}}, "no {") : HttpResponse();
    });
    Config config = config_for(collector.url());
    config.otlp.spans_max = 16;
    Sender sender(config);
    sender.add(16);
    EXPECT_TRUE(sender.run_until([&] { return sender.exports("ok") == 1; })) << status;
    EXPECT_EQ(sender.exports("retry"), 3u);
    const auto received = collector.received();
    ASSERT_EQ(received.size(), 4u);
    for (const auto& one : received) EXPECT_EQ(one.body, received[0].body);
    EXPECT_EQ(sender.lost("given_up") + sender.lost("refused") + sender.lost("queue_full"), 0u);
  }
}

TEST(OtlpExporter, WaitsAsLongAsTheCollectorWants) {
  const TestCollector collector([](std::size_t, const TestCollector::Received&) {
    return HttpResponse(429, {{"retry-after", "3600"}}, "");
  });
  Config config = config_for(collector.url());
  config.otlp.spans_max = 16;
  Sender sender(config);
  sender.add(16);
  EXPECT_TRUE(sender.run_until([&] { return sender.exports("retry") == 1; }));
  sender.add(100);  // nobody hurries it
  int turns = 0;
  sender.run_until([&turns] { return ++turns > 20; });
  EXPECT_EQ(sender.exports("retry"), 1u);
}

TEST(OtlpExporter, DropsWhatIsRefusedForGood) {
  for (const int status : {400, 401, 404, 413, 500, 301}) {
    const TestCollector collector([status](std::size_t, const TestCollector::Received&) {
      return HttpResponse(status, {}, "");
    });
    Sender sender(config_for(collector.url()));
    sender.add(5);
    sender.finish();
    EXPECT_EQ(collector.received().size(), 1u) << status;
    EXPECT_EQ(sender.exports("refused"), 1u) << status;
    EXPECT_EQ(sender.lost("refused"), 5u) << status;
    EXPECT_EQ(sender.lost("shutdown"), 0u) << status;
  }
}

TEST(OtlpExporter, CountsWhatWasRefusedOfABatch) {
  for (const auto& [body, lost] :
       {std::pair{R"({"partialSuccess":{"rejectedSpans":"3","errorMessage":"no"}})", 3u},
        {R"({"partialSuccess":{"rejectedSpans":2}})", 2u},
        {R"({"partialSuccess":{"rejectedSpans":"99999999999999999999"}})", 0u},
        {R"({"partialSuccess":{"rejectedSpans":1e300}})", 5u},
        {R"({"partialSuccess":{"rejectedSpans":-4}})", 0u},
        {R"({"partialSuccess":{"errorMessage":"only a warning"}})", 0u},
        {R"({"partialSuccess":[]})", 0u},
        {"[[[[[[", 0u}}) {
    const TestCollector collector([body = body](std::size_t, const TestCollector::Received&) {
      return HttpResponse(200, {}, body);
    });
    Sender sender(config_for(collector.url()));
    sender.add(5);
    sender.finish();
    EXPECT_EQ(sender.lost("refused"), lost) << body;
    EXPECT_EQ(sender.exports("partial"), lost > 0 ? 1u : 0u) << body;
  }
}

// A collector that refuses a part names spans, so all losses are told in spans.
TEST(OtlpExporter, CountsSpansAsACollectorDoes) {
  const TestCollector collector([](std::size_t number, const TestCollector::Received&) {
    return number == 0 ? HttpResponse(200, {}, R"({"partialSuccess":{"rejectedSpans":"10"}})")
                       : HttpResponse(404, {}, "");
  });
  Config config = config_for(collector.url());
  config.otlp.spans_max = 16;
  Sender sender(config);
  sender.add(16, 4);
  EXPECT_TRUE(sender.run_until([&] { return sender.exports("partial") == 1; }));
  EXPECT_EQ(collector.spans().size(), 80u);
  EXPECT_EQ(sender.lost("refused"), 10u) << "and 70 were taken";
  sender.add(2, 4);
  sender.finish();
  EXPECT_EQ(sender.lost("refused"), 20u);
}

// Nobody listens there any more; little may wait.
Config config_without_collector() {
  std::string gone;
  {
    const TestCollector collector;
    gone = collector.url();
  }
  Config config = config_for(gone);
  config.otlp.spans_max = 16;
  return config;
}

TEST(OtlpExporter, CountsWhatNobodyTookWithItsPhases) {
  Sender sender(config_without_collector());
  sender.add(16, 1);
  EXPECT_TRUE(sender.run_until([&] { return sender.exports("unreachable") > 2; }));
  sender.add(20, 4);
  EXPECT_EQ(sender.lost("queue_full"), 4u * 5);
  sender.finish();
  EXPECT_EQ(sender.lost("shutdown"), 16u * 2 + 16 * 5);
}

TEST(OtlpExporter, WithoutACollectorKeepsTheNewestSpansAndCountsTheOthers) {
  Sender sender(config_without_collector());
  sender.add(16);
  EXPECT_TRUE(sender.run_until([&] { return sender.exports("unreachable") > 2; }));
  sender.add(20);  // behind the batch that is tried
  EXPECT_EQ(sender.lost("queue_full"), 4u);
  sender.finish();
  EXPECT_EQ(sender.lost("shutdown"), 32u);
}

TEST(OtlpExporter, LosesNothingWhenTheCollectorComesBack) {
  std::atomic<bool> down{true};
  const TestCollector collector([&down](std::size_t, const TestCollector::Received&) {
    return down ? HttpResponse(503, {}, "") : HttpResponse();
  });
  Config config = config_for(collector.url());
  config.otlp.spans_max = 16;
  Sender sender(config);
  sender.add(16);
  EXPECT_TRUE(sender.run_until([&] { return sender.exports("retry") > 1; }));
  sender.add(10);
  down = false;
  EXPECT_TRUE(sender.run_until([&] { return sender.exports("ok") == 2; }));
  std::set<std::string> told;
  for (const std::string& id : ids_in(collector)) told.insert(id);
  EXPECT_EQ(told.size(), 26u);
  EXPECT_EQ(sender.lost("queue_full") + sender.lost("given_up"), 0u);
}

TEST(OtlpExporter, ShowsTheCollectorItsSecretAndNobodyElse) {
  const TestCollector collector;
  Config config = config_for(collector.url());
  config.otlp.headers = {{"authorization", "env:COLLECTOR_TOKEN"}};
  testing::internal::CaptureStderr();
  {
    Sender sender(config);
    sender.add(1);
  }
  const std::string log = testing::internal::GetCapturedStderr();
  ASSERT_EQ(collector.received().size(), 1u);
  EXPECT_EQ(collector.received()[0].authorization, "Bearer secret-token");
  EXPECT_EQ(collector.received()[0].body.find("secret-token"), std::string::npos);
  EXPECT_EQ(log.find("secret-token"), std::string::npos);
}

TEST(OtlpExporter, IsNotOpenedWithoutItsSecretAndGoesOnWhenItIsLost) {
  const TestCollector collector;
  const TestFolder folder;
  const std::filesystem::path file = folder.path() / "token";
  Config config = config_for(collector.url());
  config.otlp.headers = {{"authorization", "file:" + file.string()}};
  {
    const SteadyClock clock;
    Service service(config, clock);
    boost::asio::io_context io;
    OtlpExporterParts parts;
    parts.service = &service;
    EXPECT_FALSE(OtlpExporter::open(std::move(parts), io.get_executor()).ok());
  }
  std::ofstream(file) << "Bearer one";
  config.otlp.spans_max = 16;
  Sender sender(config);
  std::filesystem::remove(file);
  sender.add(16);
  EXPECT_TRUE(sender.run_until([&] { return sender.exports("unreachable") > 0; }));
  std::ofstream(file) << "Bearer two";
  EXPECT_TRUE(sender.run_until([&] { return sender.exports("ok") == 1; }));
  EXPECT_EQ(collector.received().back().authorization, "Bearer two");
}

TEST(OtlpExporter, TellsEachCauseOnceAndNothingThatTheCollectorWrites) {
  const TestCollector collector([](std::size_t number, const TestCollector::Received&) {
    return number < 5 ? HttpResponse(503, {}, "do repeat this") : HttpResponse(200, {}, "{}");
  });
  testing::internal::CaptureStderr();
  {
    Config config = config_for(collector.url());
    config.otlp.spans_max = 16;
    Sender sender(config);
    sender.add(16);
    EXPECT_TRUE(sender.run_until([&] { return sender.exports("ok") == 1; }));
  }
  const std::string log = testing::internal::GetCapturedStderr();
  const auto count = [&log](std::string_view text) {
    std::size_t found = 0;
    for (std::size_t at = log.find(text); at != log.npos; at = log.find(text, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("telemetry does not reach the collector"), 1u) << log;
  EXPECT_EQ(count("the collector takes telemetry again"), 1u) << log;
  EXPECT_EQ(count("repeat"), 0u) << log;
}

}  // namespace
}  // namespace zerohop
