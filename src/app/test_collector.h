// For tests: who takes what is exported, on a port and a thread of its own.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "http/server.h"

namespace zerohop {

/// A collector that answers `{}`, or whatever it is told to.
class TestCollector {
 public:
  struct Received {
    std::string path;
    std::string body;
    std::string content_type;
    std::string authorization;
  };
  /// `number`: of the request, from 0 on. On the collector's thread.
  using Answer = std::function<HttpResponse(std::size_t number, const Received& received)>;

  explicit TestCollector(Answer answer = nullptr) : answer_(std::move(answer)) {
    Router router;
    for (const char* path : {"/v1/traces", "/v1/metrics"}) {
      router.add("POST", path, [this](Exchange& exchange) { return take(exchange); });
    }
    http_ = std::make_unique<HttpServer>(io_, clock_, ServerOptions{}, ServerHooks{},
                                         std::move(router));
    const auto endpoint = http_->listen_tcp("127.0.0.1", 0);
    EXPECT_TRUE(endpoint.ok());
    port_ = endpoint->port;
    thread_ = std::thread([this] { io_.run(); });
  }
  ~TestCollector() {
    boost::asio::post(io_, [this] {
      http_->stop_accepting();
      http_->close_all();
      guard_.reset();
    });
    thread_.join();
  }
  TestCollector(const TestCollector&) = delete;
  TestCollector& operator=(const TestCollector&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  std::vector<Received> received() const {
    const std::scoped_lock lock(mutex_);
    return received_;
  }

  /// All spans that came, those that came twice too.
  std::vector<boost::json::value> spans() const {
    std::vector<boost::json::value> spans;
    for (const Received& one : received()) {
      if (one.path != "/v1/traces") continue;
      const boost::json::value body = boost::json::parse(one.body);
      const auto& list = body.at_pointer("/resourceSpans/0/scopeSpans/0/spans").as_array();
      spans.insert(spans.end(), list.begin(), list.end());
    }
    return spans;
  }

 private:
  Awaitable<void> take(Exchange& exchange) {
    const HttpRequest& request = exchange.request();
    const auto field = [&request](const char* name) {
      return std::string(request.head.headers.find(name).value_or(""));
    };
    const Received received{request.head.path, request.body, field("content-type"),
                            field("authorization")};
    std::size_t number = 0;
    {
      const std::scoped_lock lock(mutex_);
      number = received_.size();
      received_.push_back(received);
    }
    HttpResponse response(200, {}, "{}");
    if (answer_) response = answer_(number, received);
    co_await exchange.respond(std::move(response));
  }

  const Answer answer_;
  const SteadyClock clock_;
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{
      io_.get_executor()};
  std::unique_ptr<HttpServer> http_;
  std::uint16_t port_ = 0;
  std::thread thread_;

  mutable std::mutex mutex_;
  std::vector<Received> received_;  // guarded by mutex_
};

}  // namespace zerohop
