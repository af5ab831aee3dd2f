// What a look at a key costs the door of a request: the hash, the index and the comparison.
#include <benchmark/benchmark.h>

#include "admission/key_ring.h"

namespace zerohop {
namespace {

constexpr WallTime kNow{std::chrono::hours(500'000)};

KeyStoreContents contents_of(std::vector<std::string>& texts, std::size_t count) {
  KeyStoreContents contents;
  contents.secret = std::string(kKeySecretCharacters, 's');
  contents.had_keys = true;
  contents.tenants.push_back({TenantId{1}, "tenant"});
  const KeyHasher hasher(contents.secret);
  for (std::size_t i = 0; i < count; ++i) {
    texts.push_back(make_key_text());
    KeyRecord key;
    key.number = KeyId{i + 1};
    key.tenant = TenantId{1};
    key.hash = hasher.hash(texts.back());
    contents.keys.push_back(std::move(key));
  }
  return contents;
}

void find_known(benchmark::State& state) {
  std::vector<std::string> texts;
  const KeyRing ring(contents_of(texts, static_cast<std::size_t>(state.range(0))));
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(ring.find(texts[next], kNow));
    next = (next + 1) % texts.size();
  }
}
BENCHMARK(find_known)->Arg(1)->Arg(1'000)->Arg(100'000);

void find_unknown(benchmark::State& state) {
  std::vector<std::string> texts;
  const KeyRing ring(contents_of(texts, static_cast<std::size_t>(state.range(0))));
  const std::string other = make_key_text();
  for (auto _ : state) benchmark::DoNotOptimize(ring.find(other, kNow));
}
BENCHMARK(find_unknown)->Arg(1)->Arg(1'000)->Arg(100'000);

void take_ring(benchmark::State& state) {
  const KeyRingSlot slot(std::make_shared<KeyRing>(KeyStoreContents{}));
  for (auto _ : state) benchmark::DoNotOptimize(slot.get());
}
BENCHMARK(take_ring);

}  // namespace
}  // namespace zerohop
