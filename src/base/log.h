// Structured logging to standard error: an event name and fields, never free-running prose.
//
//   log_info("engine ready", {{"sequences", "8"}, {"context", "8192"}});
//
// Text that came from a client or a model goes through log_text(), which hands it to the installed
// Redactor; the default drops it and keeps its length. Any thread.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zerohop {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };
enum class LogFormat { kText, kJson };

/// How a value stands in a JSON line.
enum class LogValue { kText, kNumber };

struct LogField {
  std::string key;
  std::string value;
  LogValue kind = LogValue::kText;  ///< kNumber: the value is a JSON number, true or false
};

/// Turns client or model text into something that may be logged. Implementations are thread-safe.
class Redactor {
 public:
  virtual ~Redactor() = default;
  virtual std::string redact(std::string_view text) const = 0;
  /// The last look at every value that is written, whoever made it: what must not be there is taken
  /// out, the rest stays.
  virtual std::string scrub(std::string value) const { return value; }
};

struct LogOptions {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kText;
};

/// From now on.
void log_configure(const LogOptions& options);
void log_set_redactor(std::shared_ptr<const Redactor> redactor);

/// The redacted form of client or model text.
std::string log_text(std::string_view text);

/// Whether an event of this level is written: asked before fields are made that cost something.
bool log_enabled(LogLevel level);

void log_event(LogLevel level, std::string_view event, std::vector<LogField> fields);
inline void log_event(LogLevel level, std::string_view event,
                      std::initializer_list<LogField> fields) {
  log_event(level, event, std::vector<LogField>(fields));
}

inline void log_debug(std::string_view event, std::initializer_list<LogField> fields = {}) {
  log_event(LogLevel::kDebug, event, fields);
}
inline void log_info(std::string_view event, std::initializer_list<LogField> fields = {}) {
  log_event(LogLevel::kInfo, event, fields);
}
inline void log_warning(std::string_view event, std::initializer_list<LogField> fields = {}) {
  log_event(LogLevel::kWarning, event, fields);
}
inline void log_error(std::string_view event, std::initializer_list<LogField> fields = {}) {
  log_event(LogLevel::kError, event, fields);
}

}  // namespace zerohop
