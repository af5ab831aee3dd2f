#include "http/tls_channel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "http/test_tls.h"

namespace zerohop {
namespace {

using Step = TlsChannel::Step;

// A client without a socket.
class MemoryClient {
 public:
  explicit MemoryClient(const TlsClientOptions& options)
      : context_(client_context(options)), ssl_(SSL_new(context_.get()), SSL_free) {
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(ssl_.get());
  }
  bool shake() { return SSL_do_handshake(ssl_.get()) == 1; }
  std::string take() {
    char* bytes = nullptr;
    BIO* bio = SSL_get_wbio(ssl_.get());
    const long count = BIO_get_mem_data(bio, &bytes);
    std::string out(bytes, static_cast<std::size_t>(count));
    (void)BIO_reset(bio);
    return out;
  }
  void put(const std::string& bytes) {
    BIO_write(SSL_get_rbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
  }
  void write(const std::string& plain) {
    SSL_write(ssl_.get(), plain.data(), static_cast<int>(plain.size()));
  }
  std::string read() {
    std::array<char, 20'000> room;
    const int count = SSL_read(ssl_.get(), room.data(), room.size());
    return std::string(room.data(), static_cast<std::size_t>(std::max(count, 0)));
  }
  void say_goodbye() { SSL_shutdown(ssl_.get()); }

 private:
  const std::shared_ptr<SSL_CTX> context_;
  const std::unique_ptr<SSL, void (*)(SSL*)> ssl_;
};

std::shared_ptr<const TlsContext> server_context() {
  static const std::shared_ptr<const TlsContext> kContext = [] {
    const TestAuthority authority("CA");
    const TlsFolder folder;
    return *TlsContext::load(folder.write(authority.issue("server")));
  }();
  return kContext;
}

void feed(TlsChannel& channel, const std::string& bytes) {
  std::copy(bytes.begin(), bytes.end(), channel.input_room(bytes.size()));
  channel.input_added(bytes.size());
}

// Hands the client's bytes over in pieces of `step`; false when that is a fault.
bool shake_hands(TlsChannel& channel, MemoryClient& client, std::size_t step) {
  for (int flight = 0; flight < 10; ++flight) {
    client.shake();
    const std::string bytes = client.take();
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      feed(channel, bytes.substr(at, step));
      const Step outcome = channel.handshake();
      if (outcome == Step::kFault) return false;
      if (outcome == Step::kDone && at + step >= bytes.size()) {
        client.put(channel.take_output());
        client.shake();
        return true;
      }
    }
    client.put(channel.take_output());
  }
  return false;
}

std::string read_all(TlsChannel& channel) {
  std::string plain;
  std::array<char, 1'000> room;
  for (TlsChannel::Read got = channel.read(room); got.step == Step::kDone;
       got = channel.read(room)) {
    plain.append(room.data(), got.bytes);
  }
  return plain;
}

TEST(TlsChannel, WorksWhereverTheBytesAreCut) {
  for (const std::size_t step : {1u, 2u, 7u, 100u, 100'000u}) {
    TlsChannel channel(server_context());
    MemoryClient client{TlsClientOptions{}};
    ASSERT_TRUE(shake_hands(channel, client, step)) << step;
    const std::string sent(5'000, 'q');
    client.write(sent);
    const std::string sealed = client.take();
    std::string plain;
    for (std::size_t at = 0; at < sealed.size(); at += step) {
      feed(channel, sealed.substr(at, step));
      plain += read_all(channel);
    }
    EXPECT_EQ(plain, sent);
    ASSERT_TRUE(channel.write("answer"));
    client.put(channel.take_output());
    EXPECT_EQ(client.read(), "answer");
  }
}

TEST(TlsChannel, SealsWhatIsWrittenAtOnceIntoOneRecord) {
  TlsChannel channel(server_context());
  MemoryClient client{TlsClientOptions{}};
  ASSERT_TRUE(shake_hands(channel, client, 100'000));
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{300}, kTlsRecordBytesMax}) {
    ASSERT_TRUE(channel.write(std::string(bytes, 'x')));
    const std::string sealed = channel.take_output();
    ASSERT_GT(sealed.size(), 5u);
    const auto length = static_cast<std::size_t>(static_cast<unsigned char>(sealed[3])) << 8 |
                        static_cast<unsigned char>(sealed[4]);
    EXPECT_EQ(sealed.size(), 5 + length);
    client.put(sealed);
    EXPECT_EQ(client.read().size(), bytes);
  }
}

TEST(TlsChannel, TellsTheEndOfThePeerFromAFault) {
  TlsChannel channel(server_context());
  MemoryClient client{TlsClientOptions{}};
  ASSERT_TRUE(shake_hands(channel, client, 100'000));
  client.write("last");
  client.say_goodbye();
  feed(channel, client.take());
  std::array<char, 100> room;
  EXPECT_EQ(channel.read(room).bytes, 4u);
  EXPECT_EQ(channel.read(room).step, Step::kEnd);
  EXPECT_TRUE(channel.write("the other way is open")) << "half closed";

  TlsChannel broken(server_context());
  MemoryClient other{TlsClientOptions{}};
  ASSERT_TRUE(shake_hands(broken, other, 100'000));
  other.write("something");
  std::string sealed = other.take();
  sealed.back() = static_cast<char>(sealed.back() ^ 1);
  feed(broken, sealed);
  EXPECT_EQ(broken.read(room).step, Step::kFault);
  EXPECT_FALSE(broken.fault().empty());
  EXPECT_GT(broken.output_bytes(), 0u) << "an alert for the peer";
  EXPECT_FALSE(broken.write("no more"));
  EXPECT_EQ(broken.read(room).step, Step::kFault);
}

TEST(TlsChannel, ReadsNothingOfAConnectionThatAnotherFaultEnded) {
  // The library's list of faults is one for all connections of a thread.
  TlsChannel healthy(server_context());
  MemoryClient client{TlsClientOptions{}};
  ASSERT_TRUE(shake_hands(healthy, client, 100'000));
  TlsChannel broken(server_context());
  feed(broken, "GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(broken.handshake(), Step::kFault);
  client.write("fine");
  feed(healthy, client.take());
  EXPECT_EQ(read_all(healthy), "fine");
  EXPECT_TRUE(healthy.fault().empty());
}

}  // namespace
}  // namespace zerohop
