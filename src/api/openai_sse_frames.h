// For tests: cuts the bytes of an SSE stream into frames, as strictly as the strictest client.
// Written against the SSE format, not against the writers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zerohop {

/// One frame: its name (empty without an event line) and its data. A comment has neither.
struct OpenAiFrame {
  std::string_view name;
  std::string_view data;
  bool comment = false;
};

class OpenAiFrameCutter {
 public:
  explicit OpenAiFrameCutter(std::string_view stream) : rest_(stream) {}

  bool done() const { return rest_.empty() || !fault_.empty(); }
  const std::string& fault() const { return fault_; }

  OpenAiFrame next() {
    const std::size_t end = rest_.find("\n\n");
    if (end == std::string_view::npos) return fail("a frame is cut off");
    std::string_view lines = rest_.substr(0, end);
    rest_.remove_prefix(end + 2);
    OpenAiFrame frame;
    if (lines.find('\r') != std::string_view::npos) return fail("a stray carriage return");
    if (lines.starts_with(":")) {
      if (lines.find('\n') != std::string_view::npos) return fail("a comment must stand alone");
      frame.comment = true;
      return frame;
    }
    constexpr std::string_view kEvent = "event: ";
    if (lines.starts_with(kEvent)) {
      const std::size_t line_end = lines.find('\n');
      if (line_end == std::string_view::npos) return fail("an event without data");
      frame.name = lines.substr(kEvent.size(), line_end - kEvent.size());
      lines.remove_prefix(line_end + 1);
    }
    constexpr std::string_view kData = "data: ";
    if (!lines.starts_with(kData)) return fail("a frame must have a data line");
    frame.data = lines.substr(kData.size());
    if (frame.data.find('\n') != std::string_view::npos) return fail("data must be one line");
    return frame;
  }

 private:
  OpenAiFrame fail(std::string what) {
    fault_ = std::move(what);
    return {};
  }

  std::string_view rest_;
  std::string fault_;
};

}  // namespace zerohop
