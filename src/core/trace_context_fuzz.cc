// Fuzz target: any lines as values of trace headers, the first one a traceparent and the others
// tracestates. What is taken has the form of the standard, and comes back unchanged when it is read
// again. Seeds: tests/corpus/trace_context/.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "core/trace_context.h"

namespace zerohop {
namespace {

void check_parent(std::string_view value) {
  const auto parent = parse_traceparent(value);
  if (!parent) return;
  ZH_CHECK(parent->trace.valid() && parent->span.valid());
  ZH_CHECK(!value.starts_with("ff") && value.size() >= 55);
  ZH_CHECK(value.size() == 55 || !value.starts_with("00"));
  const std::string text = traceparent_text(*parent);
  // Version and flags may be others; the ids are the sender's.
  ZH_CHECK(text.size() == 55 && text.substr(2, 51) == value.substr(2, 51));
  ZH_CHECK(parse_traceparent(text) == parent);
}

void check_state(const std::vector<std::string_view>& fields) {
  const std::string joined = joined_tracestate(fields);
  ZH_CHECK(joined.size() <= kTraceStateBytesMax);
  ZH_CHECK(std::ranges::all_of(joined, [](char c) { return c >= 0x20 && c < 0x7f; }));
  const auto members = static_cast<std::size_t>(std::ranges::count(joined, ',')) + 1;
  ZH_CHECK(members <= kTraceStateMembersMax);
  const std::vector<std::string_view> again{joined};
  ZH_CHECK(joined_tracestate(again) == joined);
}

}  // namespace
}  // namespace zerohop

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(static_cast<const void*>(data));
  std::string_view rest(bytes, size);
  std::vector<std::string_view> fields;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    fields.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (fields.empty()) return 0;
  zerohop::check_parent(fields.front());
  zerohop::check_state({fields.begin() + 1, fields.end()});
  return 0;
}
