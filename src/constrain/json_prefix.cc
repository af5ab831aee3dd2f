#include "constrain/json_prefix.h"

namespace zerohop {
namespace {

bool is_space(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }
bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }
bool is_hex(char byte) {
  return is_digit(byte) || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}
char lower(char byte) { return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + 32) : byte; }

// What a string can hold as it is.
bool is_plain(char byte) {
  return static_cast<unsigned char>(byte) >= 0x20 && byte != '"' && byte != '\\';
}

constexpr std::string_view kSurrogateRest = "\\udc00";

}  // namespace

std::size_t JsonPrefix::feed(std::string_view bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    if (state_ == State::kString) {
      while (taken < bytes.size() && is_plain(bytes[taken])) ++taken;
      if (taken == bytes.size()) break;
    }
    if (!step(bytes[taken])) break;
    ++taken;
  }
  return taken;
}

bool JsonPrefix::ends_value() const {
  return state_ == State::kBehindValue || state_ == State::kZero || state_ == State::kInteger ||
         state_ == State::kFraction || state_ == State::kExponentDigits;
}

bool JsonPrefix::step(char byte) {
  if (in_string()) return step_string(byte);
  if (state_ == State::kLiteral) {
    if (byte != literal_.front()) return false;
    literal_.remove_prefix(1);
    if (literal_.empty()) state_ = State::kBehindValue;
    return true;
  }
  if (state_ >= State::kMinus) {
    if (step_number(byte)) return true;
    return takes_comma() && step_structure(byte);
  }
  return step_structure(byte);
}

bool JsonPrefix::step_structure(char byte) {
  if (is_space(byte)) {
    if (open_.empty() && ends_value()) return false;
    if (ends_value()) state_ = State::kBehindValue;  // it ends a number
    return true;
  }
  switch (state_) {
    case State::kValue: return begin_value(byte);
    case State::kFirstItem: return byte == ']' ? close_container(byte) : begin_value(byte);
    case State::kFirstKey:
      if (byte == '}') return close_container(byte);
      [[fallthrough]];
    case State::kKey:
      if (byte != '"') return false;
      state_ = State::kString;
      key_ = true;
      return true;
    case State::kColon:
      if (byte != ':') return false;
      state_ = State::kValue;
      return true;
    default:  // behind a value
      if (open_.empty()) return false;
      if (byte != ',') return close_container(byte);
      state_ = in_object() ? State::kKey : State::kValue;
      return true;
  }
}

bool JsonPrefix::begin_value(char byte) {
  if (options_.root == JsonRoot::kObject && open_.empty() && byte != '{') return false;
  switch (byte) {
    case '{':
    case '[': return open_container(byte);
    case '"':
      state_ = State::kString;
      key_ = false;
      return true;
    case 't': literal_ = "rue"; break;
    case 'f': literal_ = "alse"; break;
    case 'n': literal_ = "ull"; break;
    case '-': state_ = State::kMinus; return true;
    default:
      if (!is_digit(byte)) return false;
      state_ = byte == '0' ? State::kZero : State::kInteger;
      return true;
  }
  state_ = State::kLiteral;
  return true;
}

bool JsonPrefix::open_container(char byte) {
  if (open_.size() >= options_.depth_max) return false;
  open_.push_back(byte);
  state_ = byte == '{' ? State::kFirstKey : State::kFirstItem;
  return true;
}

bool JsonPrefix::close_container(char byte) {
  if (byte != (in_object() ? '}' : ']')) return false;
  open_.pop_back();
  state_ = State::kBehindValue;
  return true;
}

bool JsonPrefix::step_string(char byte) {
  switch (state_) {
    case State::kString:
      if (is_plain(byte)) return true;
      if (byte == '"') {
        state_ = key_ ? State::kColon : State::kBehindValue;
      } else if (byte == '\\') {
        state_ = State::kEscape;
      } else {
        return false;
      }
      return true;
    case State::kEscape:
      if (byte == 'u') {
        state_ = State::kHex;
        hex_digits_ = 0;
        low_half_ = high_half_ = hex_d_ = false;
        return true;
      }
      if (std::string_view("\"\\/bfnrt").find(byte) == std::string_view::npos) return false;
      state_ = State::kString;
      return true;
    case State::kSurrogate:
      if (byte != '\\') return false;
      state_ = State::kSurrogateU;
      return true;
    case State::kSurrogateU:
      if (byte != 'u') return false;
      state_ = State::kHex;
      hex_digits_ = 0;
      low_half_ = true;
      high_half_ = hex_d_ = false;
      return true;
    default: return step_hex(byte);
  }
}

bool JsonPrefix::step_hex(char byte) {
  if (!is_hex(byte)) return false;
  const char digit = lower(byte);
  const bool second = hex_digits_ == 1;
  const bool low = second && hex_d_ && digit >= 'c';  // DC00 to DFFF
  if (low_half_) {
    if (hex_digits_ == 0 && digit != 'd') return false;
    if (second && !low) return false;
  } else if (low) {
    return false;
  }
  if (hex_digits_ == 0) hex_d_ = digit == 'd';
  if (second && hex_d_ && !low_half_) high_half_ = digit >= '8';  // D800 to DBFF
  if (++hex_digits_ < 4) return true;
  state_ = high_half_ ? State::kSurrogate : State::kString;
  return true;
}

bool JsonPrefix::step_number(char byte) {
  const bool exponent = byte == 'e' || byte == 'E';
  switch (state_) {
    case State::kMinus:
      if (!is_digit(byte)) return false;
      state_ = byte == '0' ? State::kZero : State::kInteger;
      return true;
    case State::kInteger:
      if (is_digit(byte)) return true;
      [[fallthrough]];
    case State::kZero:
      if (byte == '.') {
        state_ = State::kPoint;
      } else if (exponent) {
        state_ = State::kExponent;
      } else {
        return false;
      }
      return true;
    case State::kPoint:
    case State::kFraction:
      if (exponent && state_ == State::kFraction) {
        state_ = State::kExponent;
        return true;
      }
      if (!is_digit(byte)) return false;
      state_ = State::kFraction;
      return true;
    default:  // in the exponent
      if (state_ == State::kExponent && (byte == '+' || byte == '-')) {
        state_ = State::kExponentSign;
        return true;
      }
      if (!is_digit(byte)) return false;
      state_ = State::kExponentDigits;
      return true;
  }
}

void JsonPrefix::append_string_end(std::string& text) const {
  switch (state_) {
    case State::kEscape: text += '\\'; break;
    case State::kHex:
      text += std::string_view(low_half_ ? "dc00" : "0000").substr(hex_digits_);
      if (high_half_) text += kSurrogateRest;
      break;
    case State::kSurrogate: text += kSurrogateRest; break;
    case State::kSurrogateU: text += kSurrogateRest.substr(1); break;
    default: break;
  }
  text += '"';
  if (key_) text += ":null";
}

std::string JsonPrefix::closing() const {
  std::string text;
  if (in_string()) {
    append_string_end(text);
  } else {
    switch (state_) {
      case State::kValue:
        text = open_.empty() && options_.root == JsonRoot::kObject ? "{}" : "null";
        break;
      case State::kKey: text = "\"\":null"; break;
      case State::kColon: text = ":null"; break;
      case State::kLiteral: text = literal_; break;
      case State::kMinus:
      case State::kPoint:
      case State::kExponent:
      case State::kExponentSign: text = "0"; break;
      default: break;
    }
  }
  for (auto container = open_.rbegin(); container != open_.rend(); ++container) {
    text += *container == '{' ? '}' : ']';
  }
  return text;
}

}  // namespace zerohop
