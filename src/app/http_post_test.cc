// One POST against servers of every kind, the last of which wish it ill.
#include "app/http_post.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "app/test_listener.h"

namespace zerohop {
namespace {

namespace asio = boost::asio;

// The whole request, whose body is "payload".
std::string read_request(int descriptor) { return receive_until(descriptor, "payload"); }

// Until the other end has gone.
void read_to_end(int descriptor) {
  char buffer[4096];
  while (recv(descriptor, buffer, sizeof buffer, 0) > 0) {
  }
}

Awaitable<void> post_into(std::optional<Result<PostReply>>& reply, HttpPost& post,
                          PostRequest request) {
  reply = co_await post.send(std::move(request));
}

struct Sent {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  Duration patience = std::chrono::seconds(60);
  std::function<void(HttpPost& post)> meanwhile = nullptr;
};

Result<PostReply> post_to(const Sent& sent) {
  asio::io_context io;
  const SteadyClock clock;
  HttpPost post(io.get_executor());
  PostRequest request;
  request.url = {sent.host, std::to_string(sent.port), "/v1/traces"};
  request.headers = {{"content-type", "application/json"}, {"x-token", "abc"}};
  request.body = "payload";
  request.deadline = clock.now() + sent.patience;
  std::optional<Result<PostReply>> reply;
  asio::co_spawn(io, post_into(reply, post, std::move(request)), asio::detached);
  if (sent.meanwhile) {
    io.poll();
    sent.meanwhile(post);
  }
  io.run();
  EXPECT_TRUE(reply.has_value());
  return reply ? std::move(*reply) : Result<PostReply>(Error{});
}

// The answer to a server that reads the request and sends `bytes`.
Result<PostReply> answer_of(const std::string& bytes) {
  const OneConnection server([&bytes](int descriptor) {
    read_request(descriptor);
    send_all(descriptor, bytes);
  });
  return post_to({.port = server.port()});
}

TEST(HttpPost, SendsOneWholeRequestAndReadsTheAnswer) {
  std::string seen;
  {
    const OneConnection server([&seen](int descriptor) {
      seen = read_request(descriptor);
      send_all(descriptor,
               "HTTP/1.1 503 Busy\r\nretry-after: 7\r\ncontent-length: 4\r\n\r\nbusy and more");
    });
    const auto reply = post_to({.port = server.port()});
    ASSERT_TRUE(reply.ok()) << reply.error().message;
    EXPECT_EQ(reply->status, 503);
    EXPECT_EQ(reply->retry_after, "7");
    EXPECT_EQ(reply->body, "busy");
    EXPECT_NE(seen.find("Host: 127.0.0.1:" + std::to_string(server.port())), seen.npos) << seen;
  }
  EXPECT_TRUE(seen.starts_with("POST /v1/traces HTTP/1.1\r\n")) << seen;
  for (const char* line : {"content-type: application/json", "x-token: abc", "Content-Length: 7",
                           "Connection: close"}) {
    EXPECT_NE(seen.find(std::string("\r\n") + line + "\r\n"), seen.npos) << line << "\n" << seen;
  }
  EXPECT_TRUE(seen.ends_with("\r\n\r\npayload")) << seen;
}

TEST(HttpPost, FindsAServerByItsName) {
  const OneConnection server([](int descriptor) {
    read_request(descriptor);
    send_all(descriptor, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
  });
  const auto reply = post_to({.host = "localhost", .port = server.port()});
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply->status, 200);
}

TEST(HttpPost, SaysWhyThereIsNoAnswer) {
  std::uint16_t gone = 0;
  {
    const OneConnection server([](int) {});
    gone = server.port();
  }
  const auto refused = post_to({.port = gone});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(refused.error().message, "Connection refused");
  EXPECT_FALSE(answer_of("").ok());
}

TEST(HttpPost, TakesNoGarbageForAnAnswer) {
  for (const std::string& garbage :
       {std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11),
        std::string("SSH-2.0-OpenSSH_9.2\r\n"), std::string("HTTP/1.1 abc OK\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n"), std::string(100'000, 'x'),
        "HTTP/1.1 200 OK\r\nx: " + std::string(100'000, 'y') + "\r\n\r\n",
        std::string("HTTP/1.1 200 OK\r\nhalf-a-he")}) {
    EXPECT_FALSE(answer_of(garbage).ok()) << garbage.substr(0, 60);
  }
}

TEST(HttpPost, TheHeadDecidesWhateverComesBehindIt) {
  const std::string head = "HTTP/1.1 200 OK\r\n";
  for (const std::string& rest : {"content-length: 1000000000\r\n\r\n" + std::string(200'000, 'x'),
                                  "content-length: 100\r\n\r\n" + std::string(5, 'x'),
                                  "transfer-encoding: chunked\r\n\r\nzz\r\n" + std::string(5, 'x'),
                                  "\r\n" + std::string(200'000, 'x')}) {
    const auto reply = answer_of(head + rest);
    ASSERT_TRUE(reply.ok()) << rest.substr(0, 60);
    EXPECT_EQ(reply->status, 200);
    EXPECT_EQ(reply->body, "") << rest.substr(0, 60);
  }
  EXPECT_EQ(answer_of(head + "\r\nuntil the end")->body, "until the end");
}

TEST(HttpPost, AServerThatNeverStopsIsLeft) {
  const OneConnection server([](int descriptor) {
    read_request(descriptor);
    send_all(descriptor, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    const std::string chunk = "1000\r\n" + std::string(4096, 'x') + "\r\n";
    // Ends when nobody takes it any more.
    while (send(descriptor, chunk.data(), chunk.size(), MSG_NOSIGNAL) > 0) {
    }
  });
  const auto reply = post_to({.port = server.port()});
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply->body, "");
}

TEST(HttpPost, AChunkThatIsNeverNamedToItsEndTakesNoMemory) {
  const OneConnection server([](int descriptor) {
    read_request(descriptor);
    send_all(descriptor, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;");
    const std::string extension(4096, 'a');
    for (int i = 0; i < 1'000; ++i) {
      if (send(descriptor, extension.data(), extension.size(), MSG_NOSIGNAL) <= 0) return;
    }
    ADD_FAILURE() << "4 MB were taken";
  });
  const auto reply = post_to({.port = server.port()});
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply->body, "");
}

TEST(HttpPost, AServerThatHangsIsLeftAtTheDeadline) {
  for (const std::string& bytes : {std::string(), std::string("HTTP/1.1 20")}) {
    const OneConnection server([&bytes](int descriptor) {
      send_all(descriptor, bytes);
      read_to_end(descriptor);
    });
    const auto reply = post_to({.port = server.port(), .patience = std::chrono::milliseconds(20)});
    ASSERT_FALSE(reply.ok());
    EXPECT_EQ(reply.error().message, "no answer in time");
  }
}

TEST(HttpPost, CanBeEndedBeforeItsDeadlineButNotLater) {
  const OneConnection server([](int descriptor) { read_to_end(descriptor); });
  const SteadyClock clock;
  const auto reply = post_to({.port = server.port(),
                              .patience = std::chrono::hours(1),
                              .meanwhile = [&clock](HttpPost& post) {
                                post.end_at(clock.now());
                                post.end_at(clock.now() + std::chrono::hours(1));
                              }});
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().message, "no answer in time");
}

}  // namespace
}  // namespace zerohop
