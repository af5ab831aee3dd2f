#include "base/random.h"

#include <pthread.h>
#include <sys/random.h>

#include <atomic>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace zerohop {
namespace {

std::uint64_t rotate_left(std::uint64_t value, int bits) {
  return (value << bits) | (value >> (64 - bits));
}

void fill_from_os(void* buffer, std::size_t size) {
  auto* bytes = static_cast<unsigned char*>(buffer);
  std::size_t filled = 0;
  while (filled < size) {
    const ssize_t count = getrandom(bytes + filled, size - filled, 0);
    if (count > 0) filled += static_cast<std::size_t>(count);
  }
}

}  // namespace

std::uint64_t mix64(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

Random::Random(std::uint64_t seed) {
  for (std::uint64_t& word : state_) {
    word = mix64(seed);
    seed += 0x9e3779b97f4a7c15ULL;
  }
}

std::uint64_t Random::next() {
  const std::uint64_t result = rotate_left(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t carried = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= carried;
  state_[3] = rotate_left(state_[3], 45);
  return result;
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

std::uint64_t Random::below(std::uint64_t bound) {
  ZH_DCHECK(bound > 0);
  __extension__ using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(next()) * bound;
  auto low = static_cast<std::uint64_t>(product);
  if (low < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (low < threshold) {
      product = static_cast<Wide>(next()) * bound;
      low = static_cast<std::uint64_t>(product);
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t os_random_seed() {
  std::uint64_t seed = 0;
  fill_from_os(&seed, sizeof seed);
  return seed;
}

namespace {

// Asked for in larger pieces, because a server makes two ids a request and each piece costs a
// system call. What was given out is overwritten: it may be part of a key. A child process throws
// away what it has inherited: otherwise it and its parent would make the same keys.
class RandomBytes {
 public:
  RandomBytes() {
    static const int registered =
        ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
    ZH_CHECK(registered == 0);
  }

  unsigned char next() {
    if (left_ == 0 || seen_forks_ != forks.load(std::memory_order_relaxed)) refill();
    return std::exchange(pool_[--left_], 0);
  }

 private:
  void refill() {
    seen_forks_ = forks.load(std::memory_order_relaxed);
    fill_from_os(pool_, sizeof pool_);
    left_ = sizeof pool_;
  }

  static inline std::atomic<std::uint32_t> forks{0};  // between this process and the first one

  unsigned char pool_[1024];
  std::size_t left_ = 0;
  std::uint32_t seen_forks_ = 0;
};

}  // namespace

std::string os_random_text(std::size_t count) {
  constexpr std::string_view kAlphabet =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  thread_local RandomBytes bytes;
  std::string text;
  text.reserve(count);
  while (text.size() < count) {
    // 248 = 4 * 62: larger bytes are thrown away so that every letter is equally likely.
    const unsigned char byte = bytes.next();
    if (byte < 248) text.push_back(kAlphabet[byte % kAlphabet.size()]);
  }
  return text;
}

}  // namespace zerohop
