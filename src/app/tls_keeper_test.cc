#include "app/tls_keeper.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <vector>

#include "http/test_tls.h"
#include "telemetry/registry.h"

namespace zerohop {
namespace {

const TestAuthority& authority() {
  static const TestAuthority kAuthority("CA");
  return kAuthority;
}

// A keeper on an event loop that the test turns itself, without a timer of its own.
class TlsKeeperTest : public ::testing::Test {
 protected:
  ~TlsKeeperTest() override {
    if (keeper_) keeper_->stop();
    workers_.join();
    io_.run();
  }

  Result<void> open(std::uint32_t watch_seconds = 0) {
    TlsKeeperParts parts;
    parts.config.certificate = folder_.path("certificate.pem");
    parts.config.private_key = folder_.path("key.pem");
    parts.config.watch_seconds = watch_seconds;
    parts.metrics = &metrics_;
    parts.workers = &workers_;
    parts.use = [this](std::shared_ptr<const TlsContext> context) {
      used_.push_back(std::move(context));
    };
    ZH_ASSIGN_OR_RETURN(keeper_, TlsKeeper::open(std::move(parts), io_.get_executor()));
    TlsKeeper::start(keeper_);
    return {};
  }
  void reload() {
    keeper_->reload_soon();
    const double before = reloads("taken") + reloads("failed");
    while (reloads("taken") + reloads("failed") == before) io_.run_one();
  }
  double reloads(const char* result) {
    return static_cast<double>(registry_.counter("zerohop_tls_reloads_total", {result}).value());
  }

  TlsFolder folder_;
  MetricsRegistry registry_{MetricsIdentity{"test", "cpu"}};
  Metrics metrics_{registry_};
  boost::asio::io_context io_{1};
  WorkerPool workers_{1};
  std::shared_ptr<TlsKeeper> keeper_;
  std::vector<std::shared_ptr<const TlsContext>> used_;
};

TEST_F(TlsKeeperTest, HandsOverTheCertificateAndEachNewOne) {
  folder_.write(authority().issue("one"));
  ASSERT_TRUE(open().ok());
  ASSERT_EQ(used_.size(), 1u);
  folder_.write(authority().issue("two"));
  reload();
  ASSERT_EQ(used_.size(), 2u);
  EXPECT_NE(used_[0], used_[1]);
  EXPECT_EQ(reloads("taken"), 1);
}

TEST_F(TlsKeeperTest, KeepsTheOldOneWhereTheNewOneDoesNotFit) {
  folder_.write(authority().issue("one"));
  ASSERT_TRUE(open().ok());
  const TestIdentity two = authority().issue("two");
  folder_.write("certificate.pem", two.certificate);  // its key comes later
  reload();
  EXPECT_EQ(used_.size(), 1u);
  EXPECT_EQ(reloads("failed"), 1);
  std::filesystem::remove(folder_.path("certificate.pem"));
  reload();
  EXPECT_EQ(used_.size(), 1u);
  folder_.write(two);
  reload();
  EXPECT_EQ(used_.size(), 2u);
  EXPECT_EQ(reloads("taken"), 1);
}

TEST_F(TlsKeeperTest, SeesByItselfThatFilesHaveChanged) {
  folder_.write(authority().issue("one"));
  ASSERT_TRUE(open(1).ok());
  // In another's place, as certificate tools do it.
  const TestIdentity two = authority().issue("two");
  for (const auto& [name, text] :
       {std::pair{"certificate.pem", two.certificate}, {"key.pem", two.private_key}}) {
    folder_.write("new.pem", text);
    std::filesystem::rename(folder_.path("new.pem"), folder_.path(name));
  }
  while (used_.size() < 2) io_.run_one();
  EXPECT_EQ(reloads("taken"), 1);
}

TEST_F(TlsKeeperTest, SaysWhatIsWrongAtTheStart) {
  folder_.write("certificate.pem", "nonsense");
  const auto opened = open();
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::kConfiguration);
  EXPECT_NE(opened.error().message.find("certificate.pem"), std::string::npos);
}

}  // namespace
}  // namespace zerohop
