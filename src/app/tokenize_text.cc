#include "app/tokenize_text.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>

#include "base/utf8.h"

namespace zerohop {
namespace {

void append_hex(std::string& out, unsigned char byte) {
  char buffer[8];
  std::snprintf(buffer, sizeof buffer, "\\x%02x", byte);
  out.append(buffer);
}

std::string as_json(TokenSpan tokens, const TokenizeOptions& options) {
  boost::json::object object;
  if (!options.count) {
    boost::json::array& list = object["tokens"].emplace_array();
    for (const Token token : tokens) list.push_back(token);
  }
  object["count"] = tokens.size();
  return boost::json::serialize(object) + "\n";
}

}  // namespace

std::string quoted_piece(std::string_view bytes) {
  // A token may be half a character: then all its bytes above ASCII are shown as numbers.
  const bool whole = utf8_is_valid(bytes);
  std::string out = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out.append("\\n");
    } else if (c == '\t') {
      out.append("\\t");
    } else if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !whole)) {
      append_hex(out, byte);
    } else {
      out.push_back(c);
    }
  }
  return out + "\"";
}

std::string tokenize_output(TokenSpan tokens, const TokenTable& table,
                            const TokenizeOptions& options) {
  if (options.json) return as_json(tokens, options);
  if (options.count) return std::to_string(tokens.size()) + "\n";
  std::string out;
  for (const Token token : tokens) {
    out.append(std::to_string(token)).append("\t");
    out.append(quoted_piece(table.bytes(token))).append("\n");
  }
  return out;
}

}  // namespace zerohop
