// The grammar of JSON (RFC 8259, with surrogates in pairs) written the slow and obvious way, for
// tests and fuzz targets.
#pragma once

#include <cstddef>
#include <string_view>

namespace zerohop {

class JsonOracle {
 public:
  /// Whether `text` is one JSON value and nothing else but white space around it.
  static bool accepts(std::string_view text) {
    JsonOracle oracle(text);
    oracle.spaces();
    if (!oracle.value()) return false;
    oracle.spaces();
    return oracle.rest_.empty();
  }

  static bool accepts_object(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \n\r\t");
    return begin != std::string_view::npos && text[begin] == '{' && accepts(text);
  }

 private:
  explicit JsonOracle(std::string_view text) : rest_(text) {}

  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  bool take_one_of(std::string_view bytes) {
    if (rest_.empty() || bytes.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void spaces() {
    while (take_one_of(" \n\r\t")) {
    }
  }
  bool digits() {
    if (!take_one_of("0123456789")) return false;
    while (take_one_of("0123456789")) {
    }
    return true;
  }
  bool number() {
    take("-");
    if (!take("0") && !digits()) return false;
    if (take(".") && !digits()) return false;
    if (!take_one_of("eE")) return true;
    take_one_of("+-");
    return digits();
  }
  bool code(unsigned& value) {
    constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
    value = 0;
    for (int i = 0; i < 4; ++i) {
      if (rest_.empty()) return false;
      const std::size_t digit = kDigits.find(rest_.front());
      if (digit == std::string_view::npos) return false;
      value = value * 16 + static_cast<unsigned>(digit < 16 ? digit : digit - 6);
      rest_.remove_prefix(1);
    }
    return true;
  }
  bool string() {
    if (!take("\"")) return false;
    while (!take("\"")) {
      if (rest_.empty() || static_cast<unsigned char>(rest_.front()) < 0x20) return false;
      if (!take("\\")) {
        rest_.remove_prefix(1);
        continue;
      }
      if (take_one_of("\"\\/bfnrt")) continue;
      unsigned high = 0;
      if (!take("u") || !code(high)) return false;
      if (high < 0xd800 || high > 0xdfff) continue;
      unsigned low = 0;
      if (high > 0xdbff || !take("\\u") || !code(low)) return false;
      if (low < 0xdc00 || low > 0xdfff) return false;
    }
    return true;
  }
  bool member() {
    spaces();
    if (!string()) return false;
    spaces();
    if (!take(":")) return false;
    spaces();
    return value();
  }
  bool value() {
    if (take("{")) {
      spaces();
      if (take("}")) return true;
      do {
        if (!member()) return false;
        spaces();
      } while (take(","));
      return take("}");
    }
    if (take("[")) {
      spaces();
      if (take("]")) return true;
      do {
        spaces();
        if (!value()) return false;
        spaces();
      } while (take(","));
      return take("]");
    }
    if (rest_.starts_with('"')) return string();
    return take("true") || take("false") || take("null") || number();
  }

  std::string_view rest_;
};

}  // namespace zerohop
