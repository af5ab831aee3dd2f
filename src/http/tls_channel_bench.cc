// What TLS adds to a burst of a stream, and to a new connection.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>

#include "http/test_tls.h"
#include "http/tls_channel.h"

namespace zerohop {
namespace {

std::shared_ptr<const TlsContext> server_context() {
  static const std::shared_ptr<const TlsContext> kContext = [] {
    const TestAuthority authority("CA");
    const TlsFolder folder;
    return *TlsContext::load(folder.write(authority.issue("server")));
  }();
  return kContext;
}

// A channel that has shaken hands with a client in memory.
class Pair {
 public:
  Pair()
      : context_(client_context({})), client_(SSL_new(context_.get())), channel(server_context()) {
    SSL_set_bio(client_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(client_);
    while (SSL_do_handshake(client_) != 1 || channel.handshake() != TlsChannel::Step::kDone) {
      move_to_channel();
      (void)channel.handshake();
      const std::string bytes = channel.take_output();
      BIO_write(SSL_get_rbio(client_), bytes.data(), static_cast<int>(bytes.size()));
    }
    (void)channel.take_output();
  }
  ~Pair() { SSL_free(client_); }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

 private:
  void move_to_channel() {
    char* bytes = nullptr;
    const auto count = static_cast<std::size_t>(BIO_get_mem_data(SSL_get_wbio(client_), &bytes));
    std::copy_n(bytes, count, channel.input_room(count));
    channel.input_added(count);
    (void)BIO_reset(SSL_get_wbio(client_));
  }

  const std::shared_ptr<SSL_CTX> context_;
  SSL* const client_;

 public:
  TlsChannel channel;
};

void bm_seal_a_burst(benchmark::State& state) {
  Pair pair;
  const std::string burst(static_cast<std::size_t>(state.range(0)), 'x');
  for (auto _ : state) {
    benchmark::DoNotOptimize(pair.channel.write(burst));
    benchmark::DoNotOptimize(pair.channel.take_output());
  }
}
BENCHMARK(bm_seal_a_burst)->Arg(250)->Arg(16'384);

// Both ends; the server's is somewhat more than half.
void bm_handshake(benchmark::State& state) {
  for (auto _ : state) {
    const Pair pair;
    benchmark::DoNotOptimize(&pair);
  }
}
BENCHMARK(bm_handshake)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace zerohop
