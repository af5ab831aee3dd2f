// Pieces of OTLP's JSON form (opentelemetry.io/docs/specs/otlp, section "JSON Protobuf Encoding"),
// written straight into a string: names in lowerCamelCase, ids in hex, 64-bit numbers as texts,
// enums as numbers. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zerohop::otlp {

/// A comma, unless `out` ends where a list or an object has just begun.
void separate(std::string& out);

/// `"name":` behind what stands before it. `name` is ours: letters.
void member(std::string& out, std::string_view name);

/// `"name":"text"`; `text` may be any bytes.
void text_member(std::string& out, std::string_view name, std::string_view text);

/// `"name":"123"`, as the form has 64-bit numbers.
void long_member(std::string& out, std::string_view name, std::uint64_t number);

/// Elements of a list of attributes. Each begins with separate().
void attribute(std::string& out, std::string_view key, std::string_view text);
void attribute(std::string& out, std::string_view key, std::int64_t number);
void attribute(std::string& out, std::string_view key, double number);
void attribute(std::string& out, std::string_view key, bool value);
/// A list of one text.
void list_attribute(std::string& out, std::string_view key, std::string_view text);
// Not the one for a bool, which a pointer would choose by itself.
inline void attribute(std::string& out, std::string_view key, const char* text) {
  attribute(out, key, std::string_view(text));
}

/// What stands at the root of a payload, once: who sends it.
struct Resource {
  std::string service_name;
  std::string version;
  std::string instance;
  std::string pool;
  std::map<std::string, std::string> labels;      ///< of the instance
  std::map<std::string, std::string> attributes;  ///< from the configuration
};

/// `{"resourceSpans":[{"resource":…,"scopeSpans":[{"scope":…,"spans":[` for the kind `Spans`, and
/// what closes it. The elements stand in between.
void begin_payload(std::string& out, std::string_view kind, const Resource& resource);
void end_payload(std::string& out);

}  // namespace zerohop::otlp
