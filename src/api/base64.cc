#include "api/base64.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace zerohop {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kInvalid = 0xff;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> table{};
  for (std::uint8_t& value : table) value = kInvalid;
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    table[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return table;
}
constexpr std::array<std::uint8_t, 256> kValues = make_values();

std::uint32_t byte_at(std::string_view bytes, std::size_t index) {
  return index < bytes.size() ? static_cast<unsigned char>(bytes[index]) : 0;
}

std::size_t padding_of(std::string_view text) {
  if (text.ends_with("==")) return 2;
  return text.ends_with('=') ? 1 : 0;
}

}  // namespace

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = padding_of(text);
  const std::string_view digits = text.substr(0, text.size() - padding);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  std::size_t count = 0;
  for (const char digit : digits) {
    const std::uint8_t value = kValues[static_cast<unsigned char>(digit)];
    if (value == kInvalid) return std::nullopt;
    bits = bits << 6 | value;
    if (++count % 4 != 0) continue;
    bytes.push_back(static_cast<char>(bits >> 16 & 0xff));
    bytes.push_back(static_cast<char>(bits >> 8 & 0xff));
    bytes.push_back(static_cast<char>(bits & 0xff));
    bits = 0;
  }
  // A group of two or three digits holds one or two bytes; what is left over of it is ignored.
  if (padding == 2) bytes.push_back(static_cast<char>(bits >> 4 & 0xff));
  if (padding == 1) {
    bytes.push_back(static_cast<char>(bits >> 10 & 0xff));
    bytes.push_back(static_cast<char>(bits >> 2 & 0xff));
  }
  return bytes;
}

void append_base64(std::string_view bytes, std::string& out) {
  out.reserve(out.size() + (bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t group =
        byte_at(bytes, i) << 16 | byte_at(bytes, i + 1) << 8 | byte_at(bytes, i + 2);
    out.push_back(kAlphabet[group >> 18]);
    out.push_back(kAlphabet[group >> 12 & 63]);
    out.push_back(i + 1 < bytes.size() ? kAlphabet[group >> 6 & 63] : '=');
    out.push_back(i + 2 < bytes.size() ? kAlphabet[group & 63] : '=');
  }
}

}  // namespace zerohop
