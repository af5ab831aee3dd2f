// Very many connections that say nothing: what they cost, and that nobody else notices them.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "http/server.h"
#include "http/test_support.h"
#include "http/test_tls.h"

namespace zerohop {
namespace {

// As many as this process may have descriptors for, both ends of each being here.
std::size_t connections_possible(std::size_t wanted) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  const std::size_t descriptors = static_cast<std::size_t>(limit.rlim_cur);
  return std::min(wanted, descriptors > 400 ? (descriptors - 400) / 2 : 0);
}

std::size_t allocated_bytes() { return mallinfo2().uordblks; }

TEST(HttpIdle, TenThousandConnectionsCostLittleAndDisturbNobody) {
  constexpr std::size_t kBytesEachMax = 8u << 10;  // limits.h promises about 5 KiB
  const std::size_t count = connections_possible(10'000);
  ASSERT_GE(count, 100u);
  ServerOptions options;
  options.connections_max = count + 1;
  TestServer server(basic_router(), options);
  const Endpoint endpoint = server.listen();
  const std::size_t before = allocated_bytes();
  std::vector<std::unique_ptr<Client>> idle;
  idle.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    idle.push_back(std::make_unique<Client>(endpoint));
    ASSERT_TRUE(idle.back()->connected());
  }
  ASSERT_TRUE(
      server.eventually([&] { return server.server().counts().connections_open == count; }));
  const std::size_t each = (allocated_bytes() - before) / count;
  RecordProperty("connections", static_cast<int>(count));
  RecordProperty("bytes_each", static_cast<int>(each));
  EXPECT_LT(each, kBytesEachMax);

  Client busy(endpoint);
  EXPECT_EQ(busy.exchange(get("/hello")).body, "hello");
  for (const std::size_t which : {std::size_t{0}, count / 2, count - 1}) {
    EXPECT_EQ(idle[which]->exchange(get("/hello")).body, "hello");
  }
  idle.clear();
  busy.close();
  EXPECT_TRUE(server.eventually_idle());
}

TEST(HttpIdle, AConnectionWithTlsGivesItsBuffersBack) {
  constexpr std::size_t kBytesEachMax = 96u << 10;  // the client's end included
  constexpr std::size_t kCount = 200;
  const TestAuthority authority("CA");
  const TlsFolder folder;
  ServerOptions options;
  options.tls = *TlsContext::load(folder.write(authority.issue("server")));
  Router router;
  router.add("POST", "/sink", [](Exchange& exchange) -> Awaitable<void> {
    HttpResponse response = text_response(std::to_string(exchange.take_body().size()));
    co_await exchange.respond(std::move(response));
  });
  TestServer server(std::move(router), options);
  const Endpoint endpoint = server.listen();
  const std::string request = post("/sink", std::string(100'000, 'x'));
  { TlsClient(endpoint).exchange(request); }  // what is allocated once
  const std::size_t before = allocated_bytes();
  std::vector<std::unique_ptr<TlsClient>> idle;
  for (std::size_t i = 0; i < kCount; ++i) {
    idle.push_back(std::make_unique<TlsClient>(endpoint));
    ASSERT_EQ(idle.back()->exchange(request).body, "100000");
  }
  const std::size_t each = (allocated_bytes() - before) / kCount;
  RecordProperty("bytes_each", static_cast<int>(each));
  EXPECT_LT(each, kBytesEachMax);
}

}  // namespace
}  // namespace zerohop
