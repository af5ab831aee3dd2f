#include "api/json_reader.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <cmath>
#include <cstddef>
#include <exception>
#include <string>
#include <utility>

#include "api/json_numbers.h"
#include "base/utf8.h"
#include "core/limits.h"

namespace zerohop {
namespace {

namespace json = boost::json;

// Builds the tree as json::parser does, and counts: a body of 32 MiB that is nothing but "[],"
// would otherwise grow to 600 MiB (measured).
class TreeBuilder {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  void reset(json::storage_ptr arena) { stack_.reset(std::move(arena)); }
  json::value release() { return stack_.release(); }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code& error) { return count(error); }
  bool on_object_end(std::size_t size, json::error_code&) {
    stack_.push_object(size);
    return true;
  }
  bool on_array_begin(json::error_code& error) { return count(error); }
  bool on_array_end(std::size_t size, json::error_code&) {
    stack_.push_array(size);
    return true;
  }
  bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
    stack_.push_chars(part);
    return true;
  }
  bool on_key(json::string_view rest, std::size_t, json::error_code&) {
    stack_.push_key(rest);
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, json::error_code&) {
    stack_.push_chars(part);
    return true;
  }
  bool on_string(json::string_view rest, std::size_t, json::error_code& error) {
    stack_.push_string(rest);
    return count(error);
  }
  // Not called while the text comes in one piece, which it does.
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t number, json::string_view, json::error_code& error) {
    stack_.push_int64(number);
    return count(error);
  }
  bool on_uint64(std::uint64_t number, json::string_view, json::error_code& error) {
    stack_.push_uint64(number);
    return count(error);
  }
  bool on_double(double number, json::string_view written, json::error_code& error) {
    if (!std::isfinite(number) || is_same_number(number, written)) {
      stack_.push_double(number);
    } else {
      stack_.push_chars(kExactNumberMark);
      stack_.push_string(written);
    }
    return count(error);
  }
  bool on_bool(bool value, json::error_code& error) {
    stack_.push_bool(value);
    return count(error);
  }
  bool on_null(json::error_code& error) {
    stack_.push_null();
    return count(error);
  }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  bool count(json::error_code& error) {
    if (++values_ <= limits::kJsonValuesMax) return true;
    error = json::error::array_too_large;
    return false;
  }

  json::value_stack stack_;
  std::size_t values_ = 0;
};

Error body_error(std::string what) {
  return invalid_request({}, "the request body " + std::move(what));
}

// `position` is where the parser gave up. Invalid UTF-8 in front of it (the parser notices the end
// of a broken character, not its start) or in it is the better explanation.
Error explain(std::string_view text, std::size_t position, const json::error_code& code) {
  constexpr std::size_t kLongestCharacter = 4;
  const std::size_t valid = utf8_valid_prefix(text.substr(0, position + kLongestCharacter));
  if (valid < text.size() && valid <= position) {
    return body_error("is not valid UTF-8 at byte " + std::to_string(valid));
  }
  if (code == json::error::incomplete) return body_error("is not valid JSON: it ends too early");
  if (code == json::error::too_deep) {
    return body_error("is nested deeper than " + std::to_string(limits::kJsonDepthMax) +
                      " levels at byte " + std::to_string(position));
  }
  if (code == json::error::array_too_large) {
    return body_error("holds more than " + std::to_string(limits::kJsonValuesMax) + " JSON values");
  }
  const std::string reason =
      code == json::error::extra_data ? "unexpected data after the value" : code.message();
  return body_error("is not valid JSON: " + reason + " at byte " + std::to_string(position));
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

// Strings are copied, so the tree is about as large as the text; the arena doubles from here on.
std::size_t first_arena_bytes(std::size_t text_bytes) {
  constexpr std::size_t kSmallest = 1u << 10;
  constexpr std::size_t kLargest = 1u << 20;
  return std::clamp(text_bytes, kSmallest, kLargest);
}

}  // namespace

Result<JsonDocument> parse_json(std::string_view text) try {
  const std::string_view content = without_byte_order_mark(text);
  if (content.find_first_not_of(" \t\r\n") == std::string_view::npos) return body_error("is empty");

  auto arena = std::make_unique<json::monotonic_resource>(first_arena_bytes(content.size()));
  json::parse_options options;
  options.max_depth = limits::kJsonDepthMax;
  json::basic_parser<TreeBuilder> parser(options);
  parser.handler().reset(arena.get());

  json::error_code code;
  std::size_t consumed = parser.write_some(false, content.data(), content.size(), code);
  if (!code && consumed < content.size()) code = json::error::extra_data;
  if (code) return explain(text, consumed + (text.size() - content.size()), code);
  return JsonDocument(std::move(arena), parser.handler().release());
} catch (const std::exception&) {
  // The library throws for lack of memory and for strings beyond its own maximum only.
  return body_error("is too large to be read");
}

}  // namespace zerohop
