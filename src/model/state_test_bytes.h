// For tests: states as libllama would write them, of any shape and with any numbers.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace zerohop {

struct TestStateShape {
  std::vector<std::int32_t> positions{0, 1, 2};
  std::uint32_t layers = 2;
  std::uint32_t row_numbers = 40;  ///< of K and of V, for each cell
  std::int32_t type = 1;           ///< F16; 0: F32
  bool transposed = false;
  bool has_values = true;
  bool cell_extension = false;
  int caches = 1;
  std::uint32_t streams = 1;
  bool running_state = false;
};

/// Bytes of a saved state, written number by number.
class TestState {
 public:
  /// `f16` gives the bits of one F16 number after the other.
  TestState(const TestStateShape& shape, const std::function<std::uint16_t()>& f16)
      : shape_(shape), f16_(f16) {
    put(std::uint32_t{0xaf143cd8});
    put(std::int32_t{0});
    for (int cache = 0; cache < shape.caches; ++cache) put_cache();
    if (shape.running_state) put_running_state();
  }

  std::vector<std::byte> bytes;

 private:
  template <class Number>
  void put(Number number) {
    const auto raw = std::bit_cast<std::array<std::byte, sizeof number>>(number);
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  }

  void put_numbers() {
    for (std::size_t i = 0; i < shape_.positions.size() * shape_.row_numbers; ++i) {
      if (shape_.type == 1) {
        put(f16_());
      } else {
        put(1.0f);
      }
    }
  }

  void put_cache() {
    const std::uint32_t number_bytes = shape_.type == 1 ? 2 : 4;
    put(shape_.streams);
    for (std::uint32_t stream = 1; stream < shape_.streams; ++stream) put(std::uint32_t{0});
    put(static_cast<std::uint32_t>(shape_.positions.size()));
    for (const std::int32_t position : shape_.positions) {
      put(position);
      put(std::uint32_t{1});
      if (shape_.cell_extension) bytes.resize(bytes.size() + 12, std::byte{7});
      put(std::int32_t{0});
    }
    put(std::uint32_t{shape_.transposed});
    put(shape_.layers);
    for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
      put(shape_.type);
      put(std::uint64_t{shape_.row_numbers} * number_bytes);
      put_numbers();
    }
    for (std::uint32_t layer = 0; layer < shape_.layers && shape_.has_values; ++layer) {
      put(shape_.type);
      if (shape_.transposed) {
        put(number_bytes);
        put(shape_.row_numbers);
      } else {
        put(std::uint64_t{shape_.row_numbers} * number_bytes);
      }
      put_numbers();
    }
  }

  void put_running_state() {
    put(std::uint32_t{1});
    put(std::int32_t{2});
    put(std::uint32_t{0});
    put(std::uint32_t{0});
    put(shape_.layers);
    for (std::uint32_t entry = 0; entry < 2 * shape_.layers; ++entry) {
      put(std::int32_t{0});
      put(std::uint64_t{12});
      for (const float number : {0.1f, 1e20f, -3.0f}) put(number);
    }
  }

  const TestStateShape shape_;
  const std::function<std::uint16_t()> f16_;
};

}  // namespace zerohop
