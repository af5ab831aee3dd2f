// Reads JSON (RFC 8259) byte by byte and knows at every byte what can follow: whether a text can
// still become one valid value, and the shortest text that makes it one. What a model writes is cut
// off anywhere, and clients parse it.
//
// Stricter than the grammar in one point: an escaped surrogate must be half of a pair, because many
// parsers refuse a lone one. Bytes from 0x80 on are taken in strings as they are; whether they are
// UTF-8 is for others to see to (in the server, the last link of the output chain).
//
// One reader per text; copyable; not shared between threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace zerohop {

enum class JsonRoot : std::uint8_t { kAny, kObject };

struct JsonPrefixOptions {
  JsonRoot root = JsonRoot::kAny;
  std::size_t depth_max = 512;  ///< objects and arrays open at once, ≥ 1
};

class JsonPrefix {
 public:
  explicit JsonPrefix(JsonPrefixOptions options = {}) : options_(options) {}

  /// Takes bytes for as long as what was taken in all begins a valid text, and says how many. White
  /// space is taken in front of the value, not behind it. A refused byte changes nothing.
  std::size_t feed(std::string_view bytes);

  /// What was taken is a whole value. Only a number at the root can then take more.
  bool complete() const { return open_.empty() && ends_value(); }

  /// Nothing but white space was taken.
  bool empty() const { return open_.empty() && state_ == State::kValue; }

  /// Inside a string, escapes included.
  bool in_string() const { return state_ >= State::kString && state_ <= State::kSurrogateU; }

  /// Behind a backslash, or in the code behind \u.
  bool in_escape() const { return state_ > State::kString && state_ <= State::kSurrogateU; }

  /// Inside a number, which may be whole.
  bool in_number() const { return state_ >= State::kMinus; }

  /// The innermost open container is an object.
  bool in_object() const { return !open_.empty() && open_.back() == '{'; }

  /// Whether a comma can follow.
  bool takes_comma() const { return !open_.empty() && ends_value(); }

  /// Containers open.
  std::size_t depth() const { return open_.size(); }

  /// The shortest text that makes one valid value of what was taken. A value that is missing is
  /// null, or {} where the root has to be an object; so is the one that a comma announced.
  std::string closing() const;

 private:
  enum class State : std::uint8_t {
    kValue,        // a value must follow
    kFirstItem,    // behind [
    kFirstKey,     // behind {
    kKey,          // behind a comma in an object
    kColon,        // behind a key
    kBehindValue,  // a comma or the container's end; nothing at the root
    kString,
    kEscape,      // behind a backslash
    kHex,         // in \uXXXX
    kSurrogate,   // behind the first half of a pair
    kSurrogateU,  // and its backslash
    kLiteral,     // in true, false, null
    kMinus,
    kZero,
    kInteger,
    kPoint,
    kFraction,
    kExponent,      // behind e
    kExponentSign,  // behind its sign
    kExponentDigits,
  };

  bool step(char byte);
  bool begin_value(char byte);
  bool step_string(char byte);
  bool step_hex(char byte);
  bool step_number(char byte);
  bool step_structure(char byte);
  bool open_container(char byte);
  bool close_container(char byte);
  bool ends_value() const;
  void append_string_end(std::string& text) const;

  JsonPrefixOptions options_;
  State state_ = State::kValue;
  bool key_ = false;        // the string is an object's key
  bool low_half_ = false;   // kHex: the second half of a surrogate pair
  bool high_half_ = false;  // kHex: the first half of one
  bool hex_d_ = false;      // kHex: the first digit was D
  std::uint8_t hex_digits_ = 0;
  std::string_view literal_;  // kLiteral: what is left of it
  std::string open_;          // the containers, outermost first: { or [
};

}  // namespace zerohop
